// The budget of several gateways: calls are reserved in blocks where all can read it, before the first of a block goes, so that no death opens a second budget.
import { createBudget, type BudgetSettings, type Spending } from '../lookup/admission/budget.js'
import { unknown, type Permit } from '../lookup/admission/call-sender.js'

type SpendingParts = {
  /** What was reserved so far, by whoever called. */
  readonly before: Spending | undefined
  /** Resolves when it is written down for all. */
  readonly reserve: (spending: Spending) => Promise<void>
  readonly failed: (error: unknown) => void
  /** The budget of this hour or day is used up. */
  readonly exhausted: () => void
}

type SharedSpending = Permit & {
  /** What is reserved, without what of the last block is left. */
  readonly used: () => Spending
}

/** A hundredth of the budget, as long as writing it down is rare compared with calls. */
const maxBlock = 100
const lookAgainMs = 20

const hourMs = 3_600_000
const nothing: Spending = { hour: { index: 0, count: 0 }, day: { index: 0, count: 0 } }

const blockOf = ({ perHour, perDay }: Pick<BudgetSettings, 'perHour' | 'perDay'>): number =>
  Math.max(1, Math.min(maxBlock, Math.floor(Math.min(perHour || Infinity, perDay || Infinity) / 100)))

export const createSpending = (
  limits: Pick<BudgetSettings, 'perHour' | 'perDay'>,
  { before, reserve, failed, exhausted }: SpendingParts,
): SharedSpending => {
  if (limits.perHour === 0 && limits.perDay === 0)
    return { check: () => undefined, charge: () => () => undefined, used: () => before ?? nothing }
  let reserved = before ?? nothing
  const write = (spending: Spending): void => void (reserved = spending)
  const budget = createBudget({ ...limits, perRun: 0 }, { ...(before && { before }), write })
  const block = blockOf(limits)
  /** The last block: how much of it is left, in which hour. */
  let grant = { hour: -1, left: 0 }
  let isReserving = false
  let isExhausted = false

  const takeBlock = async (now: number): Promise<void> => {
    let taken = 0
    for (; taken < block && budget.spentForMs(now) === undefined; taken++) budget.charge(now)(true)
    isReserving = true
    try {
      await reserve(reserved)
      grant = { hour: Math.floor(now / hourMs), left: taken }
    } catch (error) {
      failed(error)
    } finally {
      isReserving = false
    }
  }
  return {
    check: (now) => {
      // What is left of a block of another hour belongs to that hour.
      if (grant.left > 0 && grant.hour === Math.floor(now / hourMs)) return undefined
      if (!isReserving) {
        const spentForMs = budget.spentForMs(now)
        if (spentForMs !== undefined) {
          if (!isExhausted) exhausted()
          isExhausted = true
          return { pass: 'refuse', finding: { ...unknown('budget_spent'), retryAfterMs: spentForMs } }
        }
        isExhausted = false
        void takeBlock(now)
      }
      return { pass: 'wait', ms: lookAgainMs }
    },
    charge: () => {
      const mine = grant
      mine.left--
      return (wasSent) => {
        if (!wasSent) mine.left++
      }
    },
    used: () => {
      const { hour, day } = reserved
      const left = hour.index === grant.hour ? grant.left : 0
      return { hour: { ...hour, count: hour.count - left }, day: { ...day, count: day.count - left } }
    },
  }
}
