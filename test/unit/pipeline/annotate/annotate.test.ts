// An event and its judged sightings become bytes: in two forms, and finished text that is used again says what was concluded anew.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseRange } from '../../../../src/domain/address.js'
import { createRangeSet } from '../../../../src/domain/range-set.js'
import type { Extraction, Role, Sighting } from '../../../../src/domain/sighting.js'
import type { Verdict, Judged } from '../../../../src/domain/verdict.js'
import { createAnnotate } from '../../../../src/pipeline/annotate/annotate.js'
import { conclude } from '../../../../src/pipeline/annotate/conclude.js'
import { directionOf, sideOf } from '../../../../src/pipeline/annotate/direction.js'
import { writeAnnotation, writeCompact } from '../../../../src/pipeline/annotate/write-annotation.js'
import { decode } from '../../../../src/pipeline/decode.js'
import { expectValidAnnotation } from '../../../support/annotation-schema.js'

const ownRanges = createRangeSet(['203.0.113.0/24'].map(parseRange).filter((range) => range !== undefined))
const settings = {
  key: 'threatweave',
  onExisting: 'replace',
  layers: [],
  ownRanges,
  detail: 'auto',
  hasId: true,
} as const

const sighting = (value: string, role: Role): Sighting => ({ type: 'ip', value, field: role, role, evidence: 'field' })
const judged = (value: string, role: Role, verdict: Verdict): Judged => ({
  sighting: sighting(value, role),
  decision: { decision: 'lookup', ask: { type: 'ip', value } },
  verdict,
})
const unknown = (reason: Verdict['reason']): Verdict => ({ level: 'unknown', reason: reason!, flags: {}, because: '' })
const clean: Verdict = {
  level: 'clean',
  score: 0,
  flags: { is_malicious: false },
  because: 'nothing bad known',
  source: 'service',
  at: 0,
}
const malicious: Verdict = {
  level: 'malicious',
  score: 90,
  flags: { is_malicious: true, is_vpn: false },
  because: 'reported malicious, é',
  categories: ['malware', 'c2'],
  at: 0,
  stale: true,
}
const suspicious: Verdict = { level: 'suspicious', score: 40, flags: { is_tor: true }, because: 'moderate' }
const out = (rows: readonly Judged[], more: Partial<typeof settings> | object = {}, text = '{"a":1}') => {
  const event = decode(Buffer.from(text), { maxEventBytes: 1000 })
  const extraction: Extraction = { action: 'allowed', truncated: false, sightings: rows.map((row) => row.sighting) }
  return createAnnotate({ ...settings, ...more })(
    { bytes: event.bytes, origin: 'firewall-logs/0/1' },
    event,
    { ...extraction, ...('extraction' in more ? (more.extraction as object) : {}) },
    rows,
  )
}

