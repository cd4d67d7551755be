// The size of an annotation, whatever its parts are.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../../src/domain/decision.js'
import type { Geo } from '../../../../src/domain/geo.js'
import { flags, type Flags } from '../../../../src/domain/flag.js'
import { reasons } from '../../../../src/domain/reason.js'
import { roles, type Sighting } from '../../../../src/domain/sighting.js'
import type { Verdict } from '../../../../src/domain/verdict.js'
import { clip } from '../../../../src/pipeline/annotate/clip.js'
import { conclude } from '../../../../src/pipeline/annotate/conclude.js'
import { describeIndicator } from '../../../../src/pipeline/annotate/indicator.js'
import { decode } from '../../../../src/pipeline/decode.js'
import { writeAnnotation } from '../../../../src/pipeline/annotate/write-annotation.js'
import { expectValidAnnotation } from '../../../support/annotation-schema.js'
import { createPlaceAnnotation } from '../../../support/place-annotation.js'

const longText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.constantFrom('\u0000'.repeat(500), '\ud800'.repeat(500), '€'.repeat(500), '"'.repeat(500)),
)
const sightings: fc.Arbitrary<Sighting> = fc.record({
  type: fc.constantFrom('ip' as const, 'domain' as const),
  value: fc.stringMatching(/^[a-z0-9.:-]{1,253}$/),
  field: longText,
  role: fc.constantFrom(...roles),
  evidence: fc.constantFrom('field' as const, 'text' as const),
})
const stated: fc.Arbitrary<Flags> = fc.record(Object.fromEntries(flags.map((flag) => [flag, fc.boolean()])), {
  requiredKeys: [],
})
const verdicts: fc.Arbitrary<Verdict> = fc
  .record(
    {
      level: fc.constantFrom('malicious' as const, 'suspicious' as const, 'clean' as const, 'unknown' as const),
      score: fc.double(),
      flags: stated,
      because: longText,
      source: longText,
      feed: longText,
      entry: longText,
      categories: fc.array(longText, { maxLength: 9 }),
      at: fc.double(),
      stale: fc.boolean(),
      reason: fc.constantFrom(...reasons),
    },
    { requiredKeys: ['level', 'flags', 'because'] },
  )
  .map(({ reason, ...verdict }) =>
    verdict.level === 'unknown' ? { ...verdict, reason: reason ?? 'no_verdict' } : verdict,
  )
const decisions: fc.Arbitrary<Decision> = fc.oneof(
  fc.constant({ decision: 'lookup' as const, ask: { type: 'ip' as const, value: '198.51.100.60' } }),
  fc.record({ decision: fc.constantFrom('feeds' as const, 'skip' as const), reason: fc.constantFrom(...reasons) }),
)
const geos: fc.Arbitrary<Geo> = fc.record(
  {
    country: fc.constantFrom('NL', 'DE'),
    as: fc.record({ number: fc.constantFrom(1, 4_294_967_295), name: longText }, { requiredKeys: ['number'] }),
  },
  { requiredKeys: [] },
)
const rows = fc.array(fc.tuple(sightings, decisions, verdicts, geos), { maxLength: 40 })

describe('an annotation', () => {
  it('is at most 4 KB and 16 indicators, counts what it leaves out, and never leaves out the one that decided', () => {
    fc.assert(
      fc.property(rows, fc.boolean(), fc.string({ maxLength: 400 }), (list, truncated, origin) => {
        const annotation = conclude({
          extraction: { action: 'unknown', truncated },
          rows: list.map(([sighting, decision, verdict]) => ({ sighting, decision, verdict })),
          described: list.map(([sighting, decision, verdict, geo]) =>
            describeIndicator({ sighting, decision, verdict }, geo),
          ),
          direction: 'unknown',
          origin: origin === '' ? 'x' : origin,
        })
        expectValidAnnotation(annotation)
        expect(JSON.parse(writeAnnotation(annotation))).toEqual(JSON.parse(JSON.stringify(annotation)))
        expect(annotation.indicators.length + (annotation.indicators_omitted ?? 0)).toBe(list.length)
        const { value, field } = annotation
        if (value !== undefined) expect(annotation.indicators).toContainEqual(expect.objectContaining({ value, field }))
        const key = 'k'.repeat(64)
        const annotate = createPlaceAnnotation({ key, onExisting: 'replace', layers: [] })
        const placed = annotate(decode(Buffer.from(`{"${key}":1}`), { maxEventBytes: 1000 }), annotation)
        expect(placed.length).toBeLessThanOrEqual(4096)
      }),
      { numRuns: 300 },
    )
  })

  it('leaves out those with the least to say first, and keeps the order of the event', () => {
    const sighting = (place: number): Sighting => ({
      type: 'ip',
      value: `198.51.100.${place}`,
      field: 'ips',
      role: 'other',
      evidence: 'field',
    })
    const list = Array.from({ length: 40 }, (_, place) => sighting(place))
    const bad: Verdict = { level: 'malicious', flags: {}, because: 'listed' }
    const left: Verdict = { level: 'unknown', reason: 'allow_listed', flags: {}, because: '' }
    const annotation = conclude({
      extraction: { action: 'unknown', truncated: false },
      rows: list.map((sighting, place) =>
        place === 30 || place === 20
          ? { sighting, decision: { decision: 'lookup', ask: sighting }, verdict: bad }
          : { sighting, decision: { decision: 'skip', reason: 'allow_listed' }, verdict: left },
      ),
      direction: 'unknown',
    })
    expect(annotation.indicators.map(({ value }) => value)).toEqual([
      ...list.slice(0, 14).map(({ value }) => value),
      '198.51.100.20',
      '198.51.100.30',
    ])
    expect(annotation.indicators_omitted).toBe(24)
  })
})

describe('clip', () => {
  it.each([
    ['short', 20, 'short'],
    ['a'.repeat(18), 20, 'a'.repeat(18)],
    ['a'.repeat(19), 20, 'a'.repeat(11) + '…'],
    ['😀'.repeat(9), 20, '😀…'],
  ])('makes %s fit into %i bytes and lets it be seen', (text, bytes, expected) => {
    expect(clip(text, bytes)).toBe(expected)
    expect(Buffer.byteLength(JSON.stringify(clip(text, bytes)))).toBeLessThanOrEqual(bytes)
  })
})
