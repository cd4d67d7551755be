import { describe, expect, it } from 'vitest'
import type { Finding } from '../../../../src/domain/finding.js'
import type { Reason } from '../../../../src/domain/reason.js'
import { createAskLater } from '../../../../src/pipeline/enrich/ask-later.js'
import { createFakeClock, settle } from '../../../support/clock.js'
import { indicator, known } from '../../../support/lookup.js'

const ask = { role: 'destination', action: 'allowed', evidence: 'field' } as const

/** `reasons`: what the next lookups answer; then they are answered. */
const setUp = (...reasons: readonly Reason[]) => {
  const clock = createFakeClock()
  const left = [...reasons]
  const asked: { readonly value: string; readonly urgency: string | undefined }[] = []
  const provider = { isAway: false }
  const later = createAskLater({
    lookup: ({ value }, { urgency }) => {
      asked.push({ value, urgency })
      const reason = left.shift()
      return Promise.resolve<Finding>(reason ? { status: 'unknown', reason } : known(clock.now()))
    },
    clock,
    isAway: () => provider.isAway,
  })
  const pass = async (seconds: number): Promise<void> => {
    await clock.advance(seconds * 1_000)
  }
  const answerOf = async (promise: Promise<Finding> | undefined): Promise<string> =>
    (await Promise.race([promise, Promise.resolve(undefined)]))?.status ?? 'open'
  return { clock, later, asked, provider, pass, answerOf }
}

describe('what could not be looked up', () => {
  it('is asked again once for all its events, after those that arrive now', async () => {
    const { later, asked, pass, answerOf } = setUp()
    const first = later.of(indicator(1), ask, 'unavailable')
    expect(later.of(indicator(1), ask, 'cooling_down')).toBe(first)
    await pass(29)
    expect(asked).toEqual([])
    await pass(2)
    expect(asked).toEqual([{ value: indicator(1).value, urgency: 'replay' }])
    expect(await answerOf(first)).toBe('known')
  })

  it('is asked for as often as it fails, five times, and then not awaited again for a while', async () => {
    const { later, asked, pass, answerOf } = setUp('timeout', 'timeout', 'cooling_down', 'timeout', 'timeout')
    const promise = later.of(indicator(1), ask, 'timeout')
    await pass(940)
    expect(asked).toHaveLength(5)
    expect(await answerOf(promise)).toBe('unknown')
    expect(later.of(indicator(1), ask, 'timeout')).toBeUndefined()
    await pass(900)
    expect(later.of(indicator(1), ask, 'timeout')).toBeDefined()
  })

  it('waits through an outage without an attempt', async () => {
    const { later, asked, provider, pass, answerOf } = setUp('breaker_open', 'queue_full')
    provider.isAway = true
    const promise = later.of(indicator(1), ask, 'breaker_open')
    await pass(7_200)
    expect(asked).toEqual([])
    provider.isAway = false
    await pass(100)
    expect(asked).toHaveLength(3)
    expect(await answerOf(promise)).toBe('known')
  })

  it('for lack of budget is never asked for, but answered when a live event has paid for it', async () => {
    const { later, asked, pass, answerOf } = setUp()
    const promise = later.of(indicator(1), ask, 'budget_spent')
    await pass(3_600)
    expect(asked).toEqual([])
    later.answered(indicator(1))
    await settle()
    // From memory.
    expect(asked).toHaveLength(1)
    expect(await answerOf(promise)).toBe('known')
  })

  it('is given up after a day', async () => {
    const { later, pass, answerOf } = setUp()
    const promise = later.of(indicator(1), ask, 'budget_spent')
    await pass(86_500)
    expect(await answerOf(promise)).toBe('unknown')
  })

  it('by a call that fails is what comes later, and by one that is answered its answer', async () => {
    const { later, pass, answerOf } = setUp()
    const failed = Promise.resolve<Finding>({ status: 'unknown', reason: 'unavailable' })
    const promise = later.after(failed, indicator(1), ask)
    expect(later.after(failed, indicator(1), ask)).toBe(promise)
    expect(await later.after(Promise.resolve(known(1)), indicator(2), ask)).toEqual(known(1))
    await pass(1)
    expect(await answerOf(promise)).toBe('open')
    await pass(31)
    expect(await answerOf(promise)).toBe('known')
  })
})
