// When an event happened, by the first time that stands in it, whatever product wrote it.

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
  if (iso) return utc(iso[1], Number(iso[2]) - 1, iso[3], iso[4], iso[5], iso[6]) - zoneMs(iso[7])
  const web = webLike.exec(head)
  if (web) return utc(web[3], monthOf(web[2]), web[1], web[4], web[5], web[6]) - zoneMs(web[7])
  const syslog = syslogLike.exec(head)
  if (syslog && monthOf(syslog[1]) >= 0) {
    const at = (year: number | string): number =>
      utc(String(year), monthOf(syslog[1]), syslog[2], syslog[4], syslog[5], syslog[6])
    if (syslog[3] !== undefined) return at(syslog[3])
    const year = new Date(now).getUTCFullYear()
    return at(year) > now + dayMs ? at(year - 1) : at(year)
  }
  const seconds = epoch.exec(head)
  return seconds ? Number(seconds[1]) * 1000 : undefined
}

const dayMs = 86_400_000

const monthOf = (name: string | undefined): number => months.indexOf((name ?? '').toLowerCase())

const utc = (
  year: string | undefined,
  month: number,
  day: string | undefined,
  hour: string | undefined,
  minute: string | undefined,
  second: string | undefined,
): number => Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute), Number(second))

const zoneMs = (zone: string | undefined): number => {
  if (zone === undefined || zone === 'Z') return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}
