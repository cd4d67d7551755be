// Forecasts the cost of a log: plays its indicators through a memory of a given size and TTL, and predicts lookups per day and month.
import { LRUCache } from 'lru-cache'
import { ownText } from '../../base/bounded-cache.js'

type ForecastOptions = {
  /** The number of verdicts that the memory holds. */
  readonly memory: number
  readonly lifetimeMs: number
}

export type Forecast = {
  readonly events: number
  /** Indicators to look up, counted once per event. */
  readonly asks: number
  readonly distinct: number
  /** Asks that the memory could not answer, starting empty. */
  readonly lookups: number
  /** Events without an indicator to look up. */
  readonly eventsWithoutAsks: number
  /** Absent when the log does not say how much time it covers. */
  readonly spanMs?: number
  /** Why the daily and monthly figures are uncertain or missing: less than an hour of logs, times in the future, or times years apart. */
  readonly doubt?: 'short' | 'future' | 'years'
  /** The first and last time in the log, if these are in doubt. */
  readonly times?: readonly [string, string]
  readonly lookupsPerDay?: number
  readonly lookupsPerMonth?: number
  readonly hitRatio: number
}

export const createForecast = ({ memory, lifetimeMs }: ForecastOptions) => {
  /** key → the time of its last lookup; evicts as the memory does. */
  const remembered = new LRUCache<string, number>({ max: memory })
  const seen = new Map<string, number>()
  let events = 0
  let asks = 0
  let lookups = 0
  let eventsWithoutAsks = 0
  let first: number | undefined
  let last: number | undefined

  const ask = (key: string, now: number): void => {
    asks++
    if (!seen.has(key)) seen.set(ownText(key), events)
    const at = remembered.get(key)
    const isFresh = at !== undefined && now - at < lifetimeMs
    if (!isFresh) lookups++
    if (!isFresh) remembered.set(ownText(key), now)
  }

  return {
    see(keys: Iterable<string>, time: number | undefined): void {
      events++
      if (time !== undefined) {
        first = Math.min(first ?? time, time)
        last = Math.max(last ?? time, time)
      }
      const before = asks
      for (const key of keys) ask(key, time ?? last ?? 0)
      if (asks === before) eventsWithoutAsks++
    },
    distinct: (): Iterable<string> => seen.keys(),
    /**
     * `givenSpanMs` is the span of the log as stated by the user; otherwise the times in the log decide, if they are plausible at `now`.
     */
    report(now: number, givenSpanMs?: number): Forecast {
      const doubt = givenSpanMs === undefined ? doubtOf(first, last, now) : undefined
      const spanMs =
        givenSpanMs ?? (first === undefined || last === undefined || doubt !== undefined ? undefined : last - first)
      const base = { events, asks, distinct: seen.size, lookups, eventsWithoutAsks, ...doubt }
      if (spanMs === undefined || spanMs < 1000 || asks === 0)
        return { ...base, hitRatio: asks === 0 ? 0 : 1 - lookups / asks }
      const perDay = predictPerDay(spanMs)
      const asksPerDay = (asks * dayMs) / spanMs
      return {
        ...base,
        spanMs,
        ...(spanMs < hourMs ? { doubt: 'short' as const } : {}),
        lookupsPerDay: Math.round(perDay),
        lookupsPerMonth: Math.round(perDay * 30),
        hitRatio: Math.max(0, 1 - perDay / asksPerDay),
      }
    },
  }

  /**
   * After its TTL everything is looked up again, so a day costs the distinct indicators of one TTL, times the TTLs in a day. A shorter log
   * is extrapolated by Heaps' law: the number of distinct indicators grows with a power of the number of events, which is measured on the
   * first half of the log against the whole.
   */
  function predictPerDay(spanMs: number): number {
    const distinct = seen.size
    if (spanMs >= lifetimeMs) return (lookups * dayMs) / spanMs
    let inFirstHalf = 0
    for (const at of seen.values()) if (at <= events / 2) inFirstHalf++
    const power = inFirstHalf === 0 ? 1 : Math.min(1, Math.max(0, Math.log2(distinct / inFirstHalf)))
    // A memory that is too small loses findings at the same rate as in the log.
    const evicted = lookups / distinct
    return distinct * (lifetimeMs / spanMs) ** power * evicted * (dayMs / lifetimeMs)
  }
}

/** Estimates use at most a year of logs, so times further apart cannot all be event times. */
const doubtOf = (
  first: number | undefined,
  last: number | undefined,
  now: number,
): { readonly doubt?: 'short' | 'future' | 'years'; readonly times?: readonly [string, string] } | undefined => {
  if (first === undefined || last === undefined) return undefined
  const doubt = last > now + dayMs ? 'future' : last - first > 366 * dayMs ? 'years' : undefined
  return doubt && { doubt, times: [new Date(first).toISOString(), new Date(last).toISOString()] }
}

const hourMs = 3_600_000
const dayMs = 86_400_000
