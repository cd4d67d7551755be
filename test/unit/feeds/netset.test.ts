import { describe, expect, it } from 'vitest'
import { parseNetset } from '../../../src/feeds/netset.js'
import { parsed } from '../../support/feed-files.js'

describe('parseNetset', () => {
  it('takes addresses and ranges', () => {
    expect(parsed(parseNetset, '# level 1\n198.51.100.0/24\n203.0.113.9\n2001:db8:1::/48')).toEqual({
      added: [
        ['198.51.100.0/24', 2],
        ['203.0.113.9', 3],
        ['2001:db8:1::/48', 4],
      ],
      junk: [],
    })
  })

  it('takes what ipset saves', () => {
    const saved =
      'create bad hash:net family inet hashsize 1024 maxelem 65536\nadd bad 198.51.100.0/24\nadd bad 203.0.113.9 timeout 3600\nCOMMIT'
    expect(parsed(parseNetset, saved)).toEqual({
      added: [
        ['198.51.100.0/24', 2],
        ['203.0.113.9', 3],
      ],
      junk: [],
    })
  })

  it('counts names and everything else as junk', () => {
    expect(parsed(parseNetset, 'bad.example.com\nadd bad\n198.51.100.7 x\n198.51.100.0/33').junk).toEqual([1, 2, 3, 4])
  })
})
