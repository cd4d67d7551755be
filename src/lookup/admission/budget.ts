// The budget: how many calls may be sent in an hour, a day, one run and the periods of a source; charged just before a call goes, refunded where none went.
import type { CallLimit, LimitPeriod } from '../../domain/source-description.js'

export type BudgetSettings = {
  /** 0 is no limit. */
  readonly perHour: number
  readonly perDay: number
  readonly perRun: number
  /** Nobody set these limits. */
  readonly isDefault?: boolean
  /** Whether a gateway is asked, which keeps a budget of its own: the default limits do not apply there. */
  readonly isGateway?: () => boolean
  /** Those of a source, besides. */
  readonly limits?: readonly CallLimit[]
}

export type Spent = { readonly hour: number; readonly day: number; readonly run: number }

/** The index of the hour or day since the epoch, and the calls in it. */
type Count = { readonly index: number; readonly count: number }
/** The calls in the present period, or when each of the last ones went. */
type LimitCount = Count | { readonly at: readonly number[] }
export type Spending = {
  readonly hour: Count
  readonly day: Count
  readonly limits?: { readonly [per in LimitPeriod]?: LimitCount }
}

/** Where spending is written down, and what was spent before. */
export type Ledger = { readonly before?: Spending; readonly write: (spending: Spending) => void }

type Budget = {
  /** Milliseconds until a call may go again; Infinity when this run may send none any more; undefined when one may go now. */
  readonly spentForMs: (now: number) => number | undefined
  /** Milliseconds until a call may go that a limit per second or minute holds back; `ahead` others go before it. */
  readonly heldForMs: (now: number, ahead?: number) => number
  /** Just before a call goes. The returned function has to be called once, with whether anything of the call was written. */
  readonly charge: (now: number) => Settle
  /** Calls that are known to have gone; one in flight counts when it is back. */
  readonly spent: (now: number) => Spent
  /** Of the limits of a source. */
  readonly used: (now: number) => readonly (CallLimit & { readonly used: number })[]
}

type Settle = (wasSent: boolean) => void

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Hours and days are those of UTC. */
export const createBudget = (
  { perHour, perDay, perRun, isDefault = false, isGateway = () => false, limits = [] }: BudgetSettings,
  ledger?: Ledger,
): Budget => {
  const hour = createWindow(indexBy(hourMs), ledger?.before?.hour)
  const day = createWindow(indexBy(dayMs), ledger?.before?.day)
  const run = createWindow(() => 0)
  const before = ledger?.before?.limits ?? {}
  const periods = limits.flatMap(({ calls, per }) => {
    const period = calendar[per]
    return period ? [{ calls, per, ...period, ...createWindow(period.indexOf, countIn(before[per])) }] : []
  })
  const spans = limits.flatMap(({ calls, per }) => {
    const lengthMs = spanMs[per]
    return lengthMs === undefined ? [] : [{ calls, per, ...createSpan(calls, lengthMs, momentsIn(before[per])) }]
  })
  const windows = [hour, day, run, ...periods, ...spans]
  const write = (): void =>
    ledger?.write({
      hour: hour.state(),
      day: day.state(),
      ...(limits.length > 0 && {
        limits: Object.fromEntries([...periods, ...spans].map(({ per, state }) => [per, state()])),
      }),
    })
  return {
    spentForMs: (now) => {
      if (perRun > 0 && run.charged(now) >= perRun) return Infinity
      if (perDay > 0 && !(isDefault && isGateway()) && day.charged(now) >= perDay) return dayMs - (now % dayMs)
      if (perHour > 0 && hour.charged(now) >= perHour) return hourMs - (now % hourMs)
      const spent = periods.filter(({ calls, charged }) => charged(now) >= calls)
      return spent.length === 0 ? undefined : Math.max(...spent.map(({ nextAt }) => nextAt(now) - now))
    },
    heldForMs: (now, ahead = 0) => Math.max(0, ...spans.map(({ heldForMs }) => heldForMs(now, ahead))),
    charge: (now) => {
      const settles = windows.map((window) => window.charge(now))
      write()
      return (wasSent) => {
        for (const settle of settles) settle(wasSent)
        if (!wasSent) write()
      }
    },
    spent: (now) => ({ hour: hour.spent(now), day: day.spent(now), run: run.spent(now) }),
    used: (now) => [...spans, ...periods].map(({ calls, per, charged }) => ({ calls, per, used: charged(now) })),
  }
}

const indexBy =
  (lengthMs: number) =>
  (now: number): number =>
    Math.floor(now / lengthMs)

type Calendar = { readonly indexOf: (now: number) => number; readonly nextAt: (now: number) => number }

/** The first day of 1970 was a Thursday; weeks begin on Monday. */
const weekOf = (now: number): number => Math.floor((now / dayMs + 3) / 7)
const monthOf = (now: number): number => {
  const date = new Date(now)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Periods that begin for everyone at the same moment. */
const calendar: { readonly [per in LimitPeriod]?: Calendar } = {
  day: { indexOf: indexBy(dayMs), nextAt: (now) => (Math.floor(now / dayMs) + 1) * dayMs },
  week: { indexOf: weekOf, nextAt: (now) => ((weekOf(now) + 1) * 7 - 3) * dayMs },
  month: {
    indexOf: monthOf,
    nextAt: (now) => Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() + 1),
  },
}

/** Periods of which no stretch of that length may hold more calls, whenever it begins. */
const spanMs: { readonly [per in LimitPeriod]?: number } = { second: 1_000, minute: 60_000 }

const countIn = (before: LimitCount | undefined): Count | undefined =>
  before && 'index' in before ? before : undefined
const momentsIn = (before: LimitCount | undefined): readonly number[] => (before && 'at' in before ? before.at : [])

/** A call counts from when it goes until a full span after it, and a little longer: the provider counts when it arrives, and the first one has to connect. */
const slackOf = (lengthMs: number): number => Math.max(250, lengthMs / 60)

const createSpan = (calls: number, lengthMs: number, before: readonly number[]) => {
  /** When the last ones went, oldest first. */
  let moments = before.slice(-calls)
  const heldMs = lengthMs + slackOf(lengthMs)
  // A clock that was far ahead when these were noted must not hold calls back for years.
  const move = (now: number): void => {
    const first = moments.findIndex((moment) => moment > now - heldMs && moment <= now + heldMs)
    if (first !== 0) moments = first < 0 ? [] : moments.slice(first)
  }
  return {
    heldForMs: (now: number, ahead: number): number => {
      move(now)
      const free = calls - moments.length
      if (ahead < free) return 0
      // Place in the order of calls that each become possible a span after an earlier one.
      const place = ahead - free
      const earlier = moments[place % calls] ?? now
      return Math.max(0, earlier + heldMs - now) + Math.floor(place / calls) * heldMs
    },
    charged: (now: number): number => {
      move(now)
      return moments.length
    },
    state: (): LimitCount => ({ at: moments }),
    charge: (now: number): Settle => {
      move(now)
      moments.push(now)
      if (moments.length > calls) moments = moments.slice(-calls)
      return (wasSent) => {
        const place = moments.lastIndexOf(now)
        if (!wasSent && place >= 0) moments.splice(place, 1)
      }
    },
  }
}

const createWindow = (indexOf: (now: number) => number, before?: Count) => {
  let current = before?.index ?? 0
  let count = before?.count ?? 0
  /** Of those, calls in flight. */
  let open = 0
  // A clock that was set back a little opens no second budget; one that was far ahead does not close it for years.
  const move = (now: number): void => {
    const index = indexOf(now)
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
