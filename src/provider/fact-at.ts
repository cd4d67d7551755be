// Reads one fact from its possible paths in an answer: a flag, a rating, a count, a time, texts.
import { ratings, type Rating } from '../domain/finding.js'
import type { Places, RatingPlace, RatingPlaces, ServiceProfile } from '../domain/service-profile.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { parsePath, valuesAt } from './answer-path.js'
import { collectionOf, flagOf, numberOf, textOf, wholeNumber } from './read-value.js'

export type At<Value> = (answer: unknown) => Value | undefined

/** Every value of every place, in order. */
export const valuesOf = (places: Places | undefined): ((answer: unknown) => readonly unknown[]) => {
  const paths = (places === undefined ? [] : typeof places === 'string' ? [places] : places).map(parsePath)
  const [only] = paths
  if (only && paths.length === 1) return (answer) => valuesAt(answer, only)
  return (answer) => paths.flatMap((path) => valuesAt(answer, path))
}

/** The first path with a usable value. */
const first = <Value>(places: Places | undefined, read: (value: unknown) => Value | undefined): At<Value> => {
  const values = valuesOf(places)
  return (answer) => {
    for (const value of values(answer)) {
      const found = read(value)
      if (found !== undefined) return found
    }
    return undefined
  }
}

export const valueAt = (places: Places | undefined): At<unknown> => first(places, (value) => value)
export const textAt = (places: Places | undefined, maxLength: number): At<string> =>
  first(places, (value) => textOf(value, maxLength))
export const numberAt = (places: Places | undefined): At<number> => first(places, numberOf)
export const timeAt = (places: Places | undefined): At<number> => first(places, parseTimestamp)

/** True wins if two paths disagree. */
export const flagAt = (places: Places | undefined): At<boolean> => {
  const values = valuesOf(places)
  return (answer) => {
    let stated: boolean | undefined
    for (const value of values(answer)) {
      const flag = flagOf(value)
      if (flag !== undefined) stated = (stated ?? false) || flag
    }
    return stated
  }
}

const largest = (places: Places | undefined, read: (value: unknown) => number | undefined): At<number> => {
  const values = valuesOf(places)
  return (answer) => {
    let most: number | undefined
    for (const value of values(answer)) {
      const number = read(value)
      if (number !== undefined && (most === undefined || number > most)) most = number
    }
    return most
  }
}

/** A number, a list, or an object with `count` and `data`. */
export const countAt = (places: Places | undefined): At<number> =>
  largest(places, (value) => wholeNumber(value) ?? (Array.isArray(value) ? value.length : collectionOf(value).count))
export const newestAt = (places: Places | undefined): At<number> => largest(places, parseTimestamp)

export const textsAt = (
  places: Places | undefined,
  { most, maxLength }: { readonly most: number; readonly maxLength: number },
): ((answer: unknown) => string[]) => {
  const values = valuesOf(places)
  return (answer) => {
    const texts = new Set<string>()
    for (const value of values(answer)) {
      const text = texts.size < most ? textOf(value, maxLength) : undefined
      if (text !== undefined) texts.add(text)
    }
    return [...texts]
  }
}

export type RatingAt = (places: RatingPlaces | undefined) => At<Rating>

/** An absent or unknown value is no rating, never `safe`. */
export const createRatingAt = (words: ServiceProfile['ratings']): RatingAt => {
  const ratingOfWord = new Map(ratings.flatMap((rating) => words[rating].map((word) => [word, rating] as const)))
  const ratingOf = (value: unknown, scale: 'from1' | 'from0' | 'percent' | undefined): Rating | undefined => {
    const word = textOf(value, 32)?.toLowerCase()
    const known = word === undefined ? undefined : ratingOfWord.get(word)
    if (known !== undefined) return known
    const isPercentage = word?.endsWith('%') === true
    const number = numberOf(isPercentage ? word.slice(0, -1) : value)
    if (number === undefined) return undefined
    if (isPercentage || scale === 'percent') return percentRating(number)
    if (scale === undefined || !Number.isInteger(number)) return undefined
    return ratings[scale === 'from1' ? number - 1 : number]
  }
  return (places) => {
    const all = places === undefined ? [] : isList(places) ? places : [places]
    const readers = all.map((place) => {
      const { path, scale } = typeof place === 'string' ? { path: place, scale: undefined } : place
      return first(path, (value) => ratingOf(value, scale))
    })
    return (answer) => {
      for (const read of readers) {
        const rating = read(answer)
        if (rating !== undefined) return rating
      }
      return undefined
    }
  }
}

const isList = (places: RatingPlaces): places is readonly RatingPlace[] => Array.isArray(places)

const percentRating = (percent: number): Rating | undefined => {
  if (percent < 0 || percent > 100) return undefined
  if (percent <= 20) return 'safe'
  if (percent <= 40) return 'low'
  if (percent <= 60) return 'moderate'
  return percent <= 80 ? 'dangerous' : 'critical'
}
