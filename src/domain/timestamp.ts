// Points in time as others write them: ISO 8601 with or without zone (taken for UTC), or seconds or milliseconds since 1970.

const iso = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?\s?(Z|UTC|GMT|[+-]\d\d:?\d\d)?$/

/** Epoch milliseconds of ISO 8601, or nothing when the text is no point in time. */
export const parseIsoTime = (text: string): number | undefined => {
  const [whole, year, month, day, hour = 0, minute = 0, second = 0, fraction = 0, zone] =
    text.length > 40 ? [] : (iso.exec(text) ?? [])
  if (whole === undefined) return undefined
  const seconds = epochMs([year, month, day, hour, minute, second], zone)
  return seconds === undefined ? undefined : seconds + Math.floor(Number(fraction) * 1000)
}

/** The same of what a feed or an answer holds: also a number or its digits. Fractions of a second in text are not kept. */
export const parseTimestamp = (value: unknown): number | undefined => {
  if (typeof value === 'number') return fromNumber(value)
  const text = typeof value === 'string' && value.length <= 40 ? value.trim() : ''
  if (/^\d{9,13}(?:\.\d+)?$/.test(text)) return fromNumber(Number(text))
  const time = parseIsoTime(text)
  return time === undefined ? undefined : Math.floor(time / 1000) * 1000
}

/** From 1973 to 2286 it is clear whether a number counts seconds or milliseconds; others are identifiers, or dates such as 20261115083005. */
const fromNumber = (value: number): number | undefined => {
  if (!(value >= 1e8 && value < 1e13)) return undefined
  return Math.floor(value < 1e11 ? value * 1000 : value)
}

/** Year, month from 1, day, hour, minute and second. */
type Parts = readonly (string | number | undefined)[]

/** Epoch milliseconds of a date and time; nothing where one of the parts is out of its range. The zone is `Z` or such as `+0100`; none is UTC. */
export const epochMs = (parts: Parts, zone: string | undefined): number | undefined => {
  const [year, month, day] = [Number(parts[0]), Number(parts[1]), Number(parts[2])]
  const [hour, minute, second] = [Number(parts[3]), Number(parts[4]), Number(parts[5])]
  // 24:00 ends a day, and second 60 is a leap second; both are the moment after.
  const isOne = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour <= 24 && minute <= 59 && second <= 60
  return isOne ? Date.UTC(year, month - 1, day, hour, minute, second) - offsetMs(zone) : undefined
}

const offsetMs = (zone = ''): number => {
  if (!zone.startsWith('+') && !zone.startsWith('-')) return 0
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(-2))
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000
}
