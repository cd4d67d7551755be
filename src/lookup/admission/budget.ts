// The budget: how many calls may be sent in an hour, a day and one run; charged just before a call goes, refunded where none went.

export type BudgetSettings = {
  /** 0 is no limit. */
  readonly perHour: number
  readonly perDay: number
  readonly perRun: number
}

export type Spent = { readonly hour: number; readonly day: number; readonly run: number }

/** The index of the hour or day since the epoch, and the calls in it. */
type Count = { readonly index: number; readonly count: number }
export type Spending = { readonly hour: Count; readonly day: Count }

/** Where spending is written down, and what was spent before. */
export type Ledger = { readonly before?: Spending; readonly write: (spending: Spending) => void }

type Budget = {
  /** Milliseconds until a call may go again; Infinity when this run may send none any more; undefined when one may go now. */
  readonly spentForMs: (now: number) => number | undefined
  /** Just before a call goes. The returned function has to be called once, with whether anything of the call was written. */
  readonly charge: (now: number) => Settle
  /** Calls that are known to have gone; one in flight counts when it is back. */
  readonly spent: (now: number) => Spent
}

type Settle = (wasSent: boolean) => void

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Hours and days are those of UTC. */
export const createBudget = ({ perHour, perDay, perRun }: BudgetSettings, ledger?: Ledger): Budget => {
  const hour = createWindow(hourMs, ledger?.before?.hour)
  const day = createWindow(dayMs, ledger?.before?.day)
  const run = createWindow(Infinity)
  const windows = [hour, day, run]
  const write = (): void => ledger?.write({ hour: hour.state(), day: day.state() })
  return {
    spentForMs: (now) => {
      if (perRun > 0 && run.charged(now) >= perRun) return Infinity
      if (perDay > 0 && day.charged(now) >= perDay) return dayMs - (now % dayMs)
      if (perHour > 0 && hour.charged(now) >= perHour) return hourMs - (now % hourMs)
      return undefined
    },
    charge: (now) => {
      const settles = windows.map((window) => window.charge(now))
      write()
      return (wasSent) => {
        for (const settle of settles) settle(wasSent)
        if (!wasSent) write()
      }
    },
    spent: (now) => ({ hour: hour.spent(now), day: day.spent(now), run: run.spent(now) }),
  }
}

const createWindow = (lengthMs: number, before?: Count) => {
  let current = before?.index ?? 0
  let count = before?.count ?? 0
  /** Of those, calls in flight. */
  let open = 0
  // A clock that was set back a little opens no second budget; one that was far ahead does not close it for years.
  const move = (now: number): void => {
    const index = Math.floor(now / lengthMs)
    if (index === current || index === current - 1) return
    current = index
    count = open = 0
  }
  return {
    charged: (now: number): number => {
      move(now)
      return count
    },
    spent: (now: number): number => {
      move(now)
      return count - open
    },
    state: (): Count => ({ index: current, count }),
    charge: (now: number): Settle => {
      move(now)
      count++
      open++
      const index = current
      return (wasSent) => {
        if (index !== current) return
        open--
        if (!wasSent) count--
      }
    },
  }
}
