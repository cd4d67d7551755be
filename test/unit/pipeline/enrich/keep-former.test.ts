// Which former verdicts a replay keeps.
import { describe, expect, it } from 'vitest'
import type { Level } from '../../../../src/domain/finding.js'
import { markOf, type Judged } from '../../../../src/domain/verdict.js'
import type { Reason } from '../../../../src/domain/reason.js'
import { keepFormer } from '../../../../src/pipeline/enrich/keep-former.js'

const judged = (value: string, now: Level | Reason): Judged => {
  const sighting = { type: 'ip', value, field: 'dst_ip', role: 'destination', evidence: 'field' } as const
  const isLevel = now === 'malicious' || now === 'suspicious' || now === 'clean'
  const verdict = isLevel
    ? { level: now, flags: {}, because: '' }
    : { level: 'unknown' as const, reason: now as Reason, flags: {}, because: '' }
  return { sighting, decision: { decision: 'lookup', ask: sighting }, verdict }
}
const one = '198.51.100.1'
const other = '198.51.100.2'
const stands = (former: Level, decidedBy: string | undefined, ...now: (Level | Reason)[]): readonly string[] =>
  keepFormer(
    now.map((each, place) => judged(place === 0 ? one : other, each)),
    { level: former, decidedBy: decidedBy === undefined ? 0 : markOf(decidedBy) },
  ).map(({ verdict: { level, former: isFormer } }) => (isFormer ? `former ${level}` : level))

describe('a former verdict', () => {
  it.each<Reason>(['budget_spent', 'unavailable', 'breaker_open', 'cooling_down', 'not_listed', 'outdated'])(
    'stands where nothing newer is known: %s',
    (reason) => expect(stands('malicious', one, reason)).toEqual(['former malicious']),
  )

  it.each<Level | Reason>(['not_found', 'no_verdict', 'allow_listed', 'own_range', 'clean', 'suspicious', 'malicious'])(
    'gives way to what is newer: %s',
    (now) => expect(stands('malicious', one, now).join()).not.toContain('former'),
  )

  it('that was bad stands for the indicator that it was about, and for no other', () => {
    expect(stands('suspicious', other, 'budget_spent', 'budget_spent')).toEqual(['unknown', 'former suspicious'])
    expect(stands('malicious', other, 'budget_spent', 'allow_listed')).toEqual(['unknown', 'unknown'])
  })

  it('that was clean stands for all of the event', () => {
    expect(stands('clean', undefined, 'budget_spent', 'clean')).toEqual(['former clean', 'clean'])
  })

  it('that was unknown says nothing', () => {
    expect(stands('unknown', one, 'budget_spent')).toEqual(['unknown'])
  })
})
