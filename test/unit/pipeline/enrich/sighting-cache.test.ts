// What the sighting cache reuses, and when it judges again.
import { describe, expect, it } from 'vitest'
import type { Decision } from '../../../../src/domain/decision.js'
import { unknownOf, type Known } from '../../../../src/domain/finding.js'
import type { Sighting } from '../../../../src/domain/sighting.js'
import type { Verdict } from '../../../../src/domain/verdict.js'
import { createSightingCache } from '../../../../src/pipeline/enrich/sighting-cache.js'

const sighting = (more: Partial<Sighting> = {}): Sighting => ({
  type: 'ip',
  value: '198.51.100.7',
  field: 'src_ip',
  role: 'source',
  evidence: 'field',
  ...more,
})
const finding = (): Known => ({ status: 'known', facts: { flags: {}, categories: [] }, source: 'service', at: 0 })

const open = (verdictAt: (now: number) => Partial<Verdict> = () => ({})) => {
  const asked = { decided: 0, judged: 0 }
  const cache = createSightingCache(
    ({ type, value }): Decision => {
      asked.decided++
      return { decision: 'lookup', ask: { type, value } }
    },
    (_, { role }, now): Verdict => {
      asked.judged++
      return { level: role === 'source' ? 'clean' : 'suspicious', flags: {}, because: 'said so', ...verdictAt(now) }
    },
  )
  return { asked, ...cache }
}

describe('a sighting that is met again', () => {
  it('is decided once and judged once for one finding, and stands in the same row', () => {
    const { asked, of, judge } = open()
    const found = finding()
    const row = judge(of(sighting()), found, 0)
    for (let now = 1; now < 100; now++) expect(judge(of(sighting()), found, now)).toBe(row)
    expect(asked).toEqual({ decided: 1, judged: 1 })
    expect(row).toMatchObject({ sighting: sighting(), verdict: { level: 'clean' } })
  })

  it.each([
    ['another role', { role: 'destination' }],
    ['another field', { field: 'dest_ip' }],
    ['other evidence', { evidence: 'text' }],
    ['another type', { type: 'domain' }],
  ] as const)('in %s is another', (_, other) => {
    const { of } = open()
    expect(of(sighting(other))).not.toBe(of(sighting()))
    expect(of(sighting(other)).sighting).toEqual(sighting(other))
    expect(of(sighting())).toBe(of(sighting()))
  })

  it('returns the same object while the same answer is awaited, and another one for another answer or reason', () => {
    const { of, judge, judgeUnanswered } = open(() => ({ level: 'unknown', reason: 'pending' }))
    const [awaited, other] = [new Promise<Known>(() => undefined), new Promise<Known>(() => undefined)]
    const pending = unknownOf('pending')
    const row = judgeUnanswered(of(sighting()), pending, awaited, 0)
    expect(row).toMatchObject({ sighting: sighting(), verdict: { reason: 'pending' }, late: awaited })
    expect(judgeUnanswered(of(sighting()), pending, awaited, 1)).toBe(row)
    expect(judgeUnanswered(of(sighting()), pending, other, 1)).toMatchObject({ late: other })
    expect(judgeUnanswered(of(sighting()), unknownOf('deadline'), other, 1)).not.toBe(row)
    expect(judge(of(sighting()), finding(), 2).late).toBeUndefined()
    expect(of(sighting()).unanswered).toBeUndefined()
  })

  it('is judged anew for another finding', () => {
    const { asked, of, judge } = open()
    const first = judge(of(sighting()), finding(), 0)
    expect(judge(of(sighting()), finding(), 0)).not.toBe(first)
    expect(judge(of(sighting()), unknownOf('not_found'), 0)).not.toBe(first)
    expect(asked.judged).toBe(3)
  })

  it('is judged anew when its verdict no longer holds', () => {
    const { of, judge } = open((now) => (now < 50 ? { level: 'malicious', until: 50 } : { level: 'suspicious' }))
    const found = finding()
    expect(judge(of(sighting()), found, 0).verdict.level).toBe('malicious')
    expect(judge(of(sighting()), found, 49).verdict.level).toBe('malicious')
    expect(judge(of(sighting()), found, 50).verdict.level).toBe('suspicious')
  })

  it('is forgotten after many others, and then decided again', () => {
    const { asked, of } = open()
    of(sighting())
    for (let n = 0; n < 200_000; n++) of(sighting({ value: `192.0.${n >> 8}.${n & 255}` }))
    asked.decided = 0
    of(sighting())
    expect(asked.decided).toBe(1)
  })

  it('in more fields than are kept of one value is right all the same', () => {
    const { of } = open()
    for (let round = 0; round < 3; round++)
      for (let n = 0; n < 20; n++) expect(of(sighting({ field: `f${n}` })).sighting.field).toBe(`f${n}`)
  })
})

it('decides anew when a decision held only until a moment that is past', () => {
  const decisions: Decision[] = [
    { decision: 'skip', reason: 'allow_listed', until: 100 },
    { decision: 'lookup', ask: { type: 'ip', value: '198.51.100.7' } },
  ]
  const cache = createSightingCache(
    () => decisions.shift() ?? { decision: 'skip', reason: 'bad_input' },
    (): Verdict => ({ level: 'unknown', flags: {}, because: '' }),
  )
  const decided = [50, 99, 100, 101].map((now) => cache.of(sighting(), now).decision.decision)
  expect(decided).toEqual(['skip', 'skip', 'lookup', 'lookup'])
})
