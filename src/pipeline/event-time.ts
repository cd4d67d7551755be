// Finds the time of an event: the first timestamp in its text, in any common format.
// `domain/timestamp.ts` parses a text that is only a time.
import { epochMs } from '../domain/timestamp.js'
import { isDigit, isLetter } from './extract/characters.js'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const headLength = 2048
const [blank, colon] = [0x20, 0x3a] as const

// A time of day has two colons, which are quick to find. The expressions are tried at the first of them and look back for the date.
const hour = String.raw`([0-2]?\d))`
const clock = String.raw`:([0-5]\d):([0-6]\d)(?:(?:[.]|,(?=\d{3}(?:[\sZ\]|+-]|$)))(\d{1,9}))?`
const zone = String.raw`(?: {0,2}(Z|UTC|GMT|[+-](?:0\d|1[0-4])(?::?[0-5]\d)?)(?![\w:-]))?`
const dated = (date: string, behind: string): RegExp => new RegExp(`(?<=${date}${hour}${clock}${behind}`, 'y')

/** A line that begins with seconds since 1970: `1794729615.120    112 10.0.0.71`. */
const epochFirst = /^(?:<\d{1,3}>)?\[?(1\d{9})(?:[.,]?(\d{1,9}))?(?=[\s\],|;])/
/** ISO 8601 and similar (`2026-11-15T08:00:00+0100`, `2026/11/15 08:00:00`, `date=2026-11-15 time=08:00:00`). */
const isoLike = dated(String.raw`\b(20\d\d)[-/]([01]\d)[-/]([0-3]\d)(?:[T\t]|[ "]{1,2}(?:time="?)?)`, zone)
/** `15/Nov/2026:08:00:00 +0000`, as web servers write it; `15-Nov-2026 08:00:00`, `Sun, 15 Nov 2026 08:00:00 +0000`. */
const webLike = dated(String.raw`\b([0-3]?\d)[/ -]([A-Z][a-z]{2})[/ -](20\d\d)[: ]`, zone)
/** `Nov 15 08:00:00`, `Nov 15 2026 08:00:00` and `Nov 15 08:00:00 2026`, as syslog writes it. */
const syslogLike = dated(
  String.raw`\b([A-Z][a-z]{2}) {1,2}([0-3]?\d),? (?:(20\d\d),? )?`,
  String.raw`(?: (?:([A-Z]{3,4}) )?(20\d\d)(?![\w:.-]))?`,
)
/** `15.11.2026 08:00:00`, `11/15/2026 08:00:00 PM`: the day first, or the month. */
const numbered = dated(
  String.raw`(?<![\w./-])([0-3]?\d)\3([0-3]?\d)([./-])((?:20)?\d\d)(?:[ T:,\t]|, )`,
  String.raw`(?: ?([AP]M)\b)?${zone}`,
)
/** Seconds, milliseconds, microseconds or nanoseconds since 1970, alone as a number. */
const epoch = /(?:^|[^\d.\w-])(1[0-9]{9})(?:\.(\d{1,9})|(\d{3}|\d{6}|\d{9}))?(?![\d\w-])/
/** Seconds since 1970 in exponential notation: `1.794729615E9`. */
const exponential = /(?:^|[^\d.\w-])(1\.\d{3,18})[eE]\+?(?:9|12|15|18)(?![\d.])/
/** `tz="+0200"`, `"timezone":"+02:00"`. */
const namedZone = /\b(?:tz|time_?zone)["']?[=:]\s?["']?(?:UTC|GMT)?([+-]\d\d:?\d\d)/i

/** Epoch milliseconds. A time without a zone is UTC; a date without a year, or an ambiguous one, is the latest that is not after `now`. */
export const eventTime = (text: string, now: number): number | undefined => {
  const head = text.length > headLength ? text.slice(0, headLength) : text
  const begin = head.charCodeAt(0)
  const first = begin === 0x31 || begin === 0x3c || begin === 0x5b ? epochFirst.exec(head) : null
  if (first) return sinceEpoch(first[1], first[2])
  let web: RegExpExecArray | null = null
  let syslog: RegExpExecArray | null = null
  let other: RegExpExecArray | null = null
  for (let at = clockFrom(head, 0); at >= 0; at = clockFrom(head, at + 1)) {
    const hourAt = isDigit(head.charCodeAt(at - 2)) ? at - 2 : at - 1
    // `Nov 15 08:00:00` has a blank or a digit where the others have a separator.
    const isNamed = head.charCodeAt(hourAt - 1) === blank && !isSeparator(head.charCodeAt(hourAt - 4))
    const iso = isNamed && !isOpen(head.charCodeAt(hourAt - 2)) ? null : matchAt(isoLike, head, at)
    if (iso) return timeOf(Number(iso[1]), Number(iso[2]), Number(iso[3]), iso, 4, zoneIn(head, iso[8]))
    if (isLetter(head.charCodeAt(hourAt - 7))) web ??= matchAt(webLike, head, at)
    if (isNamed) syslog ??= matchAt(syslogLike, head, at)
    if (!isNamed || isSeparator(head.charCodeAt(hourAt - 6)) || isOpen(head.charCodeAt(hourAt - 2)))
      other ??= matchAt(numbered, head, at)
  }
  const month = web ? monthOf(web[2]) : 0
  if (web && month > 0) return timeOf(Number(web[3]), month, Number(web[1]), web, 4, zoneIn(head, web[8]))
  return (syslog && syslogTime(head, syslog, now)) ?? (other && numberedTime(head, other, now)) ?? epochIn(head)
}

/** The first colon of a time of day at or after `from`; -1 without one. */
const clockFrom = (head: string, from: number): number => {
  for (let at = head.indexOf(':', from); at >= 0; at = head.indexOf(':', at + 1))
    if (
      head.charCodeAt(at + 3) === colon &&
      isDigit(head.charCodeAt(at - 1)) &&
      isDigit(head.charCodeAt(at + 1)) &&
      isDigit(head.charCodeAt(at + 4))
    )
      return at
  return -1
}

const matchAt = (expression: RegExp, text: string, at: number): RegExpExecArray | null => {
  expression.lastIndex = at
  return expression.exec(text)
}

/** Between the parts of a date. */
const isSeparator = (code: number): boolean => code >= 0x2d && code <= 0x2f
/** Characters that may stand between a date and the blank before its time. */
const isOpen = (code: number): boolean => code === blank || code === 0x22 || code === 0x2c

const zoneIn = (head: string, given: string | undefined): string | undefined =>
  given ?? (head.includes('z') || head.includes('Z') ? namedZone.exec(head)?.[1] : undefined)

const syslogTime = (head: string, found: RegExpExecArray, now: number): number | undefined => {
  const month = monthOf(found[1])
  if (month === 0) return undefined
  const own = zoneIn(head, undefined)
  const at = (year: number): number | undefined => timeOf(year, month, Number(found[2]), found, 4, own)
  const year = found[3] ?? found[9]
  if (year !== undefined) return at(Number(year))
  const thisYear = new Date(now).getUTCFullYear()
  const time = at(thisYear)
  return time !== undefined && time > now + dayMs ? at(thisYear - 1) : time
}

const numberedTime = (head: string, found: RegExpExecArray, now: number): number | undefined => {
  const [one, other, year] = [Number(found[1]), Number(found[2]), 2000 + Number(found[4]?.slice(-2))]
  const own = zoneIn(head, found[10])
  const at = (day: number, month: number): number | undefined => timeOf(year, month, day, found, 5, own)
  // With full stops the day is always first.
  if (found[3] === '.') return at(one, other)
  const [dayFirst, monthFirst] = [at(one, other), at(other, one)]
  if (dayFirst === undefined || monthFirst === undefined) return dayFirst ?? monthFirst
  const [early, late] = [Math.min(dayFirst, monthFirst), Math.max(dayFirst, monthFirst)]
  return late <= now + dayMs ? late : early
}

const epochIn = (head: string): number | undefined => {
  const found = epoch.exec(head)
  if (found) return sinceEpoch(found[1], found[2] ?? found[3])
  const digits = exponential.exec(head)?.[1]
  return digits === undefined ? undefined : Math.floor(Number(digits) * 1e12)
}

const sinceEpoch = (seconds = '', fraction: string | undefined): number => Number(seconds) * 1000 + msOf(fraction)

/** `clockAt`: the group of the hour; minute, second and the fraction of a second follow it. */
const timeOf = (
  year: number,
  month: number,
  day: number,
  found: RegExpExecArray,
  clockAt: number,
  given: string | undefined,
): number | undefined => {
  const half = clockAt === 5 ? found[9] : undefined
  const hours = half === undefined ? Number(found[clockAt]) : (Number(found[clockAt]) % 12) + (half === 'PM' ? 12 : 0)
  const seconds = epochMs(
    [year, month, day, hours, Number(found[clockAt + 1]), Number(found[clockAt + 2])],
    given?.length === 3 && given !== 'UTC' && given !== 'GMT' ? `${given}00` : given,
  )
  return seconds === undefined ? undefined : seconds + msOf(found[clockAt + 3])
}

const msOf = (fraction: string | undefined): number =>
  fraction === undefined ? 0 : Math.floor(Number(`0.${fraction}`) * 1000 + 1e-6)

const dayMs = 86_400_000

/** From 1; 0 if it is not a month. */
const monthOf = (name = ''): number => months.indexOf(name.toLowerCase()) + 1
