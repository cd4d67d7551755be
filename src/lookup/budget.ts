// The budget: how many calls may be sent in an hour, a day and one run; charged just before a call goes.

export type BudgetSettings = {
  /** 0 is no limit. */
  readonly perHour: number
  readonly perDay: number
  readonly perRun: number
}

export type Spent = { readonly hour: number; readonly day: number; readonly run: number }

/** The how-manieth hour or day since the epoch, and the calls in it. */
type Count = { readonly index: number; readonly count: number }
export type Spending = { readonly hour: Count; readonly day: Count }

/** Where spending is written down, and what was spent before. */
export type Ledger = { readonly before?: Spending; readonly write: (spending: Spending) => void }

export type Budget = {
  /** Milliseconds until a call may go again; Infinity when this run may send none any more; undefined when one may go now. */
  readonly spentForMs: (now: number) => number | undefined
  readonly charge: (now: number) => void
  readonly spent: (now: number) => Spent
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Hours and days are those of UTC. */
export const createBudget = ({ perHour, perDay, perRun }: BudgetSettings, ledger?: Ledger): Budget => {
  const hour = createWindow(hourMs, ledger?.before?.hour)
  const day = createWindow(dayMs, ledger?.before?.day)
  let run = 0
  return {
    spentForMs: (now) => {
      if (perRun > 0 && run >= perRun) return Infinity
      if (perDay > 0 && day.count(now) >= perDay) return dayMs - (now % dayMs)
      if (perHour > 0 && hour.count(now) >= perHour) return hourMs - (now % hourMs)
      return undefined
    },
    charge: (now) => {
      hour.add(now)
      day.add(now)
      run++
      ledger?.write({ hour: hour.state(), day: day.state() })
    },
    spent: (now) => ({ hour: hour.count(now), day: day.count(now), run }),
  }
}

const createWindow = (lengthMs: number, before?: Count) => {
  let current = before?.index ?? 0
  let counted = before?.count ?? 0
  // A clock that was set back a little opens no second budget; one that was far ahead does not close it for years.
  const move = (now: number): void => {
    const index = Math.floor(now / lengthMs)
    if (index === current || index === current - 1) return
    current = index
    counted = 0
  }
  return {
    count: (now: number): number => {
      move(now)
      return counted
    },
    state: (): Count => ({ index: current, count: counted }),
    add: (now: number): void => {
      move(now)
      counted++
    },
  }
}
