// Parses timestamps: ISO 8601 (UTC if it has no zone), or seconds or milliseconds since 1970.

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?$/

/** Epoch milliseconds of an ISO 8601 text; undefined if it is not one. */
export const parseIsoTime = (text: string): number | undefined => {
  const [whole, year, month, day, hour = 0, minute = 0, second = 0, fraction = 0, zone] =
    text.length > 40 ? [] : (iso.exec(text) ?? [])
  if (whole === undefined) return undefined
  const seconds = epochMs([year, month, day, hour, minute, second], zone)
  return seconds === undefined ? undefined : seconds + Math.floor(Number(fraction) * 1000)
}

/** Also accepts a number or its digits, as feeds and answers have them. Fractions of a second in text are dropped. */
export const parseTimestamp = (value: unknown): number | undefined => {
  if (typeof value === 'number') return fromNumber(value)
  const text = typeof value === 'string' && value.length <= 40 ? value.trim() : ''
  if (/^\d{9,13}(?:\.\d+)?$/.test(text)) return fromNumber(Number(text))
  const time = parseIsoTime(text)
  return time === undefined ? undefined : Math.floor(time / 1000) * 1000
}

/** Between 1973 and 2286 the size of a number distinguishes seconds from milliseconds; others are identifiers, or dates such as 20261115083005. */
const fromNumber = (value: number): number | undefined => {
  if (!(value >= 1e8 && value < 1e13)) return undefined
  return Math.floor(value < 1e11 ? value * 1000 : value)
}

/** Year, month from 1, day, hour, minute and second. */
type Parts = readonly (string | number | undefined)[]

/** Epoch milliseconds of a date and time; undefined if a part is out of range. The zone is like `Z` or `+0100`; none means UTC. */
export const epochMs = (parts: Parts, zone: string | undefined): number | undefined => {
  const [year, month, day] = [Number(parts[0]), Number(parts[1]), Number(parts[2])]
  const [hour, minute, second] = [Number(parts[3]), Number(parts[4]), Number(parts[5])]
  // 24:00 and the leap second 60 are valid and roll over to the next moment.
  const isOne = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 24 && minute <= 59 && second <= 60
  return isOne ? Date.UTC(year, month - 1, day, hour, minute, second) - offsetMs(zone) : undefined
}

const offsetMs = (zone = ''): number => {
  if (!zone.startsWith('+') && !zone.startsWith('-')) return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}
