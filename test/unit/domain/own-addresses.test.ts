// Own public addresses, as address translation in a log shows them.
import { describe, expect, it } from 'vitest'
import { createOwnAddresses } from '../../../src/domain/own-addresses.js'
import { openReader } from '../../../src/app/open-app.js'
import { load } from '../../../src/config/load.js'

const loaded = load({ values: {}, env: {}, readFile: () => '' })
if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
const reader = openReader(loaded.config)
if ('problems' in reader) throw new Error(JSON.stringify(reader.problems))

const seenIn = (...lines: readonly string[]) => {
  const own = createOwnAddresses()
  const seen = lines.flatMap((line) => own.see(reader.extract(reader.decode(Buffer.from(line)))) ?? [])
  return { seen, ranges: own.ranges() }
}

const outgoing = (nat: string, source = '10.0.0.5'): string =>
  `type=traffic srcip=${source} srcport=51234 dstip=203.0.113.9 dstport=443 action=accept transip=${nat} transport=51234`

describe('own addresses', () => {
  it('are what the sources of outgoing connections are translated to', () => {
    expect(seenIn(outgoing('198.51.100.7')).seen).toEqual(['198.51.100.7'])
  })

  it('are the destinations that are translated to private addresses', () => {
    const line = 'src=203.0.113.9 dst=198.51.100.10 dpt=443 natdst=10.0.0.8 action=allow'
    expect(seenIn(line).seen).toEqual(['198.51.100.10'])
  })

  it('are the mapped addresses of connections that come in, as ASA writes them', () => {
    const line =
      '%ASA-6-302013: Built inbound TCP connection 1 for outside:203.0.113.9/51234 (203.0.113.9/51234) to dmz:10.0.0.8/443 (198.51.100.10/443)'
    expect(seenIn(line).seen).toEqual(['198.51.100.10'])
  })

  it('are seen once each', () => {
    expect(seenIn(outgoing('198.51.100.7'), outgoing('198.51.100.7')).seen).toEqual(['198.51.100.7'])
  })

  it('are not the translated destination of an outgoing connection, nor an end that was not translated', () => {
    expect(seenIn('src=10.0.0.5 dst=203.0.113.9 natdst=203.0.113.53 action=allow').seen).toEqual([])
    expect(seenIn('src=10.0.0.5 dst=203.0.113.9 natsrc=10.0.0.5 natdst=203.0.113.9 action=allow').seen).toEqual([])
    expect(seenIn('src=192.0.2.9 dst=203.0.113.9 natsrc=198.51.100.7 action=allow').seen).toEqual([])
  })

  it('are suggested as the smallest range of neighbours, and alone otherwise', () => {
    const lines = ['198.51.100.9', '198.51.100.12', '192.0.2.1'].map((nat) => outgoing(nat))
    expect(seenIn(...lines).ranges).toEqual(['198.51.100.8/29', '192.0.2.1'])
  })

  it('are bounded, however many a log names', () => {
    const lines = Array.from({ length: 300 }, (_, n) => outgoing(`198.51.${n >> 8}.${n & 255}`))
    expect(seenIn(...lines).seen).toHaveLength(64)
  })
})
