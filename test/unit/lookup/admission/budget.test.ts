import { describe, expect, it } from 'vitest'
import { createBudget } from '../../../../src/lookup/admission/budget.js'
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