describe('the compact form', () => {
  const inside = judged('203.0.113.9', 'source', unknown('own_range'))
  const start = (status: string, verdict: string): string =>
    `{"schema_version":1,"status":"${status}","verdict":"${verdict}"`
  const where = ',"direction":"outbound","action":"allowed"'
  const activity = ',"activity":"other"'
  const id = ',"enrichment_id":"firewall-logs/0/1"'
  const cases: readonly (readonly [string, Verdict, object, string])[] = [
    [
      'says of a clean event no more than that',
      clean,
      {},
      `${start('complete', 'clean')},"malicious":false${where}${id}}`,
    ],
    [
      'needs no id where nothing comes twice',
      clean,
      { hasId: false },
      `${start('complete', 'clean')},"malicious":false${where}}`,
    ],
    [
      'names who is a VPN, and states no flag that is false',
      { ...clean, flags: { is_vpn: true, is_tor: false } },
      {},
      `${start('complete', 'clean')},"malicious":false,"type":"ip","value":"198.51.100.7","role":"destination"${where}${activity},"is_vpn":true${id}}`,
    ],
    [
      'says what an operator can act on, and about whom',
      unknown('budget_spent'),
      {},
      `${start('failed', 'unknown')},"value":"198.51.100.7"${where},"reason":"budget_spent"${id}}`,
    ],
    [
      'leaves out an answer that nobody can act on',
      unknown('not_found'),
      {},
      `${start('complete', 'unknown')}${where}${id}}`,
    ],
    [
      'keeps the id of what is pending, however it is delivered',
      unknown('pending'),
      { hasId: false },
      `${start('failed', 'unknown')}${where},"reason":"pending"${id}}`,
    ],
    [
      'names who is accused, where malicious events are compact too',
      malicious,
      { detail: 'compact' },
      `${start('complete', 'malicious')},"malicious":true,"type":"ip","value":"198.51.100.7","role":"destination"${where}${activity},"is_malicious":true,"stale":true${id}}`,
    ],
    [
      'says of a login that a second factor stopped it',
      malicious,
      { detail: 'compact', extraction: { action: 'blocked', activity: 'login', passwordAccepted: true } },
      `${start('complete', 'malicious')},"malicious":true,"type":"ip","value":"198.51.100.7","role":"destination","direction":"outbound","action":"blocked","activity":"login","password_accepted":true,"is_malicious":true,"stale":true${id}}`,
    ],
    [
      'leaves out the activity of an event that nothing accuses',
      clean,
      { extraction: { activity: 'login' } },
      `${start('complete', 'clean')},"malicious":false${where}${id}}`,
    ],
    [
      'says by which replay it was judged',
      clean,
      { replayId: 'monday', hasId: false },
      `${start('complete', 'clean')},"malicious":false${where},"replay_id":"monday"}`,
    ],
    [
      'says that not everything was looked at',
      clean,
      { extraction: { truncated: true } },
      `${start('partial', 'unknown')}${where},"reason":"truncated","truncated":true${id}}`,
    ],
  ]
  it.each(cases)('%s', (_, verdict, more, expected) => {
    const text = out([inside, judged('198.51.100.7', 'destination', verdict)], more).annotationText()
    expect(text).toBe(expected)
    expectValidAnnotation(JSON.parse(text))
  })

  it('adds at most 180 bytes to a clean event of the topic firewall-logs', () => {
    const rows = [inside, judged('198.51.100.7', 'destination', clean)]
    expect(out(rows).bytes().length - '{"a":1}'.length).toBeLessThanOrEqual(180)
  })

  it.each([
    ['malicious', malicious, { categories: ['malware', 'c2'], score: 90 }],
    ['suspicious', suspicious, { score: 40 }],
  ] as const)('is not used for a %s event under auto', (_, verdict, expected) => {
    const one = out([inside, judged('198.51.100.7', 'destination', verdict)])
    expect(JSON.parse(one.annotationText())).toEqual(JSON.parse(JSON.stringify(one.annotation)))
    expect(one.annotation).toMatchObject({ ...expected, indicators: [{}, {}] })
  })

  it('leaves the value whole for alerts', () => {
    const one = out([inside, judged('198.51.100.7', 'destination', clean)])
    expect(one.annotation).toMatchObject({ score: 0, source: 'service', indicators: [{}, { verdict: 'clean' }] })
    expectValidAnnotation(one.annotation)
  })

  it('counts what it replaces', () => {
    const one = out([inside], {}, '{"threatweave":{"verdict":"clean"}}')
    expect(one.bytes().toString()).toBe(
      `{"threatweave":${start('skipped', 'unknown')},"direction":"unknown","action":"allowed","replaced":1${id}}}`,
    )
  })
})

describe('an event that is no JSON object', () => {
  const rows = [
    judged('10.0.0.5', 'source', unknown('private_address')),
    judged('198.51.100.7', 'destination', clean),
    judged('198.51.100.8', 'destination', clean),
    judged('203.0.113.1', 'observer', unknown('observer')),
  ]
  it.each(['auto', 'full', 'compact'] as const)('states its endpoints in detail %s', (detail) => {
    const more = { detail, extraction: { sourcePort: 51515, destinationPort: 0 } }
    expect(JSON.parse(out(rows, more, 'a line').bytes().toString())).toMatchObject({
      message: 'a line',
      source: { ip: '10.0.0.5', port: 51515 },
      destination: { ip: '198.51.100.7' },
      threatweave: { verdict: 'clean', read_as: 'text' },
    })
  })

  it('says nothing of endpoints that it does not show', () => {
    expect(JSON.parse(out([rows[3]!], {}, 'a line').bytes().toString())).not.toHaveProperty('source')
  })
})

