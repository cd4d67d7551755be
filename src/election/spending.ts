// The shared budget of several gateways. Blocks of calls are reserved on the control topic before use, so that a crash cannot exceed the budget.
import { createBudget, type BudgetSettings, type Spending } from '../lookup/admission/budget.js'
import { unknown, type Permit } from '../lookup/admission/call-sender.js'

type SpendingParts = {
  /** The reservations of all leaders so far. */
  readonly before: Spending | undefined
  /** Resolves when the reservation is on the topic. */
  readonly reserve: (spending: Spending) => Promise<void>
  readonly failed: (error: unknown) => void
  /** Called when the budget of this hour or day is spent. */
  readonly exhausted: () => void
}

type SharedSpending = Permit & {
  /** The reservations without the unused part of the last block. */
  readonly used: () => Spending
}

/** A block is a hundredth of the budget, up to this size, so that records are rare compared with calls. */
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
  /** The last block: its hour and the calls left. */
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
      // Calls left from another hour are not carried over.
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
