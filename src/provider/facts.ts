// Answers about an address become facts: what is said is kept, what is not said stays absent, whatever shape it comes in.
import { isObject, type AnyObject } from '../base/json-object.js'
import { parseAddress } from '../domain/address.js'
import type { Facts } from '../domain/finding.js'
import { flags as flagNames, type Flag } from '../domain/flag.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { listingsOf } from './listings.js'
import { addressRating } from './rating.js'
import { collectionOf, wholeNumber, flagOf, member, numberOf, textOf } from './read-value.js'

const maxCategories = 16

type Writable<T> = { -readonly [key in keyof T]: T[key] }

/** The members of an address answer: at the top, or under `data` where `ip` is not at the top. */
const addressBody = (answer: unknown): AnyObject => {
  const inner = member(answer, 'data')
  if (member(answer, 'ip') === undefined && isObject(inner)) return inner
  return isObject(answer) ? answer : {}
}

/** Whether an answer is about the address in this normal form; one that names no address is. */
export const isAboutAddress = (ip: string, answer: unknown): boolean => {
  const about = addressBody(answer).ip
  return about === undefined || about === null || (typeof about === 'string' && parseAddress(about) === ip)
}

/** Of any of the eight address operations; `now` bounds dates from the future. */
export const addressFacts = (answer: unknown, now: number): Facts => {
  const body = addressBody(answer)
  const facts: Writable<Facts> = { flags: flagsOf(body), categories: categoriesOf(body) }
  const score = member(body, 'score')
  const inbound = addressRating(member(score, 'inbound'))
  const outbound = addressRating(member(score, 'outbound'))
  if (inbound !== undefined) facts.inbound = inbound
  if (outbound !== undefined) facts.outbound = outbound

  // An old answer calls the records of scanning what its sensors are: honeypots.
  const scanning = total(collectionOf(body.scanning_record).count, collectionOf(body.honeypot).count)
  if (scanning !== undefined) facts.scanningRecords = scanning
  const ids = collectionOf(body.ids)
  if (ids.count !== undefined) facts.idsHits = ids.count
  const latest = newest(ids.rows, 'confirmed_time', now)
  if (latest !== undefined) facts.idsLatest = latest
  const abuse = wholeNumber(body.abuse_record_count)
  if (abuse !== undefined) facts.abuseRecords = abuse
  const vulnerabilities = collectionOf(body.vulnerability).count
  if (vulnerabilities !== undefined) facts.vulnerabilities = vulnerabilities
  const open = openPorts(body)
  if (open !== undefined) facts.openPorts = open
  const listings = listingsOf(body.listings)
  if (listings !== undefined) facts.listings = listings
  return facts
}

const flagsOf = (body: AnyObject): Facts['flags'] => {
  const found: { [flag in Flag]?: boolean } = {}
  for (const flag of flagNames)
    for (const place of [body, body.issues, body.tags]) {
      const value = flagOf(member(place, flag))
      // Where two places disagree, the accusation stands.
      if (value !== undefined) found[flag] = (found[flag] ?? false) || value
    }
  if (flagOf(member(body.reason, 'is_malicious_ip')) === true) found.is_malicious = true
  return found
}

const categoriesOf = (body: AnyObject): string[] => {
  const rows = [...collectionOf(body.ip_category).rows, ...collectionOf(member(body.vpn_info, 'ip_category')).rows]
  const names = new Set<string>()
  for (const row of rows) {
    const name = textOf(row.type ?? row.detect_type, 48)
    if (name !== undefined && names.size < maxCategories) names.add(name)
  }
  return [...names]
}

/** Ports are listed once for every scan of them: the latest scan of each says whether it is open. */
const openPorts = (body: AnyObject): number | undefined => {
  const current = collectionOf(body.current_opened_port ?? body.open_port)
  if (current.count !== undefined) return current.count
  const ports = collectionOf(body.port)
  if (ports.count === undefined) return undefined
  const latest = new Map<string, { at: number; open: boolean }>()
  for (const row of ports.rows) {
    const key = `${numberOf(row.open_port_no) ?? ''}/${textOf(row.socket, 8)?.toLowerCase() ?? ''}`
    const at = parseTimestamp(row.confirmed_time) ?? 0
    const known = latest.get(key)
    if (!known || at >= known.at) latest.set(key, { at, open: textOf(row.port_status, 8)?.toLowerCase() !== 'closed' })
  }
  return [...latest.values()].filter(({ open }) => open).length
}

const total = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined ? other : one + (other ?? 0)

const newest = (rows: readonly AnyObject[], name: string, now: number): number | undefined => {
  let best: number | undefined
  for (const row of rows) {
    const at = parseTimestamp(row[name])
    if (at !== undefined && (best === undefined || at > best)) best = at
  }
  return best === undefined ? undefined : Math.min(best, now)
}

/** What two answers about one address say together. */
export const joinFacts = (one: Facts, other: Facts): Facts => {
  const joined: Writable<Facts> = { ...one, ...other }
  const flags: { [flag in Flag]?: boolean } = { ...one.flags }
  for (const flag of flagNames) {
    const value = other.flags[flag]
    if (value !== undefined) flags[flag] = (flags[flag] ?? false) || value
  }
  joined.flags = flags
  joined.categories = [...new Set([...one.categories, ...other.categories])].slice(0, maxCategories)
  for (const name of [
    'scanningRecords',
    'idsHits',
    'idsLatest',
    'abuseRecords',
    'vulnerabilities',
    'openPorts',
  ] as const) {
    const larger = Math.max(one[name] ?? -1, other[name] ?? -1)
    if (larger >= 0) joined[name] = larger
  }
  return joined
}
