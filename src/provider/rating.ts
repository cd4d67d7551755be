// The five ratings in all their spellings: words in any case, 1 to 5 for an address, 0 to 4 or a percentage for a domain.
import { ratings, type Rating } from '../domain/finding.js'
import { numberOf, textOf } from './read-value.js'

const wordOf = (value: unknown): Rating | undefined => {
  const text = textOf(value, 16)?.toLowerCase()
  return ratings.find((rating) => rating === text)
}

/** Absent or not understood is no rating at all, never `safe`. */
export const addressRating = (value: unknown): Rating | undefined => {
  const number = numberOf(value)
  return number === undefined ? wordOf(value) : Number.isInteger(number) ? ratings[number - 1] : undefined
}

const percentRating = (percent: number): Rating | undefined => {
  if (percent < 0 || percent > 100) return undefined
  if (percent <= 20) return 'safe'
  if (percent <= 40) return 'low'
  if (percent <= 60) return 'moderate'
  return percent <= 80 ? 'dangerous' : 'critical'
}

/** Of a row of reports: a word, or a percentage as text. */
export const reportRating = (value: unknown): Rating | undefined => {
  const word = wordOf(value)
  if (word !== undefined || typeof value !== 'string' || !value.trim().endsWith('%')) return word
  const percent = numberOf(value.trim().slice(0, -1))
  return percent === undefined ? undefined : percentRating(percent)
}

export const domainRating = (score: unknown, percentage: unknown, number: unknown): Rating | undefined => {
  const word = reportRating(score)
  if (word !== undefined) return word
  const percent = numberOf(typeof percentage === 'string' ? percentage.replace('%', '') : percentage)
  if (percent !== undefined) return percentRating(percent)
  const step = numberOf(number)
  return step !== undefined && Number.isInteger(step) ? ratings[step] : undefined
}
