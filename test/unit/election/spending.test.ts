import { describe, expect, it } from 'vitest'
import { createSpending } from '../../../src/election/spending.js'
import type { Spending } from '../../../src/lookup/admission/budget.js'
import { newYear, settle } from '../../support/clock.js'

const hourMs = 3_600_000

const open = (
  limits: { perHour?: number; perDay?: number },
  before?: Spending,
  failing: () => boolean = () => false,
) => {
  const written: Spending[] = []
  const failures: unknown[] = []
  let exhausted = 0
  const spending = createSpending(
    { perHour: 0, perDay: 0, ...limits },
    {
      before,
      reserve: (next) => {
        if (failing()) return Promise.reject(new Error('fenced'))
        written.push(next)
        return Promise.resolve()
      },
      failed: (error) => void failures.push(error),
      exhausted: () => void (exhausted += 1),
    },
  )
  /** Calls as long as it may; a wait is waited for. */
  const callAll = async (now: number, most = 10_000): Promise<number> => {
    for (let calls = 0, waits = 0; ;) {
      const passage = spending.check(now)
      if (passage?.pass === 'refuse' || calls === most || waits === 50) return calls
      if (passage) {
        waits++
        await settle()
        continue
      }
      spending.charge(now)(true)
      calls++
      waits = 0
    }
  }
  return { spending, written, failures, callAll, exhausted: () => exhausted }
}

describe('the budget of several gateways', () => {
  it('lets calls go only after their block is written down', async () => {
    const { spending, written } = open({ perDay: 1_000 })
    expect(spending.check(newYear)).toEqual({ pass: 'wait', ms: 20 })
    await settle()
    expect(written.map(({ day }) => day.count)).toEqual([10])
    expect(spending.check(newYear)).toBeUndefined()
  })

  it('spends the whole budget and not one call more', async () => {
    const { callAll, spending, exhausted } = open({ perDay: 25 })
    expect(await callAll(newYear)).toBe(25)
    expect(spending.check(newYear + hourMs)).toEqual({
      pass: 'refuse',
      finding: { status: 'unknown', reason: 'budget_spent', retryAfterMs: 23 * hourMs },
    })
    expect(exhausted()).toBe(1)
    expect(await callAll(newYear + 24 * hourMs)).toBe(25)
  })

  it('gives its successor what was not reserved: at most a block is lost', async () => {
    const first = open({ perDay: 1_000 })
    expect(await first.callAll(newYear, 33)).toBe(33)
    const second = open({ perDay: 1_000 }, first.written.at(-1))
    expect(await second.callAll(newYear)).toBe(960)
    const afterRelease = open({ perDay: 1_000 }, first.spending.used())
    expect(await afterRelease.callAll(newYear)).toBe(967)
  })

  it('keeps both limits, and counts what is left of a block for its own hour', async () => {
    const { callAll } = open({ perHour: 200, perDay: 1_000 })
    expect(await callAll(newYear, 3)).toBe(3)
    // Two were reserved for the hour before, of which one was left: it is lost.
    expect(await callAll(newYear + hourMs)).toBe(200)
    expect(await callAll(newYear + 2 * hourMs)).toBe(200)
  })

  it('takes back a call of which nothing was written', async () => {
    const { spending, callAll } = open({ perDay: 2 })
    expect(await callAll(newYear, 1)).toBe(1)
    spending.check(newYear)
    await settle()
    spending.charge(newYear)(false)
    expect(await callAll(newYear)).toBe(1)
  })

  it('says when a block cannot be written down, and lets nothing go', async () => {
    const { spending, failures, callAll } = open({ perDay: 1_000 }, undefined, () => true)
    expect(await callAll(newYear)).toBe(0)
    expect(failures.length).toBeGreaterThan(0)
    expect(spending.check(newYear)).not.toBeUndefined()
  })
})
