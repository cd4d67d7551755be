// An event and its judged sightings become bytes: finished text that is used again says what was concluded anew.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange } from '../../../src/domain/address.js'
import { createRangeSet } from '../../../src/domain/range-set.js'
import type { Extraction, Role, Sighting } from '../../../src/domain/sighting.js'
import type { Verdict } from '../../../src/domain/verdict.js'
import { createAnnotate } from '../../../src/pipeline/annotate.js'
import { conclude } from '../../../src/pipeline/annotate/conclude.js'
import { directionOf, sideOf } from '../../../src/pipeline/annotate/direction.js'
import { writeAnnotation } from '../../../src/pipeline/annotate/write-annotation.js'
import { decode } from '../../../src/pipeline/decode.js'
import type { Judged } from '../../../src/pipeline/judged.js'

const ownRanges = createRangeSet(['203.0.113.0/24'].map(parseRange).filter((range) => range !== undefined))
const settings = { key: 'threatweave', onExisting: 'replace', layers: [], ownRanges } as const

const sighting = (value: string, role: Role): Sighting => ({ type: 'ip', value, field: role, role, evidence: 'field' })
const verdicts: readonly Verdict[] = [
  { level: 'clean', score: 0, flags: { is_malicious: false }, because: 'nothing bad known', source: 'service', at: 0 },
  {
    level: 'malicious',
    score: 90,
    flags: { is_malicious: true },
    because: 'reported malicious, é',
    at: 0,
    stale: true,
  },
  { level: 'suspicious', score: 40, flags: { is_tor: true, is_vpn: false }, because: 'moderate' },
  { level: 'unknown', reason: 'pending', flags: {}, because: 'pending' },
  { level: 'unknown', reason: 'not_found', flags: {}, because: 'not found' },
]
/** A few sightings that come again and again, as the sighting cache hands them out. */
const judgedOnes: readonly Judged[] = (['source', 'destination', 'other'] as const).flatMap((role) =>
  ['198.51.100.7', '203.0.113.9', '10.0.0.5'].flatMap((value) =>
    verdicts.map((verdict): Judged => ({
      sighting: sighting(value, role),
      decision: { decision: 'lookup', ask: { type: 'ip', value } },
      verdict,
    })),
  ),
)

describe('annotate', () => {
  const inputs = fc.record({
    rows: fc.array(fc.constantFrom(...judgedOnes), { maxLength: 20 }),
    action: fc.constantFrom('allowed' as const, 'blocked' as const, 'unknown' as const),
    truncated: fc.boolean(),
    bytes: fc.constantFrom('{"a":1}', '{}', 'a line', '[1]', '{"threatweave":1}'),
    origin: fc.constantFrom('firewall/0/1', 'a'.repeat(300), 'file with "quotes":7'),
  })
  it.each([undefined, 'week-of-monday'])(
    'writes what is concluded, however often it is met, in replay %s',
    (replayId) => {
      const annotate = createAnnotate({ ...settings, replayId })
      fc.assert(
        fc.property(inputs, ({ rows, action, truncated, bytes, origin }) => {
          const event = decode(Buffer.from(bytes), { maxEventBytes: 1000 })
          const extraction: Extraction = { action, truncated, sightings: rows.map((row) => row.sighting) }
          const direction = directionOf(
            extraction.sightings.map((one) => ({ role: one.role, side: sideOf(one, ownRanges) })),
          )
          const expected = conclude({ extraction, rows, direction, origin, reading: event.reading, replayId })
          if (bytes.includes('threatweave')) expected.replaced = 1
          const out = annotate({ bytes: event.bytes, origin }, event, extraction, rows)
          expect(out.annotationText()).toBe(writeAnnotation(expected))
          expect(out.annotation).toEqual(expected)
          expect([out.status, out.verdict]).toEqual([expected.status, expected.verdict])
          expect(out.bytes().toString()).toContain(`"threatweave":${writeAnnotation(expected)}`)
          const { indicators, ...flat } = JSON.parse(out.annotationText()) as Record<string, unknown>
          expect(Array.isArray(indicators)).toBe(true)
          expect(JSON.parse(out.annotationText('flat'))).toEqual(flat)
          expect(JSON.parse(out.bytes('flat').toString())).toMatchObject({ threatweave: flat })
        }),
        { numRuns: 500 },
      )
    },
  )
})
