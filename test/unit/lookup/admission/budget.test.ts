import { describe, expect, it } from 'vitest'
import type { CallLimit } from '../../../../src/domain/source-description.js'
import { createBudget, type Spending } from '../../../../src/lookup/admission/budget.js'
import { newYear } from '../../../support/clock.js'

const minute = 60_000
const none = { perHour: 0, perDay: 0, perRun: 0 }

describe('the budget', () => {
  it('has no limit unless told', () => {
    const budget = createBudget(none)
    for (let nth = 0; nth < 10_000; nth++) budget.charge(newYear)(true)
    expect(budget.spentForMs(newYear)).toBeUndefined()
    expect(budget.spent(newYear)).toEqual({ hour: 10_000, day: 10_000, run: 10_000 })
  })

  it('of an hour comes back with the next hour', () => {
    const budget = createBudget({ ...none, perHour: 1 })
    budget.charge(newYear + 20 * minute)
    expect(budget.spentForMs(newYear + 20 * minute)).toBe(40 * minute)
    expect(budget.spentForMs(newYear + 60 * minute)).toBeUndefined()
  })

  it('of a day comes back with the next day', () => {
    const budget = createBudget({ ...none, perDay: 2, perHour: 2 })
    budget.charge(newYear)
    budget.charge(newYear + 90 * minute)
    expect(budget.spentForMs(newYear + 120 * minute)).toBe(22 * 60 * minute)
    expect(budget.spentForMs(newYear + 24 * 60 * minute)).toBeUndefined()
  })

  it('of a day that nobody set does not apply at a gateway', () => {
    let isGateway = false
    const budget = createBudget({ ...none, perDay: 1, isDefault: true, isGateway: () => isGateway })
    budget.charge(newYear)(true)
    expect(budget.spentForMs(newYear)).toBe(24 * 60 * minute)
    isGateway = true
    expect(budget.spentForMs(newYear)).toBeUndefined()
  })

  it('of a day that was set applies at a gateway too', () => {
    const budget = createBudget({ ...none, perDay: 1, isGateway: () => true })
    budget.charge(newYear)(true)
    expect(budget.spentForMs(newYear)).toBe(24 * 60 * minute)
  })

  it('of a run never comes back', () => {
    const budget = createBudget({ ...none, perRun: 1 })
    budget.charge(newYear)
    expect(budget.spentForMs(newYear + 1e12)).toBe(Infinity)
  })

  it('is not closed for years by a clock that was far ahead', () => {
    const budget = createBudget({ ...none, perDay: 1 })
    budget.charge(newYear + 1e12)
    expect(budget.spentForMs(newYear)).toBeUndefined()
  })

  it('is not given twice when the clock is set back a little', () => {
    const budget = createBudget({ ...none, perHour: 1 })
    budget.charge(newYear + 61 * minute)(true)
    budget.spent(newYear)
    expect(budget.spent(newYear + 62 * minute).hour).toBe(1)
    expect(budget.spentForMs(newYear)).toBeGreaterThan(0)
  })

  it('gets back what a call cost that was never written, and shows none before it is known', () => {
    const written: unknown[] = []
    const budget = createBudget({ ...none, perRun: 1 }, { write: (spending) => written.push(spending) })
    const settle = budget.charge(newYear)
    expect(budget.spentForMs(newYear)).toBe(Infinity)
    expect(budget.spent(newYear)).toEqual({ hour: 0, day: 0, run: 0 })
    settle(false)
    expect(budget.spentForMs(newYear)).toBeUndefined()
    expect(written).toMatchObject([{ hour: { count: 1 } }, { hour: { count: 0 } }])
  })

  it('gives nothing back in an hour in which it was not charged', () => {
    const budget = createBudget({ ...none, perHour: 1 })
    const settle = budget.charge(newYear)
    budget.charge(newYear + 60 * minute)(true)
    settle(false)
    expect(budget.spent(newYear + 60 * minute)).toEqual({ hour: 1, day: 1, run: 1 })
  })
})

