// Cuts a record that holds many events into its members: an array, NDJSON, or one of the known shapes around a list.
import { isUtf8 } from 'node:buffer'
import type { Place } from './envelopes.js'
import { collectAt, endOfValue, failed, skipSpace, type Way } from './collect-at.js'

export type Range = {
  readonly from: number
  readonly to: number
}

export type Batch = {
  /** In the order of the record; past the limit the last one is the whole rest, looked at as one event. */
  readonly members: readonly Range[]
  /** How many there are, also where the rest is one. */
  readonly count: number
  /** Where annotations go. */
  readonly place: Place
  /** What is read instead of the record, and what the places of members refer to if there are many. */
  readonly content?: Buffer | undefined
  /** OpenTelemetry log records. */
  readonly isOtlp?: boolean | undefined
  /** An envelope of one event, which is the record's event. */
  readonly isOne?: true
}

export type CutBatch = (bytes: Buffer) => Batch | undefined

/** More than any shipper puts into one record; they bound what a hostile one can cost. */
export const batchLimits = { maxMembers: 10_000, maxBytes: 16_777_216 } as const

/** Anything more beside the list, and the record is one event that has a list in it. */
type Shape = Way & { readonly place: Batch['place'] }

const around = (name: string, beside: readonly string[] = []): Shape => ({ path: [name, '*'], beside, place: 'member' })

const shapes: readonly Shape[] = [
  around('records'), // Azure diagnostics
  around('Records'), // AWS CloudTrail and notifications
  // Amazon CloudWatch subscriptions
  around('logEvents', ['messageType', 'owner', 'logGroup', 'logStream', 'subscriptionFilters', 'policyLevel']),
  // OpenTelemetry (OTLP/JSON)
  { path: ['resourceLogs', '*', 'scopeLogs', '*', 'logRecords', '*'], beside: [], place: 'attributes' },
]

const array: Shape = { path: ['*'], beside: [], place: 'member' }

/** By the first letter of a name that such a shape may begin with. */
const byFirstLetter = new Map<number, { readonly name: Buffer; readonly shape: Shape }[]>()
for (const shape of shapes)
  for (const name of [shape.path[0] ?? '', ...shape.beside]) {
    const key = { name: Buffer.from(`${name}"`), shape }
    const letter = name.charCodeAt(0)
    byFirstLetter.set(letter, [...(byFirstLetter.get(letter) ?? []), key])
  }

/** An ordinary event is told from a batch by its first bytes and by having no line break. */
export const cutBatch: CutBatch = (bytes) => {
  if (bytes.length > batchLimits.maxBytes) return undefined
  const start = firstInk(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0)
  if (bytes[start] === 0x7b) {
    const shape = shapeAt(bytes, start)
    return shape ? cutShape(bytes, start, shape) : cutLines(bytes, start)
  }
  return bytes[start] === 0x5b && bytes[lastInk(bytes, bytes.length)] === 0x5d
    ? cutShape(bytes, start, array)
    : undefined
}

const shapeAt = (bytes: Buffer, open: number): Shape | undefined => {
  const quote = firstInk(bytes, open + 1)
  if (bytes[quote] !== 0x22) return undefined
  const candidates = byFirstLetter.get(bytes[quote + 1] ?? 0)
  return candidates?.find(({ name }) => isAt(bytes, quote + 1, name))?.shape
}

const isAt = (bytes: Buffer, from: number, name: Buffer): boolean => {
  for (let at = 0; at < name.length; at++) if (bytes[from + at] !== name[at]) return false
  return true
}

/** The whole must be JSON and nothing else, and at least one member an object that an annotation fits into. */
const cutShape = (bytes: Buffer, start: number, shape: Shape): Batch | undefined => {
  const members: Range[] = []
  const text = bytes.toString('latin1')
  const end = collectAt(text, start, shape, members)
  if (end === failed || skipSpace(text, end) !== text.length || !isUtf8(bytes)) return undefined
  return batchOf(bytes, members, shape.place)
}

/** One event per line: the first two lines that are not empty begin like objects, and the first is one. */
const cutLines = (bytes: Buffer, start: number): Batch | undefined => {
  const first = bytes.indexOf(0x0a, start)
  if (first < 0 || bytes[lastInk(bytes, first)] !== 0x7d) return undefined
  const isSecond = bytes[firstInk(bytes, first)] === 0x7b
  if (!isSecond || endOfValue(bytes.toString('latin1', 0, first), start, 0) !== lastInk(bytes, first) + 1)
    return undefined
  const members: Range[] = []
  for (let from = start; from < bytes.length;) {
    const found = bytes.indexOf(0x0a, from)
    const end = found < 0 ? bytes.length : found
    const begin = Math.min(end, firstInk(bytes, from))
    if (begin < end) members.push({ from: begin, to: lastInk(bytes, end) + 1 })
    from = end + 1
  }
  return batchOf(bytes, members, 'member')
}

const batchOf = (bytes: Buffer, members: readonly Range[], place: Batch['place']): Batch | undefined => {
  const { length: count } = members
  const { maxMembers } = batchLimits
  if (!members.some(({ from }) => bytes[from] === 0x7b)) return undefined
  const isOtlp = place === 'attributes'
  if (count <= maxMembers) return { members, count, place, isOtlp }
  const rest = { from: members[maxMembers]?.from ?? 0, to: members.at(-1)?.to ?? 0 }
  return { members: [...members.slice(0, maxMembers), rest], count, place, isOtlp }
}

/** The place of the first byte from there on that is no blank. */
const firstInk = (bytes: Buffer, from: number): number => {
  let at = from
  while ((bytes[at] ?? 0x21) <= 0x20) at++
  return at
}

/** The place of the last byte before `end` that is no blank. */
const lastInk = (bytes: Buffer, end: number): number => {
  let at = end - 1
  while (at >= 0 && (bytes[at] ?? 0) <= 0x20) at--
  return at
}
