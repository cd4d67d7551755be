// What an event's indicators and verdicts amount to, case by case.
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../../src/domain/decision.js'
import { reasons } from '../../../../src/domain/reason.js'
import type { Extraction, Sighting } from '../../../../src/domain/sighting.js'
import type { Verdict } from '../../../../src/domain/verdict.js'
import { conclude } from '../../../../src/pipeline/annotate/conclude.js'
import { writeAnnotation } from '../../../../src/pipeline/annotate/write-annotation.js'
import { expectValidAnnotation } from '../../../support/annotation-schema.js'

const at = Date.parse('2026-11-15T08:00:00.000Z')
const source: Sighting = { type: 'ip', value: '198.51.100.60', field: 'source.ip', role: 'source', evidence: 'field' }
const destination: Sighting = {
  type: 'ip',
  value: '203.0.113.9',
  field: 'destination.ip',
  role: 'destination',
  evidence: 'field',
}
const inside: Sighting = {
  type: 'ip',
  value: '10.0.0.5',
  field: 'destination.ip',
  role: 'destination',
  evidence: 'field',
}
const name: Sighting = { type: 'domain', value: 'bad.example', field: 'message', role: 'other', evidence: 'text' }

const ask = (sighting: Sighting): Decision => ({
  decision: 'lookup',
  ask: { type: sighting.type, value: sighting.value },
})
const skip: Decision = { decision: 'skip', reason: 'private_address' }
const feedsOnly: Decision = { decision: 'feeds', reason: 'feeds_only' }

const malicious: Verdict = {
  level: 'malicious',
  score: 90,
  flags: { is_malicious: true, can_remote_access: true, is_vpn: false },
  because: 'reported malicious, category malware, 1 scanning record',
  source: 'service',
  at,
}
const suspicious: Verdict = {
  level: 'suspicious',
  score: 40,
  flags: {},
  because: 'moderate inbound',
  source: 'service',
  at,
}
const clean: Verdict = {
  level: 'clean',
  score: 0,
  flags: { is_malicious: false },
  because: 'nothing bad known',
  source: 'service',
  at,
}
const unknown = (reason: Verdict['reason']): Verdict => ({ level: 'unknown', reason: reason!, flags: {}, because: '' })

type Row = readonly [Sighting, Decision, Verdict]
const concluded = (rows: readonly Row[], more: Partial<Extraction> = {}, origin?: string) => {
  const annotation = conclude({
    extraction: { action: 'allowed', truncated: false, ...more },
    rows: rows.map(([sighting, decision, verdict]) => ({ sighting, decision, verdict })),
    direction: 'inbound',
    ...(origin === undefined ? {} : { origin }),
  })
  expectValidAnnotation(annotation)
  expect(JSON.parse(writeAnnotation(annotation))).toEqual(annotation)
  return annotation
}

