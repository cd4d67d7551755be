import { describe, expect, it } from 'vitest'
import { budgetOf } from '../../../src/config/budget.js'

const none = { perHour: 0, perRun: 0 }

describe('the budget that the settings come to', () => {
  it.each([
    ['1,000 calls a day where nothing is said', none, { ...none, perDay: 1_000, isDefault: true }],
    ['what is said of a day', { ...none, perDay: 7 }, { ...none, perDay: 7, isDefault: false }],
    ['no limit where that is written', { ...none, perDay: 'unlimited' }, { ...none, perDay: 0, isDefault: false }],
    [
      'no limit of a day beside one of an hour',
      { ...none, perHour: 9 },
      { perHour: 9, perRun: 0, perDay: 0, isDefault: false },
    ],
    [
      'no limit of a day beside one of a run',
      { ...none, perRun: 9 },
      { perHour: 0, perRun: 9, perDay: 0, isDefault: false },
    ],
  ] as const)('is %s', (_, settings, budget) => {
    expect(budgetOf(settings)).toEqual(budget)
  })
})
