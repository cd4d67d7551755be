import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createBudget } from '../../../../src/lookup/admission/budget.js'
import { openLedger } from '../../../../src/lookup/memory/ledger.js'
import { newYear } from '../../../support/clock.js'

type Budget = ReturnType<typeof createBudget>

const hour = 3_600_000
let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'ledger-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** One run of the program, which may end without closing anything. */
const run = <Result>(work: (budget: Budget) => Result): Result =>
  work(
    createBudget(
      { perHour: 3, perDay: 5, perRun: 0 },
      openLedger(folder, () => undefined),
    ),
  )

describe('the ledger', () => {
  it('carries what was spent in this hour and this day over restarts', () => {
    for (let nth = 0; nth < 3; nth++) run((budget) => budget.charge(newYear + nth))
    expect(run((budget) => budget.spentForMs(newYear + 10))).toBe(hour - 10)
    expect(run((budget) => budget.spent(newYear + 10))).toEqual({ hour: 3, day: 3, run: 0 })
    expect(run((budget) => budget.spent(newYear + hour))).toEqual({ hour: 0, day: 3, run: 0 })
    expect(run((budget) => budget.spent(newYear + 24 * hour))).toEqual({ hour: 0, day: 0, run: 0 })
  })

  it('has the call written before it goes', () => {
    run((budget) => budget.charge(newYear))
    expect(readFileSync(join(folder, 'spent'), 'utf8')).toContain('"count":1')
  })

  it('stays one record long', () => {
    run((budget) => {
      for (let nth = 0; nth < 1000; nth++) budget.charge(newYear + nth)
    })
    expect(statSync(join(folder, 'spent')).size).toBe(128)
  })

  it.each([
    ['damaged', '00000000 {"hour":{"index":1,"count":9},"day":{"index":1,"count":9}}'],
    ['empty', ''],
    ['something else', 'x'.repeat(1000)],
  ])('begins anew when it is %s', (_title, text) => {
    writeFileSync(join(folder, 'spent'), text)
    expect(run((budget) => budget.spent(newYear))).toEqual({ hour: 0, day: 0, run: 0 })
  })
})