describe('conclude', () => {
  it('says everything about the indicator that decided, and lists all of them', () => {
    const annotation = concluded(
      [
        [source, ask(source), malicious],
        [inside, skip, unknown('private_address')],
      ],
      {},
      'firewall/3/1042',
    )
    expect(annotation).toEqual({
      schema_version: 1,
      status: 'complete',
      verdict: 'malicious',
      malicious: true,
      score: 90,
      type: 'ip',
      value: '198.51.100.60',
      field: 'source.ip',
      role: 'source',
      direction: 'inbound',
      action: 'allowed',
      activity: 'other',
      is_malicious: true,
      can_remote_access: true,
      is_vpn: false,
      summary: '198.51.100.60 is malicious: reported malicious, category malware, 1 scanning record',
      source: 'service',
      verdict_time: '2026-11-15T08:00:00.000Z',
      stale: false,
      enrichment_id: 'firewall/3/1042',
      indicators: [
        {
          type: 'ip',
          value: '198.51.100.60',
          field: 'source.ip',
          role: 'source',
          decision: 'lookup',
          verdict: 'malicious',
          score: 90,
          flags: ['is_malicious', 'can_remote_access'],
          source: 'service',
          at: '2026-11-15T08:00:00.000Z',
          stale: false,
        },
        {
          type: 'ip',
          value: '10.0.0.5',
          field: 'destination.ip',
          role: 'destination',
          decision: 'skip',
          verdict: 'unknown',
          reason: 'private_address',
        },
      ],
    })
  })

  const table: readonly (readonly [string, readonly Row[], Partial<Extraction>, object])[] = [
    [
      'is clean when everything asked is known clean',
      [
        [source, ask(source), clean],
        [inside, skip, unknown('private_address')],
      ],
      {},
      { status: 'complete', verdict: 'clean', malicious: false, value: '198.51.100.60' },
    ],
    [
      'is not clean when one answer is missing, and says which',
      [
        [source, ask(source), clean],
        [destination, ask(destination), unknown('timeout')],
      ],
      {},
      { status: 'partial', verdict: 'unknown', reason: 'timeout', value: '203.0.113.9' },
    ],
    [
      'is not clean when one indicator was not found',
      [
        [source, ask(source), clean],
        [destination, ask(destination), unknown('not_found')],
      ],
      {},
      { status: 'complete', verdict: 'unknown', reason: 'not_found', value: '203.0.113.9' },
    ],
    [
      'is not clean when the good news is past its life',
      [[source, ask(source), { ...clean, stale: true }]],
      {},
      { status: 'complete', verdict: 'unknown', reason: 'outdated' },
    ],
    [
      'is not clean when indicators were cut off',
      [[source, ask(source), clean]],
      { truncated: true },
      {
        status: 'partial',
        verdict: 'unknown',
        reason: 'truncated',
        truncated: true,
        summary: 'not every indicator was checked',
      },
    ],
    [
      'is not skipped when indicators were cut off',
      [[inside, skip, unknown('private_address')]],
      { truncated: true },
      { status: 'partial', verdict: 'unknown', truncated: true },
    ],
    [
      'stays malicious when the news is stale, and says so',
      [[source, ask(source), { ...malicious, stale: true }]],
      {},
      { status: 'complete', verdict: 'malicious', malicious: true, stale: true },
    ],
    [
      'stays malicious when another answer is missing',
      [
        [source, ask(source), unknown('budget_spent')],
        [destination, ask(destination), malicious],
      ],
      {},
      { status: 'partial', verdict: 'malicious', value: '203.0.113.9' },
    ],
    [
      'has failed when no answer came',
      [[source, ask(source), unknown('unavailable')]],
      {},
      {
        status: 'failed',
        verdict: 'unknown',
        reason: 'unavailable',
        summary: '198.51.100.60 is unknown: unavailable',
      },
    ],
    [
      'is skipped when there is nothing to ask',
      [[inside, skip, unknown('private_address')]],
      {},
      {
        status: 'skipped',
        verdict: 'unknown',
        reason: 'private_address',
        summary: '10.0.0.5 was not looked up: private address',
      },
    ],
    [
      'finds nothing in an empty event',
      [],
      {},
      { status: 'skipped', verdict: 'unknown', summary: 'no indicators found' },
    ],
    [
      'lets a feed accuse a name that is not asked about',
      [[name, feedsOnly, { ...malicious, source: 'feed:own', feed: 'own', entry: 'bad.example' }]],
      {},
      { status: 'complete', verdict: 'malicious', source: 'feed:own', feed: 'own', entry: 'bad.example' },
    ],
    [
      'lets no name that a feed does not list stand in the way of clean',
      [
        [source, ask(source), clean],
        [name, feedsOnly, unknown('not_listed')],
      ],
      {},
      { status: 'complete', verdict: 'clean', malicious: false },
    ],
    [
      'lets the worse level decide, whatever the scores',
      [
        [source, ask(source), { ...suspicious, score: 99 }],
        [destination, ask(destination), { ...malicious, score: 1 }],
      ],
      {},
      { verdict: 'malicious', value: '203.0.113.9', score: 1 },
    ],
    [
      'lets the higher score decide between equal levels',
      [
        [source, ask(source), malicious],
        [destination, ask(destination), { ...malicious, score: 95 }],
      ],
      {},
      { value: '203.0.113.9', score: 95 },
    ],
    [
      'lets the role decide between equal scores',
      [
        [destination, ask(destination), malicious],
        [source, ask(source), malicious],
      ],
      {},
      { value: '198.51.100.60', role: 'source' },
    ],
    [
      'lets the place decide between equal roles',
      [
        [source, ask(source), malicious],
        [{ ...source, value: '198.51.100.61' }, ask(source), malicious],
      ],
      {},
      { value: '198.51.100.60' },
    ],
  ]
  it.each(table)('%s', (_, rows, more, expected) => {
    expect(concluded(rows, more)).toMatchObject(expected)
  })

  it.each([
    ['malicious', true],
    ['clean', false],
    ['suspicious', undefined],
    ['unknown', undefined],
  ] as const)('says malicious %s as %s', (level, expected) => {
    const verdict: Verdict = level === 'unknown' ? unknown('no_verdict') : { ...suspicious, level }
    const annotation = concluded([[source, ask(source), verdict]])
    expect(annotation.malicious).toBe(expected)
    expect('malicious' in annotation).toBe(expected !== undefined)
  })

  it.each(reasons.map((reason) => [reason]))(
    'never calls an event clean when an indicator asked is unknown: %s',
    (reason) => {
      expect(concluded([[destination, ask(destination), unknown(reason)]])).toMatchObject({
        verdict: 'unknown',
        reason,
      })
    },
  )

  it('leaves out a score and a time that are no numbers', () => {
    const annotation = concluded([
      [source, ask(source), { ...malicious, score: Number.NaN, at: Number.POSITIVE_INFINITY }],
    ])
    expect(annotation).not.toHaveProperty('score')
    expect(annotation).not.toHaveProperty('verdict_time')
  })

  it('gives an origin too long to read a short name that is always the same', () => {
    const ids = ['a', 'b', 'a'].map((letter) => concluded([], {}, letter.repeat(300)).enrichment_id)
    expect(ids[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(ids[0]).toBe(ids[2])
    expect(ids[0]).not.toBe(ids[1])
  })
})
