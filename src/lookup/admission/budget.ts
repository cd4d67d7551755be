// The budget: limits calls per hour, day, run and source period; a call is charged before it is sent and refunded if nothing was sent.
import type { CallLimit, LimitPeriod } from '../../domain/source-description.js'

export type BudgetSettings = {
  /** 0 means no limit. */
  readonly perHour: number
  readonly perDay: number
  readonly perRun: number
  /** The limits are defaults, not settings. */
  readonly isDefault?: boolean
  /** Whether calls go to a gateway with a budget of its own, where the default limits do not apply. */
  readonly isGateway?: () => boolean
  /** Additional limits of a source. */
  readonly limits?: readonly CallLimit[]
}

export type Spent = { readonly hour: number; readonly day: number; readonly run: number }

/** The index of a period, such as the hour since the epoch, and the number of calls in it. */
type Count = { readonly index: number; readonly count: number }
/** The calls in the current period, or the times of the latest calls. */
type LimitCount = Count | { readonly at: readonly number[] }
export type Spending = {
  readonly hour: Count
  readonly day: Count
  readonly limits?: { readonly [per in LimitPeriod]?: LimitCount }
}

/** Records spending, and holds the spending of earlier runs. */
export type Ledger = { readonly before?: Spending; readonly write: (spending: Spending) => void }

type Budget = {
  /** Milliseconds until calls are possible again; Infinity if this run may send no more; undefined if one may go now. */
  readonly spentForMs: (now: number) => number | undefined
  /** Milliseconds that a limit per second or minute delays a call with `ahead` others before it. */
  readonly heldForMs: (now: number, ahead?: number) => number
  /** Charges a call just before it is sent. Call the returned function once, with whether any part of the call was sent. */
  readonly charge: (now: number) => Settle
  /** Calls known to have been sent; a call in flight counts once it settles. */
  readonly spent: (now: number) => Spent
  /** Calls counted against the limits of a source. */
  readonly used: (now: number) => readonly (CallLimit & { readonly used: number })[]
}

type Settle = (wasSent: boolean) => void

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/** Hours and days are in UTC. */
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

/** 1 January 1970 was a Thursday; weeks begin on Monday. */
const weekOf = (now: number): number => Math.floor((now / dayMs + 3) / 7)
const monthOf = (now: number): number => {
  const date = new Date(now)
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/** Calendar periods, which begin at fixed times. */
const calendar: { readonly [per in LimitPeriod]?: Calendar } = {
  day: { indexOf: indexBy(dayMs), nextAt: (now) => (Math.floor(now / dayMs) + 1) * dayMs },
  week: { indexOf: weekOf, nextAt: (now) => ((weekOf(now) + 1) * 7 - 3) * dayMs },
  month: {
    indexOf: monthOf,
    nextAt: (now) => Date.UTC(new Date(now).getUTCFullYear(), new Date(now).getUTCMonth() + 1),
  },
}

/** Sliding windows: no stretch of this length may contain more calls, wherever it begins. */
const spanMs: { readonly [per in LimitPeriod]?: number } = { second: 1_000, minute: 60_000 }

const countIn = (before: LimitCount | undefined): Count | undefined =>
  before && 'index' in before ? before : undefined
const momentsIn = (before: LimitCount | undefined): readonly number[] => (before && 'at' in before ? before.at : [])

/** Extra time in the window, because the provider counts a call when it arrives, and the first one has to connect first. */
const slackOf = (lengthMs: number): number => Math.max(250, lengthMs / 60)

const createSpan = (calls: number, lengthMs: number, before: readonly number[]) => {
  /** The times of the latest calls, oldest first. */
  let moments = before.slice(-calls)
  const heldMs = lengthMs + slackOf(lengthMs)
  // Drops times from a clock that was far ahead, which would hold calls back for years.
  const move = (now: number): void => {
    const first = moments.findIndex((moment) => moment > now - heldMs && moment <= now + heldMs)
    if (first !== 0) moments = first < 0 ? [] : moments.slice(first)
  }
  return {
    heldForMs: (now: number, ahead: number): number => {
      move(now)
      const free = calls - moments.length
      if (ahead < free) return 0
      // The position in a sequence of calls that each become possible one span after an earlier call.
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
  /** Of these, the calls in flight. */
  let open = 0
  // A clock set back slightly opens no second budget; one that was far ahead does not close it for years.
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
