// Direction: which way an event went, from the roles of its addresses.
import { describe, expect, it } from 'vitest'
import { parseRange } from '../../../../src/domain/address.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import type { Role, Sighting } from '../../../../src/domain/sighting.js'
import { directionOf, sideOf } from '../../../../src/pipeline/annotate/direction.js'

const own = createRangeSet(
  ['198.51.100.0/24', '2001:db8:1::/48'].map(parseRange).filter((range) => range !== undefined),
)
const see = (role: Role, value: string): Sighting => ({
  type: /^[\d.]+$|:/.test(value) ? 'ip' : 'domain',
  value,
  field: role,
  role,
  evidence: 'field',
})

const directionSeen = (sightings: readonly Sighting[]) =>
  directionOf(sightings.map((one) => ({ role: one.role, side: sideOf(one, own) })))

describe('directionOf', () => {
  it.each([
    ['203.0.113.5', '10.0.0.5', 'inbound'],
    ['203.0.113.5', '198.51.100.7', 'inbound'],
    ['2001:db8:2::1', '2001:db8:1::1', 'inbound'],
    ['10.0.0.5', '203.0.113.5', 'outbound'],
    ['198.51.100.7', '203.0.113.5', 'outbound'],
    ['10.0.0.5', '192.168.1.1', 'internal'],
    ['10.0.0.5', '224.0.0.251', 'internal'],
    ['0.0.0.0', '255.255.255.255', 'internal'],
    ['fe80::1', 'ff02::fb', 'internal'],
    ['203.0.113.5', '192.0.2.9', 'external'],
  ])('from %s to %s is %s', (from, to, expected) => {
    expect(directionSeen([see('source', from), see('destination', to)])).toBe(expected)
    expect(directionSeen([see('destination', to), see('source', from)])).toBe(expected)
  })

  it.each<[string, Sighting[]]>([
    ['nothing was seen', []],
    ['only a source was seen', [see('source', '10.0.0.5')]],
    ['only a destination was seen', [see('destination', '203.0.113.5')]],
    ['the destination is only a name', [see('source', '10.0.0.5'), see('destination', 'www.example.com')]],
    ['addresses play other roles', [see('observer', '10.0.0.1'), see('translated', '203.0.113.5')]],
  ])('is unknown when %s', (_, sightings) => {
    expect(directionSeen(sightings)).toBe('unknown')
  })

  it('goes by addresses where a name and an address share a role, and by the first of several', () => {
    const sightings = [
      see('destination', 'www.example.com'),
      see('destination', '203.0.113.5'),
      see('destination', '10.0.0.9'),
      see('source', '10.0.0.5'),
    ]
    expect(directionSeen(sightings)).toBe('outbound')
  })
})
