// One indicator on one day in one input partition as a record of the sightings topic, and back.
import { parseAddress } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { roles } from '../domain/sighting.js'
import { parseObject } from '../base/json-object.js'
import { lowestPorts, maxPeers, maxPorts } from './day-table.js'
import { batchLimits } from '../pipeline/batch/cut-batch.js'
import { extractLimits } from '../pipeline/extract/extract.js'
import { dayMs, type SeenOnDay } from './seen.js'
import type { TopicOf } from './sightings-topic.js'
import { kindBits, kindsOfTraffic } from './kinds.js'
import { trafficBits, unknownTraffic } from './traffic.js'
import type { Outgoing } from '../kafka/records.js'

/** `partition` is `topic/number`. */
type CountRecord = { readonly partition: string; readonly seen: SeenOnDay }

export const countKey = (partition: string, { day, indicator }: Pick<SeenOnDay, 'day' | 'indicator'>): string =>
  `${partition}/${dateOf(day)}/${indicator.value}`

/** Under this key is the offset up to which the counts of a partition hold. */
export const countedKey = (partition: string): string => `${partition}/counted`

/** Under a key that begins so is where an owner of a partition began to count: until counts are written, the next owner needs it. */
export const beganKey = (partition: string): string => `${partition}/began/`

/**
 * Under a key that begins so is what was delivered as malicious or suspicious in one chunk, or what answers that came later accuse. Whoever reads its events again, before they are
 * in the counts, may judge otherwise.
 */
export const accusedKey = (partition: string): string => `${partition}/accused/`

/** Written out: thousands are made at a time, and dates and objects take twice as long. */
export const countValue = (seen: SeenOnDay): Buffer => {
  const { day, count, first, last, firstOffset, lastOffset, peers, otherSightings, unalerted, pending } = seen
  const { ports = [] } = seen
  const date = dateOf(day)
  let text = `{"schema_version":1,"count":${count},"first_seen":"${timeIn(date, first)}","last_seen":"${timeIn(date, last)}"`
  text += `,"first_offset":${firstOffset},"last_offset":${lastOffset}`
  if (peers.length > 0) text += `,"peers":${JSON.stringify(peers)}`
  if (otherSightings > 0) text += `,"other_sightings":${otherSightings}`
  // Roles in which it was delivered as clean or unknown, and in which its answer had not arrived, as bits.
  if (unalerted > 0) text += `,"unalerted":${unalerted}`
  if (pending > 0) text += `,"pending":${pending}`
  if (ports.length > 0) text += `,"ports":${JSON.stringify(ports)}`
  // Directions and actions of its events, and what it was in them, as bits.
  return Buffer.from(`${text},"traffic":${seen.traffic},"kinds":${seen.kinds}}`)
}

export const countedValue = (offset: number): Buffer => Buffer.from(JSON.stringify({ schema_version: 1, offset }))

/** Stands for everything that a record shows and that is accused: one can name thousands below one listed name. */
export const everyAccused = '*'
const maxAccusedValues = 64
const maxAccusedBytes = 131_072

/** The indicators of one record that were delivered as malicious or suspicious. */
export type Accused = { readonly offset: number; readonly values: readonly string[] }

export const accusedValue = (accused: readonly Accused[]): Buffer => {
  const valueOf = (max: number): Buffer => {
    const events = accused.map(({ offset, values }) => [offset, ...(values.length > max ? [everyAccused] : values)])
    return Buffer.from(JSON.stringify({ schema_version: 1, events }))
  }
  const value = valueOf(maxAccusedValues)
  return value.length > maxAccusedBytes ? valueOf(0) : value
}

const keyForm = /^(.+\/\d+)\/(\d{4}-\d{2}-\d{2})\/([^/]+)$/
/** More than a topic, a partition, a day and a name have, and more than sixteen hosts and some numbers. */
const maxKeyLength = 1_024
const maxValueBytes = 8_192

/** What a key is about; undefined for other records of the topic. */
export const readCountKey = (
  key: string,
): { readonly partition: string; readonly day: number; readonly value: string } | undefined => {
  const [, partition, date, value] = (key.length <= maxKeyLength && keyForm.exec(key)) || []
  const day = Date.parse(date ?? '') / dayMs
  return partition === undefined || value === undefined || !Number.isInteger(day)
    ? undefined
    : { partition, day, value }
}

/**
 * Undefined for what no counting of ours can have written: without a signature the topic is only as trustworthy as those who may write to it.
 * `isInside` says whether a peer is one of our own hosts.
 */