describe('an event that we annotated before', () => {
  const rows = [judged('198.51.100.7', 'destination', clean)]
  it.each(['auto', 'full', 'compact'] as const)(
    'loses the former annotation in detail %s, and nothing else',
    (detail) => {
      const former = out([judged('198.51.100.7', 'destination', malicious)], { detail })
        .bytes()
        .toString()
      expect(former).toContain('malicious')
      expect(out(rows, { isAnnotatedInput: true }, former).bytes().toString()).toBe(out(rows).bytes().toString())
    },
  )
})

describe('finished text', () => {
  /** A few sightings that come again and again, as the sighting cache hands them out. */
  const again = (['source', 'destination', 'other'] as const).flatMap((role) =>
    ['198.51.100.7', '203.0.113.9', '10.0.0.5'].flatMap((value) =>
      [
        clean,
        malicious,
        suspicious,
        unknown('pending'),
        unknown('not_found'),
        { level: 'clean', flags: {}, because: 'former verdict', former: true } as const,
        { ...clean, flags: { is_vpn: true } },
      ].map((verdict) => judged(value, role, verdict)),
    ),
  )
  const inputs = fc.record({
    rows: fc.array(fc.constantFrom(...again), { maxLength: 20 }),
    action: fc.constantFrom('allowed' as const, 'blocked' as const, 'unknown' as const),
    truncated: fc.boolean(),
    format: fc.constantFrom('json', 'squid', 'cisco-asa'),
    text: fc.constantFrom('{"a":1}', '{}', 'a line', '[1]', '{"threatweave":1}'),
    origin: fc.constantFrom('firewall/0/1', 'a'.repeat(300), 'file with "quotes":7'),
  })
  it.each([
    ['auto', true, undefined],
    ['auto', false, 'week-of-monday'],
    ['full', false, undefined],
    ['full', true, 'week-of-monday'],
    ['compact', false, undefined],
    ['compact', true, 'week-of-monday'],
  ] as const)('says what is concluded, in detail %s, with ids %s, in replay %s', (detail, hasId, replayId) => {
    const annotate = createAnnotate({ ...settings, detail, hasId, replayId })
    fc.assert(
      fc.property(inputs, ({ rows, action, truncated, format, text, origin }) => {
        const event = decode(Buffer.from(text), { maxEventBytes: 1000 })
        const sightings = rows.map((row) => row.sighting)
        const direction = directionOf(sightings.map((one) => ({ role: one.role, side: sideOf(one, ownRanges) })))
        const extraction = { action, truncated, sightings, format }
        const expected = conclude({ extraction, rows, direction, origin, reading: event.reading, replayId })
        const untouched = { ...expected }
        if (text.includes('threatweave')) {
          expected.replaced = 1
          untouched.forged = 1
        }
        const isBad = expected.verdict === 'malicious' || expected.verdict === 'suspicious'
        const isFull = detail === 'full' || (detail === 'auto' && isBad)
        const isPending = rows.some(({ verdict }) => verdict.reason === 'pending')
        const compact = writeCompact(expected, hasId || isPending)
        const written = isFull ? writeAnnotation(expected) : compact
        const one = annotate({ bytes: event.bytes, origin }, event, extraction, rows)
        // Beside the event a forged annotation is still in it.
        const shortened = writeCompact(untouched, hasId || isPending)
        expect(one.annotationText()).toBe(isFull ? writeAnnotation(untouched) : shortened)
        expect(one.annotationText('compact')).toBe(shortened)
        expect(one.annotation).toEqual(expected)
        expect(one.annotation.format).toBe(format === 'json' ? undefined : format)
        expect(compact).not.toContain('"format"')
        expect([one.status, one.verdict]).toEqual([expected.status, expected.verdict])
        expect(one.bytes().toString()).toContain(`"threatweave":${written}`)
        expect(one.bytes('compact').toString()).toContain(`"threatweave":${compact}`)
        expectValidAnnotation(JSON.parse(written))
      }),
      { numRuns: 200 },
    )
  })
})