describe('the limits of a source', () => {
  const limited = (...limits: readonly CallLimit[]) => ({ ...none, limits })
  const day = 24 * 60 * minute

  it('per minute hold a call back until a full minute after an earlier one, whenever the minute begins', () => {
    const budget = createBudget(limited({ calls: 2, per: 'minute' }))
    budget.charge(newYear + 59_000)(true)
    budget.charge(newYear + 59_500)(true)
    expect(budget.spentForMs(newYear + 60_000)).toBeUndefined()
    const heldMs = budget.heldForMs(newYear + 60_000)
    expect(heldMs).toBeGreaterThanOrEqual(59_000)
    expect(budget.heldForMs(newYear + 60_000 + heldMs)).toBe(0)
  })

  it('never let more through in any stretch of a minute, however calls come', () => {
    const budget = createBudget(limited({ calls: 7, per: 'minute' }, { calls: 3, per: 'second' }))
    const sent: number[] = []
    for (let now = newYear, nth = 0; sent.length < 200; nth++) {
      const heldMs = budget.heldForMs(now)
      if (heldMs > 0) now += heldMs
      else {
        sent.push(now)
        budget.charge(now)(true)
        now += (nth * 37) % 400
      }
    }
    for (const [lengthMs, most] of [
      [60_000, 7],
      [1_000, 3],
    ] as const)
      for (const from of sent)
        expect(sent.filter((at) => at >= from && at < from + lengthMs).length).toBeLessThanOrEqual(most)
  })

  it('say how long a call waits that others go before', () => {
    const budget = createBudget(limited({ calls: 4, per: 'minute' }))
    expect([0, 3, 4, 7, 8].map((ahead) => Math.floor(budget.heldForMs(newYear, ahead) / minute))).toEqual([
      0, 0, 1, 1, 2,
    ])
  })

  it.each([
    ['day', newYear + 5 * minute, newYear + day],
    // 2026-01-01 is a Thursday.
    ['week', newYear + 5 * minute, newYear + 4 * day],
    ['month', newYear + 5 * minute, Date.UTC(2026, 1, 1)],
    ['month', Date.UTC(2026, 11, 31, 23, 59), Date.UTC(2027, 0, 1)],
  ] as const)('per %s come back when the next one begins', (per, now, next) => {
    const budget = createBudget(limited({ calls: 1, per }))
    expect(budget.spentForMs(now)).toBeUndefined()
    budget.charge(now)(true)
    expect(budget.spentForMs(now)).toBe(next - now)
    expect(budget.spentForMs(next)).toBeUndefined()
  })

  it('are counted on from what was written down, and a call that was not sent is given back', () => {
    let spending: Spending | undefined
    const write = (now: Spending): void => void (spending = JSON.parse(JSON.stringify(now)) as Spending)
    const settings = limited({ calls: 2, per: 'minute' }, { calls: 3, per: 'day' })
    const first = createBudget(settings, { write })
    first.charge(newYear)(true)
    first.charge(newYear + 1)(false)
    first.charge(newYear + 2)
    const second = createBudget(settings, { before: spending!, write })
    expect(second.heldForMs(newYear + 3)).toBeGreaterThan(59_000)
    expect(second.spentForMs(newYear + 3)).toBeUndefined()
    second.charge(newYear + 2 * minute)(true)
    expect(second.spentForMs(newYear + 2 * minute)).toBe(day - 2 * minute)
  })

  it('are not held for years by a clock that was far ahead', () => {
    const budget = createBudget(limited({ calls: 1, per: 'minute' }, { calls: 1, per: 'month' }))
    budget.charge(newYear + 1e12)(true)
    expect(budget.heldForMs(newYear)).toBe(0)
    expect(budget.spentForMs(newYear)).toBeUndefined()
  })
})
