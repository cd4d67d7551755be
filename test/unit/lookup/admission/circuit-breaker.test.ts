import { describe, expect, it } from 'vitest'
import type { Unknown } from '../../../../src/domain/finding.js'
import { reasons, type Reason } from '../../../../src/domain/reason.js'
import { createCircuitBreaker } from '../../../../src/lookup/admission/circuit-breaker.js'
import { admissionSettings, unknown } from '../../../support/lookup.js'

/** Fails `times` calls at time 0, one after the other. */
const after = (failure: Unknown, times = 1) => {
  const breaker = createCircuitBreaker(admissionSettings)
  for (let nth = 0; nth < times; nth++) breaker.record(failure, breaker.tryToPass(0), 0)
  return breaker
}

describe('the circuit breaker', () => {
  it('is open to begin with', () => {
    expect(createCircuitBreaker(admissionSettings).check(0)).toEqual({ pass: 'go' })
  })

  it.each<[Reason, string]>([
    ['busy', 'paused'],
    ['throttled', 'paused'],
    ['bad_key', 'paused'],
    ['no_credit', 'paused'],
  ])('is shut by one %s: %s', (reason, state) => {
    expect(after(unknown(reason)).state(0)).toMatchObject({ state, reason })
  })

  it.each<Reason>(['bad_key', 'no_credit'])('stops for minutes when %s is said twice in a row', (reason) => {
    const breaker = after(unknown(reason))
    expect(breaker.check(0)).toEqual({ pass: 'wait', ms: 2000 })
    breaker.record(unknown(reason), breaker.tryToPass(2000), 2000)
    expect(breaker.state(2000)).toEqual({ state: 'stopped', reason, until: 302_000 })
    expect(breaker.check(2000)).toMatchObject({ pass: 'refuse', finding: { reason } })
    breaker.record(unknown(reason), breaker.tryToPass(302_000), 302_000)
    expect(breaker.state(302_000)).toMatchObject({ state: 'stopped', until: 602_000 })
    breaker.record(undefined, breaker.tryToPass(602_000), 602_000)
    expect(breaker.state(602_000)).toEqual({ state: 'open' })
  })

  it('does not stop when another call was answered, or failed otherwise, between two refusals', () => {
    for (const between of [undefined, unknown('timeout'), unknown('no_credit')]) {
      const breaker = after(unknown('bad_key'))
      breaker.record(between, breaker.tryToPass(2000), 2000)
      const { until = 2000 } = breaker.state(2000)
      breaker.record(unknown('bad_key'), breaker.tryToPass(until), until)
      expect(breaker.state(until)).toMatchObject({ state: 'paused', reason: 'bad_key' })
    }
  })

  it('does not take two refusals that were under way together for two in a row', () => {
    const breaker = after(unknown('no_credit'))
    breaker.record(unknown('no_credit'), false, 10)
    expect(breaker.state(10)).toMatchObject({ state: 'paused' })
  })

  it('opens the breaker after failures in a row, for being unreachable and late alone', () => {
    const breaking = reasons.filter((reason) => after(unknown(reason), 5).state(0).state === 'breaker_open')
    expect(breaking).toEqual(['unavailable', 'timeout'])
    expect(after(unknown('unavailable'), 4).state(0)).toEqual({ state: 'open' })
  })

  it('counts failures from the last answer on', () => {
    const breaker = after(unknown('timeout'), 4)
    breaker.record(undefined, false, 0)
    for (let nth = 0; nth < 4; nth++) breaker.record(unknown('timeout'), false, 0)
    expect(breaker.check(0)).toEqual({ pass: 'go' })
  })

  it('makes everybody wait in a pause, and lets one probe go after it', () => {
    const breaker = after(unknown('busy'))
    expect(breaker.check(1999)).toEqual({ pass: 'wait', ms: 1 })
    expect(breaker.tryToPass(1999)).toBe(false)
    expect(breaker.check(2000)).toEqual({ pass: 'go' })
    expect(breaker.tryToPass(2000)).toBe(true)
    expect(breaker.check(2000)).toEqual({ pass: 'wait', ms: Infinity })
    breaker.record(undefined, true, 2100)
    expect(breaker.check(2100)).toEqual({ pass: 'go' })
  })

  it('pauses twice as long when the probe is refused too, up to the longest pause', () => {
    const breaker = createCircuitBreaker(admissionSettings)
    const lengths: number[] = []
    let now = 0
    for (let nth = 0; nth < 7; nth++) {
      breaker.record(unknown('busy'), breaker.tryToPass(now), now)
      const until = breaker.state(now).until ?? 0
      lengths.push(until - now)
      now = until
    }
    expect(lengths).toEqual([2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  })

  it('waits as long as the provider says, and refuses meanwhile when that is too long to wait for', () => {
    expect(after(unknown('throttled', { retryAfterMs: 45_000 })).check(0)).toEqual({ pass: 'wait', ms: 45_000 })
    const hour = 3_600_000
    const breaker = after(unknown('throttled', { retryAfterMs: hour }))
    expect(breaker.check(0)).toEqual({ pass: 'refuse', finding: unknown('throttled', { retryAfterMs: hour }) })
    expect(breaker.check(hour - 60_000)).toEqual({ pass: 'wait', ms: 60_000 })
  })

  it('is not silenced for more than a day by one header', () => {
    expect(after(unknown('throttled', { retryAfterMs: 1e15 })).check(86_400_000)).toEqual({ pass: 'go' })
  })

  it('pauses also for a server error that says how long', () => {
    expect(after(unknown('unavailable', { retryAfterMs: 500 })).check(0)).toEqual({ pass: 'wait', ms: 500 })
  })

  it('refuses at once while the breaker is open, and while its one probe is out', () => {
    const breaker = after(unknown('unavailable'), 5)
    expect(breaker.check(9999)).toMatchObject({ pass: 'refuse', finding: { reason: 'breaker_open' } })
    expect(breaker.tryToPass(10_000)).toBe(true)
    expect(breaker.tryToPass(10_000)).toBe(false)
    expect(breaker.check(10_000)).toMatchObject({ pass: 'refuse', finding: { reason: 'breaker_open' } })
    breaker.record(unknown('timeout'), true, 11_000)
    expect(breaker.state(11_000)).toMatchObject({ state: 'breaker_open', until: 31_000 })
  })

  it('is not opened by a late answer to a call from before it was shut', () => {
    const breaker = after(unknown('throttled'))
    breaker.record(undefined, false, 100)
    expect(breaker.check(100)).toEqual({ pass: 'wait', ms: 1900 })
  })

  it('does not take calls that were under way together for refusals in a row', () => {
    const breaker = after(unknown('busy'))
    breaker.record(unknown('busy'), false, 0)
    breaker.record(unknown('busy'), false, 0)
    expect(breaker.state(0).until).toBe(2000)
  })
})
