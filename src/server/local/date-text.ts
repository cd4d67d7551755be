// Times of foreign rows in the provider's spelling, `YYYY-MM-DD HH:mm:ss` in UTC.
import { timeText } from '../answer.js'

/** Text, ISO text or epoch seconds or milliseconds; a date alone stays a date, and what is no time becomes "". */
export const timeOrDate = (text: string): string => {
  const trimmed = text.trim()
  if (/^\d{4}-\d{2}-\d{2}$/.test(trimmed)) return trimmed
  if (/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/.test(trimmed)) return trimmed
  if (/^\d{10}$/.test(trimmed)) return timeText(Number(trimmed) * 1000)
  if (/^\d{13}$/.test(trimmed)) return timeText(Number(trimmed))
  if (!/^\d{4}-\d{2}-\d{2}T[\d:.+Z-]{5,24}$/.test(trimmed)) return ''
  const at = Date.parse(trimmed)
  return Number.isNaN(at) ? '' : timeText(at)
}

/** Epoch milliseconds of the provider's spelling. */
export const readTime = (text: string): number | undefined => {
  const at = Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text.replace(' ', 'T')}Z`)
  return Number.isNaN(at) ? undefined : at
}
