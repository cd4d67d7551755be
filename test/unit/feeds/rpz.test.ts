import { describe, expect, it } from 'vitest'
import { parsed } from '../../support/feed-files.js'

describe('a response policy zone', () => {
  it('lists the names and addresses that it blocks, and not those it lets pass', () => {
    const zone = `$TTL 30
@ SOA rpz.example.org. hostmaster.example.org. (
  2026111501 ; serial
  300 1800 604800 30 )
  NS localhost.
; rules
bad.example.com CNAME .
*.bad.example.com 60 IN CNAME . ; malware
nodata.example.com CNAME *.
dropped.example.com CNAME rpz-drop.
walled.example.com A 192.0.2.1
ok.example.com CNAME rpz-passthru.
self.example.com CNAME self.example.com.
24.0.100.51.198.rpz-ip CNAME .
48.zz.1.db8.2001.rpz-ip CNAME .
32.7.2.0.192.rpz-client-ip CNAME .
ns.example.com.rpz-nsdname CNAME .
`
    expect(parsed(zone)).toEqual({
      added: [
        ['bad.example.com', 7],
        ['*.bad.example.com', 8],
        ['nodata.example.com', 9],
        ['dropped.example.com', 10],
        ['walled.example.com', 11],
        ['198.51.100.0/24', 14],
        ['2001:db8:1::/48', 15],
      ],
      skipped: [
        [12, 'harmless'],
        [13, 'harmless'],
        [16, 'not_looked_up'],
        [17, 'not_looked_up'],
      ],
    })
  })

  it('may write its names in full, below the name of the zone', () => {
    const zone =
      'rpz.example.org. 300 IN SOA localhost. root.example.org. 1 2 3 4 5\nbad.example.com.rpz.example.org. 300 IN CNAME .\n$ORIGIN other.example.org.\nbad.example.net CNAME .\nnonsense\n'
    expect(parsed(zone)).toEqual({
      added: [
        ['bad.example.com', 2],
        ['bad.example.net', 4],
      ],
      skipped: [5],
    })
  })
})
