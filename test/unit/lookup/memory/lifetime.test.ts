import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { noFacts, type Finding, type Level } from '../../../../src/domain/finding.js'
import { keyOf } from '../../../../src/domain/indicator.js'
import { createLifetimeOf, isRememberable } from '../../../../src/lookup/memory/lifetime.js'
import { indicator, known, memorySettings, unknown } from '../../../support/lookup.js'

const hour = 3_600_000
const at = 1_000_000_000
const lifetime = (level: Level, finding: Finding = known(at), chance = 0, jitter = 0) =>
  createLifetimeOf(
    { ...memorySettings, jitter },
    keyOf,
    () => level,
    () => chance,
  )(indicator(1), finding)

describe('lifetime', () => {
  it.each<[Level, number, number]>([
    ['malicious', 24, 24 + 168],
    ['suspicious', 12, 12 + 168],
    ['clean', 12, 12],
    ['unknown', 6, 6],
  ])('of %s facts is %i hours from when they were obtained, served until %i', (level, fresh, served) => {
    expect(lifetime(level)).toEqual({
      refreshAt: at + fresh * 0.9 * hour,
      freshUntil: at + fresh * hour,
      servedUntil: at + served * hour,
    })
  })

  it('of an answer without facts is the shortest and has no time past it', () => {
    const { freshUntil, servedUntil } = lifetime('malicious', unknown('not_found', { at }))
    expect([freshUntil, servedUntil]).toEqual([at + hour, at + hour])
  })

  it('is shortened by the jitter and never lengthened', () => {
    expect(lifetime('clean', known(at), 0.5, 0.2).freshUntil).toBe(at + 12 * hour * 0.9)
    fc.assert(
      fc.property(fc.string(), (key) => {
        const fresh = (): number => shortened(indicator(1), known(at)).freshUntil
        const shortened = createLifetimeOf(
          { ...memorySettings, jitter: 0.2 },
          () => key,
          () => 'clean',
        )
        return fresh() > at + 12 * hour * 0.8 && fresh() <= at + 12 * hour && fresh() === fresh()
      }),
    )
  })

  it.each<[Finding, boolean]>([
    [known(at, noFacts), true],
    [unknown('not_found', { at }), true],
    [unknown('not_found'), false],
    [unknown('unavailable', { at }), false],
    [unknown('private_address', { at }), false],
  ])('is given to answers alone: %j %s', (finding, expected) => {
    expect(isRememberable(finding)).toBe(expected)
  })
})
