// When an event happened, by the first time that is in it, whatever product wrote it: a search in a text, where `domain/timestamp.ts` reads a text that is a time.
import { epochMs } from '../domain/timestamp.js'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const headLength = 2048

const clock = String.raw`([0-2]?\d):([0-5]\d):([0-6]\d)(?:(?:[.]|,(?=\d{3}(?:[\sZ\]|+-]|$)))(\d{1,9}))?`
const zone = String.raw`(?: {0,2}(Z|UTC|GMT|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)(?![\w:-]))?`

/** A line that begins with seconds since 1970: `1794729615.120    112 10.0.0.71`. */
const epochFirst = /^(?:<\d{1,3}>)?\[?(1\d{9})(?:[.,]?(\d{1,9}))?(?=[\s\],|;])/
/** ISO 8601 and its kin (`2026-11-15T08:00:00+0100`, `2026/11/15 08:00:00`, `date=2026-11-15 time=08:00:00`). */
const isoLike = new RegExp(
  String.raw`\b(20\d\d)[-/]([01]\d)[-/]([0-3]\d)(?:[T\t]|[ "]{1,2}(?:time="?)?)${clock}${zone}`,
)
/** `15/Nov/2026:08:00:00 +0000`, as web servers write it; `15-Nov-2026 08:00:00`, `Sun, 15 Nov 2026 08:00:00 +0000`. */
const webLike = new RegExp(String.raw`\b([0-3]?\d)[/ -]([A-Z][a-z]{2})[/ -](20\d\d)[: ]${clock}${zone}`)
/** `Nov 15 08:00:00`, `Nov 15 2026 08:00:00` and `Nov 15 08:00:00 2026`, as syslog writes it. */
const syslogLike = new RegExp(
  String.raw`\b([A-Z][a-z]{2}) {1,2}([0-3]?\d),? (?:(20\d\d),? )?${clock}(?: (?:([A-Z]{3,4}) )?(20\d\d)(?![\w:.-]))?`,
)
/** `15.11.2026 08:00:00`, `11/15/2026 08:00:00 PM`: the day first, or the month. */
const numbered = new RegExp(
  String.raw`(?<![\w./-])([0-3]?\d)([./-])([0-3]?\d)\2((?:20)?\d\d)(?:[ T:,\t]|, )${clock}(?: ?([AP]M)\b)?${zone}`,
)
/** Seconds, milliseconds, microseconds or nanoseconds since 1970, alone as a number. */
const epoch = /(?:^|[^\d.\w-])(1[0-9]{9})(?:\.(\d{1,9})|(\d{3}|\d{6}|\d{9}))?(?![\d\w-])/
/** The same as some write large numbers in JSON: `1.794729615E9`. */
const exponential = /(?:^|[^\d.\w-])(1\.\d{3,18})[eE]\+?(?:9|12|15|18)(?![\d.])/
/** `tz="+0200"`, `"timezone":"+02:00"`. */
const namedZone = /\b(?:tz|time_?zone)["']?[=:]\s?["']?(?:UTC|GMT)?([+-]\d\d:?\d\d)/i

/** Epoch milliseconds, or nothing. A time without a zone is read as UTC; a date without a year, or that could be two, as the latest that is not ahead of `now`. */
export const eventTime = (text: string, now: number): number | undefined => {
  const head = text.length > headLength ? text.slice(0, headLength) : text
  const first = epochFirst.exec(head)
  if (first) return sinceEpoch(first[1], first[2])
  const zoneOf = (own: string | undefined): string | undefined => own ?? namedZone.exec(head)?.[1]
  const iso = isoLike.exec(head)
  if (iso) return timeOf(iso.slice(1, 4), iso.slice(4, 8), zoneOf(iso[8]))
  const web = webLike.exec(head)
  const month = web ? monthOf(web[2]) : 0
  if (web && month > 0) return timeOf([web[3], month, web[1]], web.slice(4, 8), zoneOf(web[8]))
  return syslogTime(head, now, zoneOf) ?? numberedTime(head, now, zoneOf) ?? epochIn(head)
}

type ZoneOf = (own: string | undefined) => string | undefined

const syslogTime = (head: string, now: number, zoneOf: ZoneOf): number | undefined => {
  const found = syslogLike.exec(head)
  const month = monthOf(found?.[1])
  if (!found || month === 0) return undefined
  const at = (year: number | string): number | undefined =>
    timeOf([year, month, found[2]], found.slice(4, 8), zoneOf(undefined))
  const year = found[3] ?? found[9]
  if (year !== undefined) return at(year)
  const thisYear = new Date(now).getUTCFullYear()
  return latest([at(thisYear), at(thisYear - 1)], now)
}

const numberedTime = (head: string, now: number, zoneOf: ZoneOf): number | undefined => {
  const found = numbered.exec(head)
  if (!found) return undefined
  const [, one, separator, other, year = '', hour, minute, second, fraction, half, own] = found
  const hours = half === undefined ? hour : (Number(hour) % 12) + (half === 'PM' ? 12 : 0)
  const at = (day: string | undefined, month: string | undefined): number | undefined =>
    timeOf([year.slice(-2).padStart(4, '20'), month, day], [hours, minute, second, fraction], zoneOf(own))
  // With full stops the day is always first.
  return separator === '.' ? at(one, other) : latest([at(one, other), at(other, one)], now)
}

const epochIn = (head: string): number | undefined => {
  const found = epoch.exec(head)
  if (found) return sinceEpoch(found[1], found[2] ?? found[3])
  const digits = exponential.exec(head)?.[1]
  return digits === undefined ? undefined : Math.floor(Number(digits) * 1e12)
}

const sinceEpoch = (seconds = '', fraction: string | undefined): number => Number(seconds) * 1000 + msOf(fraction)

/** The latest that is not ahead of `now`; else the nearest. */
const latest = (times: readonly (number | undefined)[], now: number): number | undefined => {
  const known = times.flatMap((time) => time ?? [])
  const past = known.filter((time) => time <= now + dayMs)
  return past.length > 0 ? Math.max(...past) : known.length > 0 ? Math.min(...known) : undefined
}

type Part = string | number | undefined

const timeOf = (
  date: readonly Part[],
  [hour, minute, second, fraction]: readonly Part[],
  own: string | undefined,
): number | undefined => {
  const seconds = epochMs(
    [...date, hour, minute, second],
    own?.length === 3 && own !== 'UTC' && own !== 'GMT' ? `${own}00` : own,
  )
  return seconds === undefined ? undefined : seconds + msOf(fraction)
}

const msOf = (fraction: Part): number =>
  fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000 + 1e-6)

const dayMs = 86_400_000

/** From 1; 0 where it is none. */
const monthOf = (name = ''): number => months.indexOf(name.toLowerCase()) + 1
