// Converts answers about an address into facts, in any of their shapes. Values that are not in the answer stay absent.
import { isObject } from '../base/json-object.js'
import { parseAddress } from '../domain/address.js'
import { joinDetails } from '../domain/address-details.js'
import type { Facts } from '../domain/finding.js'
import { flags as flagNames, type Flag } from '../domain/flag.js'
import type { AddressPlaces } from '../domain/service-profile.js'
import { parsePath, valuesAt } from './answer-path.js'
import { aboutElse } from './classify.js'
import { countAt, flagAt, newestAt, textsAt, valueAt, valuesOf, type RatingAt } from './fact-at.js'
import { listingsOf } from './listings.js'
import { createDetailsReader } from './read-details.js'
import { flagOf, textOf } from './read-value.js'

const maxCategories = 16

type Writable<T> = { -readonly [key in keyof T]: T[key] }

export type AddressReader = {
  /** For any operation about an address; dates after `now` are ignored. */
  readonly addressFacts: (answer: unknown, now: number) => Facts
  /** Why an answer is not about this normalised address; an answer without an address is accepted. */
  readonly addressMisfit: (ip: string, answer: unknown) => string | undefined
}

export const createAddressReader = (places: AddressPlaces, ratingAt: RatingAt): AddressReader => {
  const subject = valueAt(places.subject)
  const under = places.under === undefined ? undefined : parsePath(places.under)
  const bodyOf = (answer: unknown): unknown => {
    if (under === undefined || subject(answer) !== undefined) return answer
    const [inner] = valuesAt(answer, under)
    return isObject(inner) ? inner : answer
  }
  const flags = flagNames.flatMap((flag) => {
    const at = places.flags[flag]
    return at === undefined ? [] : [[flag, flagAt(at)] as const]
  })
  const accusedBy = flagAt(places.accusedBy)
  const malicious = valuesOf(places.flags.is_malicious)
  const readings = {
    inbound: ratingAt(places.inbound),
    outbound: ratingAt(places.outbound),
    scanningRecords: countAt(places.scanningRecords),
    idsHits: countAt(places.idsHits),
    idsLatest: newestAt(places.idsLatest),
    abuseRecords: countAt(places.abuseRecords),
    listings: valueAt(places.listings),
  }
  const detailsOf = createDetailsReader(places)
  const categories = textsAt(places.categories, { most: maxCategories, maxLength: 48 })

  return {
    addressMisfit: (ip, answer) => {
      const body = bodyOf(answer)
      const about = subject(body)
      if (about !== undefined && (typeof about !== 'string' || parseAddress(about) !== ip)) return aboutElse
      return malicious(body).every(canAcquit) ? undefined : 'is_malicious is neither true nor false'
    },
    addressFacts: (answer, now) => {
      const body = bodyOf(answer)
      const stated: { [flag in Flag]?: boolean } = {}
      for (const [flag, at] of flags) {
        const value = at(body)
        if (value !== undefined) stated[flag] = value
      }
      if (accusedBy(body) === true) stated.is_malicious = true
      const inbound = readings.inbound(body)
      const outbound = readings.outbound(body)
      const scanningRecords = readings.scanningRecords(body)
      const idsHits = readings.idsHits(body)
      const idsLatest = readings.idsLatest(body)
      const abuseRecords = readings.abuseRecords(body)
      const details = detailsOf(body)
      const listings = listingsOf(readings.listings(body))
      return {
        flags: stated,
        categories: categories(body),
        ...(inbound !== undefined && { inbound }),
        ...(outbound !== undefined && { outbound }),
        ...(scanningRecords !== undefined && { scanningRecords }),
        ...(idsHits !== undefined && { idsHits }),
        ...(idsLatest !== undefined && { idsLatest: Math.min(idsLatest, now) }),
        ...(abuseRecords !== undefined && { abuseRecords }),
        ...(details && { details }),
        ...(listings && { listings }),
      }
    },
  }
}

/** Only known shapes can clear an address; any shape can make it malicious. */
const canAcquit = (value: unknown): boolean =>
  typeof value === 'string' ? flagOf(value) === true || textOf(value) === undefined : flagOf(value) !== undefined

/** Merges two answers about one address. */
export const joinFacts = (one: Facts, other: Facts): Facts => {
  const joined: Writable<Facts> = { ...one, ...other }
  const flags: { [flag in Flag]?: boolean } = { ...one.flags }
  for (const flag of flagNames) {
    const value = other.flags[flag]
    if (value !== undefined) flags[flag] = (flags[flag] ?? false) || value
  }
  joined.flags = flags
  joined.categories = [...new Set([...one.categories, ...other.categories])].slice(0, maxCategories)
  for (const name of ['scanningRecords', 'idsHits', 'idsLatest', 'abuseRecords'] as const) {
    const larger = Math.max(one[name] ?? -1, other[name] ?? -1)
    if (larger >= 0) joined[name] = larger
  }
  if (one.details && other.details) joined.details = joinDetails(one.details, other.details)
  return joined
}
