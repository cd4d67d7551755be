// Points in time as feeds write them: ISO 8601 with or without zone (taken for UTC), or seconds or milliseconds since 1970.

const iso =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,9})?)?)?\s?(?:Z|UTC|GMT|([+-])(\d\d):?(\d\d))?$/

/** Epoch milliseconds, or nothing when the text is no point in time. */
export const parseTimestamp = (value: unknown): number | undefined => {
  if (typeof value === 'number') return fromNumber(value)
  if (typeof value !== 'string' || value.length > 40) return undefined
  const text = value.trim()
  if (/^\d{9,13}$/.test(text)) return fromNumber(Number(text))
  const found = iso.exec(text)
  if (!found) return undefined
  const part = (group: number): number => Number(found[group] ?? 0)
  if (part(2) < 1 || part(2) > 12 || part(3) < 1 || part(3) > 31) return undefined
  const offset = (part(8) * 60 + part(9)) * 60_000 * (found[7] === '-' ? -1 : 1)
  return Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6)) - offset
}

/** Below this it is seconds: as milliseconds it would lie before March 1973. */
const leastMilliseconds = 1e11

const fromNumber = (value: number): number | undefined => {
  if (!Number.isFinite(value) || value <= 0) return undefined
  return value < leastMilliseconds ? value * 1000 : value
}
