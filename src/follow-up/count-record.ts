// Converts the counts of an input partition to records of the state topic and back.
// There are daily counts, the offset at which they end, and accusations since.
import { parseAddress } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { roles } from '../domain/sighting.js'
import { parseObject } from '../base/json-object.js'
import { lowestPorts, maxPeers, maxPorts } from './day-table.js'
import { batchLimits } from '../pipeline/batch/cut-batch.js'
import { extractLimits } from '../pipeline/extract/extract.js'
import { dayMs, type SeenOnDay } from './seen.js'
import { kindBits, kindsOfTraffic } from './kinds.js'
import { trafficBits, unknownTraffic } from './traffic.js'

export const countId = ({ day, indicator }: Pick<SeenOnDay, 'day' | 'indicator'>): string =>
  `${dateOf(day)}/${indicator.value}`

/** Builds the JSON by hand, which is twice as fast: thousands of records are written at a time. */
export const countValue = (seen: SeenOnDay): Buffer => {
  const { day, count, first, last, firstOffset, lastOffset, peers, otherSightings, unalerted, pending } = seen
  const { ports = [] } = seen
  const date = dateOf(day)
  let text = `{"schema_version":2,"count":${count},"first_seen":"${timeIn(date, first)}","last_seen":"${timeIn(date, last)}"`
  text += `,"first_offset":${firstOffset},"last_offset":${lastOffset}`
  if (peers.length > 0) text += `,"peers":${JSON.stringify(peers)}`
  if (otherSightings > 0) text += `,"other_sightings":${otherSightings}`
  // Role bits: delivered as clean or unknown, and delivered before the answer.
  if (unalerted > 0) text += `,"unalerted":${unalerted}`
  if (pending > 0) text += `,"pending":${pending}`
  if (ports.length > 0) text += `,"ports":${JSON.stringify(ports)}`
  // Bits for directions and actions, and for the kinds of sightings.
  return Buffer.from(`${text},"traffic":${seen.traffic},"kinds":${seen.kinds}}`)
}

/** Value of a record with an offset only: the end of the counts, or the start of counting by an owner. */
export const offsetValue = (offset: number): Buffer => Buffer.from(JSON.stringify({ schema_version: 2, offset }))

/** Stands for every bad indicator of a record, since one record can contain thousands of names below one listed name. */
export const everyAccused = '*'
const maxAccusedValues = 64
const maxAccusedBytes = 131_072

/** The indicators of one record that were delivered as malicious or suspicious. */
export type Accused = { readonly offset: number; readonly values: readonly string[] }

export const accusedValue = (accused: readonly Accused[]): Buffer => {
  const valueOf = (max: number): Buffer => {
    const events = accused.map(({ offset, values }) => [offset, ...(values.length > max ? [everyAccused] : values)])
    return Buffer.from(JSON.stringify({ schema_version: 2, events }))
  }
  const value = valueOf(maxAccusedValues)
  return value.length > maxAccusedBytes ? valueOf(0) : value
}

const idForm = /^(\d{4}-\d{2}-\d{2})\/([^/]{1,253})$/
/** Above the size of a record with sixteen hosts. */
const maxValueBytes = 8_192

/** The day and indicator in the id of a record. */
export const readCountId = (id: string): { readonly day: number; readonly value: string } | undefined => {
  const [, date, value] = idForm.exec(id) ?? []
  const day = Date.parse(date ?? '') / dayMs
  return value === undefined || !Number.isInteger(day) ? undefined : { day, value }
}

/**
 * Undefined for a record that our own counting cannot have written. Without a signature anyone with write access to the topic can forge
 * one. `isInside` says whether a peer is one of our own hosts.
 */
export const readCount = (
  id: string,
  value: Buffer,
  isInside: (host: string) => boolean = isAddressOrName,
): SeenOnDay | undefined => {
  if (value.length > maxValueBytes) return undefined
  const about = readCountId(id)
  if (!about || !isAddressOrName(about.value)) return undefined
  const stored = parseObject(value)
  if (stored?.schema_version !== 1 && stored?.schema_version !== 2) return undefined
  const { day } = about
  const { count, first_seen, last_seen, first_offset, last_offset, peers = [], other_sightings = 0 } = stored
  const { ports = [] } = stored
  if (!Array.isArray(ports) || ports.length > maxPorts || !ports.every(isPort)) return undefined
  // Records of earlier versions have no traffic and no kinds.
  const { unalerted = 0, pending = 0, traffic = unknownTraffic, kinds = 0 } = stored
  const first = timeOf(first_seen) - day * dayMs
  const last = timeOf(last_seen) - day * dayMs
  const numbers = [count, first, last, first_offset, last_offset, other_sightings, unalerted, pending, traffic, kinds]
  if (!numbers.every((number) => Number.isSafeInteger(number) && Number(number) >= 0)) return undefined
  const records = Number(last_offset) - Number(first_offset) + 1
  // A record is counted once; its events, and the hosts per event, are bounded.
  if (Number(count) < 1 || Number(count) > Math.min(maxCount, records * batchLimits.maxMembers)) return undefined
  if (Number(other_sightings) > Number(count) * extractLimits.maxIndicators) return undefined
  if (last >= dayMs || first > last) return undefined
  if (!Array.isArray(peers) || peers.length > maxPeers || !peers.every(isAddressOrName)) return undefined
  const address = parseAddress(about.value)
  return {
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
  }
}

export const readOffset = (value: Buffer): number | undefined => {
  const offset = value.length <= maxValueBytes ? parseObject(value)?.offset : undefined
  return isOffset(offset) ? offset : undefined
}

/** The offset in the id of an accusation record. Counts that hold beyond it make the record obsolete. */
export const accusedUpTo = (id: string): number | undefined => {
  const offset = Number(/^(?:late\/)?(\d{1,16})(?:\/\d{1,16})?$/.exec(id)?.[1])
  return isOffset(offset) ? offset : undefined
}

const isOffset = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

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

/** Caches the date, because thousands of consecutive records share one day. */
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

/** Id of a record about accusations by late answers. `offset` is the last one in it. */
export const lateAccusedId = (offset: number, now: number): string => `late/${offset}/${now}`