export const readCount = (
  key: string,
  value: Buffer,
  isInside: (host: string) => boolean = isAddressOrName,
): CountRecord | undefined => {
  if (value.length > maxValueBytes) return undefined
  const about = readCountKey(key)
  if (!about || !isAddressOrName(about.value)) return undefined
  const stored = parseObject(value)
  if (!stored || stored.schema_version !== 1) return undefined
  const { partition, day } = about
  const { count, first_seen, last_seen, first_offset, last_offset, peers = [], other_sightings = 0 } = stored
  const { ports = [] } = stored
  if (!Array.isArray(ports) || ports.length > maxPorts || !ports.every(isPort)) return undefined
  // Records of former versions do not say the traffic, or the kinds.
  const { unalerted = 0, pending = 0, traffic = unknownTraffic, kinds = 0 } = stored
  const first = timeOf(first_seen) - day * dayMs
  const last = timeOf(last_seen) - day * dayMs
  const numbers = [count, first, last, first_offset, last_offset, other_sightings, unalerted, pending, traffic, kinds]
  if (!numbers.every((number) => Number.isSafeInteger(number) && Number(number) >= 0)) return undefined
  const records = Number(last_offset) - Number(first_offset) + 1
  // Each record is counted once, with at most so many events, and each event with at most so many hosts.
  if (Number(count) < 1 || Number(count) > Math.min(maxCount, records * batchLimits.maxMembers)) return undefined
  if (Number(other_sightings) > Number(count) * extractLimits.maxIndicators) return undefined
  if (last >= dayMs || first > last) return undefined
  if (!Array.isArray(peers) || peers.length > maxPeers || !peers.every(isAddressOrName)) return undefined
  const address = parseAddress(about.value)
  return {
    partition,
    seen: {
      day,
      indicator: { type: address === undefined ? 'domain' : 'ip', value: address ?? about.value },
      count: Number(count),
      first,
      last,
      firstOffset: Number(first_offset),
      lastOffset: Number(last_offset),
      peers: peers.filter(isInside),
      otherSightings: Number(other_sightings),
      unalerted: Number(unalerted) & roleBits,
      pending: Number(pending) & roleBits,
      traffic: Number(traffic) & trafficBits,
      kinds: Number(kinds) & kindBits || kindsOfTraffic(Number(traffic) & trafficBits),
      ...(ports.length > 0 && { ports: lowestPorts(ports) }),
    },
  }
}

/** The offset of a record under `countedKey` or `beganKey`. */
export const readCounted = (value: Buffer): number | undefined => {
  const offset = value.length <= maxValueBytes ? parseObject(value)?.offset : undefined
  return isOffset(offset) ? offset : undefined
}

/** Which record under `accusedKey` it is, and the offset after which the counts hold what it says. */
export const readAccusing = (
  key: string,
  partition: string,
): { readonly id: string; readonly offset: number } | undefined => {
  const id = key.slice(accusedKey(partition).length)
  const offset = Number(/^(?:late\/)?(\d{1,16})(?:\/\d{1,16})?$/.exec(id)?.[1])
  return isOffset(offset) ? { id, offset } : undefined
}

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** A record under `accusedKey`. */
export const readAccused = (value: Buffer): readonly Accused[] => {
  const events: unknown = parseObject(value)?.events
  if (!Array.isArray(events)) return []
  return events.flatMap((event: unknown): Accused[] => {
    const [offset, ...values] = Array.isArray(event) ? (event as unknown[]) : []
    return isOffset(offset) ? [{ offset, values: values.filter(isAccusedValue) }] : []
  })
}

const isAccusedValue = (value: unknown): value is string => value === everyAccused || isAddressOrName(value)

const isAddressOrName = (value: unknown): value is string =>
  typeof value === 'string' && (parseAddress(value) ?? parseHostname(value)) === value

const isPort = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 0xffff

const roleBits = (1 << roles.length) - 1
const maxCount = 0xffff_ffff

/** Thousands of records in a row are of one day. */
let dated = { day: NaN, date: '' }
const dateOf = (day: number): string => {
  if (dated.day !== day) dated = { day, date: new Date(day * dayMs).toISOString().slice(0, 10) }
  return dated.date
}

const timeIn = (date: string, ms: number): string => {
  const seconds = Math.floor(ms / 1000)
  const minutes = Math.floor(seconds / 60)
  return `${date}T${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}.${String(ms % 1000).padStart(3, '0')}Z`
}
const two = (number: number): string => String(number).padStart(2, '0')

const timeOf = (text: unknown): number =>
  typeof text === 'string' && text.length === '2026-11-15T12:00:00.000Z'.length ? Date.parse(text) : NaN

export const countRecord = (
  { topic, partitions }: TopicOf,
  partition: string,
  seen: SeenOnDay,
  now: number,
): Outgoing => outgoing(topic, partitions, partition, countKey(partition, seen), countValue(seen), now)

/** Each offset has a record of its own: what a killed owner has written must not be replaced by the next one, which does not know it yet. */
export const beganAt = ({ topic, partitions }: TopicOf, partition: string, offset: number, now: number): Outgoing =>
  outgoing(topic, partitions, partition, `${beganKey(partition)}${offset}`, countedValue(offset), now)

/** Up to where the counts hold. */
export const countedUpTo = ({ topic, partitions }: TopicOf, partition: string, offset: number, now: number): Outgoing =>
  outgoing(topic, partitions, partition, countedKey(partition), countedValue(offset), now)

/** A record about what answers accuse that came after their events; the last of these has this offset. */
export const lateAccusedId = (offset: number, now: number): string => `late/${offset}/${now}`

/** What a chunk accuses, under its first offset, or what late answers accuse; nothing, to delete it. */
export const accusedIn = (
  { topic, partitions }: TopicOf,
  partition: string,
  id: number | string,
  accused: readonly Accused[],
  now: number,
): Outgoing => {
  const value = accused.length === 0 ? null : accusedValue(accused)
  return outgoing(topic, partitions, partition, `${accusedKey(partition)}${id}`, value, now)
}

const outgoing = (
  topic: string,
  partitions: number,
  partition: string,
  key: string,
  value: Buffer | null,
  now: number,
): Outgoing => ({
  topic,
  partition: Number(partition.slice(partition.lastIndexOf('/') + 1)) % partitions,
  key: Buffer.from(key),
  value,
  headers: [],
  timestamp: String(now),
})
