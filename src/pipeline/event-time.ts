// When an event happened, by the first time that is in it, whatever product wrote it: a search in a text, where `domain/timestamp.ts` reads a text that is a time.
import { epochMs } from '../domain/timestamp.js'

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const headLength = 2048

/** ISO 8601 and its kin (`2026-11-15T08:00:00+0100`, `2026/11/15 08:00:00`, `date=2026-11-15 time=08:00:00`). */
const isoLike =
  /\b(20\d\d)[-/]([01]\d)[-/]([0-3]\d)(?:T|[ "]{1,2}(?:time="?)?)([0-2]\d):([0-5]\d):([0-6]\d)(?:[.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?/
/** `15/Nov/2026:08:00:00 +0000`, as web servers write it. */
const webLike = /\b([0-3]\d)\/([A-Z][a-z]{2})\/(20\d\d):([0-2]\d):([0-5]\d):([0-6]\d)(?: ([+-]\d{4}))?/
/** `Nov 15 08:00:00` and `Nov 15 2026 08:00:00`, as syslog writes it. */
const syslogLike = /\b([A-Z][a-z]{2}) {1,2}([0-3]?\d) (?:(20\d\d) )?([0-2]\d):([0-5]\d):([0-6]\d)\b/
/** Seconds, milliseconds, microseconds or nanoseconds since 1970, alone as a number. */
const epoch = /(?:^|[^\d.\w-])(1[0-9]{9})(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?(?![\d\w-])/

/** Epoch milliseconds, or nothing. A time without a zone is read as UTC, one without a year as the latest that is not ahead of `now`. */
export const eventTime = (text: string, now: number): number | undefined => {
  const head = text.length > headLength ? text.slice(0, headLength) : text
  const iso = isoLike.exec(head)
  if (iso) return epochMs(iso.slice(1, 7), iso[7])
  const web = webLike.exec(head)
  if (web) return epochMs([web[3], monthOf(web[2]), web[1], ...web.slice(4, 7)], web[7])
  const syslog = syslogLike.exec(head)
  if (syslog && monthOf(syslog[1]) > 0) {
    const at = (year: number | string): number | undefined =>
      epochMs([year, monthOf(syslog[1]), syslog[2], ...syslog.slice(4, 7)], undefined)
    if (syslog[3] !== undefined) return at(syslog[3])
    const year = new Date(now).getUTCFullYear()
    return (at(year) ?? 0) > now + dayMs ? at(year - 1) : at(year)
  }
  const seconds = epoch.exec(head)
  return seconds ? Number(seconds[1]) * 1000 : undefined
}

const dayMs = 86_400_000

/** From 1; 0 where it is none. */
const monthOf = (name = ''): number => months.indexOf(name.toLowerCase()) + 1
