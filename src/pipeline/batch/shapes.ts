// The known record shapes, as data: how to recognise an envelope of one or many events, and the place of annotations.
import { isUtf8 } from 'node:buffer'
import { failed, isSpelt, skipSpace } from '../json-grammar.js'
import { collectAt, spellingsOf } from './collect-at.js'

export type AnnotationPlace =
  /** In the member itself. */
  | 'member'
  /** In the list `attributes` of the member (OpenTelemetry). */
  | 'attributes'
  /** In the event if it is an object, otherwise flat in `fields` of the envelope (Splunk). */
  | 'fields'
  /** A member of the envelope. */
  | 'top'
  /** In a header, because the envelope allows no further members. */
  | 'header'

export type Shape = {
  /** Names from the top down to the event; `*` is every element of a list. */
  readonly path: readonly string[]
  /** Other allowed top-level members; with any other member the record is an ordinary event. */
  readonly beside: readonly string[]
  /** A required top-level member. */
  readonly needs?: string
  /** The event is base64 text, optionally compressed. */
  readonly isBase64?: true
  readonly place: AnnotationPlace
}

export type Span = { readonly from: number; readonly to: number }

export const array: Shape = { path: ['*'], beside: [], place: 'member' }

export const logRecordsPath = ['resourceLogs', '*', 'scopeLogs', '*', 'logRecords', '*']

const shapes: readonly Shape[] = [
  // Azure diagnostics
  { path: ['records', '*'], beside: [], place: 'member' },
  // AWS CloudTrail and notifications
  { path: ['Records', '*'], beside: [], place: 'member' },
  // Amazon CloudWatch subscriptions, unpacked
  {
    path: ['logEvents', '*'],
    beside: ['messageType', 'owner', 'logGroup', 'logStream', 'subscriptionFilters', 'policyLevel'],
    place: 'member',
  },
  // The same as delivered: gzip in base64
  { path: ['awslogs', 'data'], beside: [], isBase64: true, place: 'top' },
  // OpenTelemetry (OTLP/JSON)
  { path: logRecordsPath, beside: [], place: 'attributes' },
  // Splunk HTTP Event Collector; without its type, `source` may be an address and the object an ordinary event
  {
    path: ['event'],
    beside: ['time', 'host', 'source', 'sourcetype', 'index', 'fields'],
    needs: 'sourcetype',
    place: 'fields',
  },
  // Kafka Connect, JsonConverter with schemas.enable: converters reject members that are not in the schema.
  { path: ['payload'], beside: ['schema'], needs: 'schema', place: 'header' },
  // Google Pub/Sub
  { path: ['message', 'data'], beside: ['subscription', 'deliveryAttempt'], isBase64: true, place: 'top' },
]

export const isList = ({ path }: Shape): boolean => path.includes('*')

type Candidate = { readonly name: string; readonly shape: Shape; readonly isFirst: boolean }

/** Shapes by the first letter of their possible first names. */
const byFirstLetter = new Map<number, Candidate[]>()
for (const shape of shapes)
  for (const name of [...spellingsOf(shape.path[0] ?? ''), ...shape.beside]) {
    const candidate = { name: `${name}"`, shape, isFirst: !shape.beside.includes(name) }
    const letter = name.charCodeAt(0)
    byFirstLetter.set(letter, [...(byFirstLetter.get(letter) ?? []), candidate])
  }

/** The possible shape of an object, by its first name. */
export const shapeAt = (bytes: Buffer, open: number): Shape | undefined => {
  const quote = firstInk(bytes, open + 1)
  if (bytes[quote] !== 0x22) return undefined
  const found = byFirstLetter
    .get(bytes[quote + 1] ?? 0)
    ?.find(({ name }) => isSpelt(name, bytes, quote + 1, quote + 1 + name.length))
  if (!found) return undefined
  const { name, shape, isFirst } = found
  if (!isFirst || shape.path.length === 1) return shape
  // A path of two levels needs a list or an object first: `{"message":"…` is an ordinary event.
  const colon = firstInk(bytes, quote + 1 + name.length)
  return bytes[firstInk(bytes, colon + 1)] === (shape.path[1] === '*' ? 0x5b : 0x7b) ? shape : undefined
}

/** The positions of the events. The record must be JSON of exactly this shape; `isOurs` allows our own members at the top. */
export const eventsAt = (
  bytes: Buffer,
  start: number,
  { path, beside, needs }: Shape,
  isOurs?: (name: string) => boolean,
): readonly Span[] | undefined => {
  // A cheap test that rules out most ordinary events.
  const mark = needs ?? path.findLast((name) => name !== '*')
  if (mark !== undefined && !spellingsOf(mark).some((name) => bytes.includes(`"${name}"`))) return undefined
  const found: Span[] = []
  let hasNeeded = needs === undefined
  const isBeside = (name: string): boolean => {
    hasNeeded ||= name === needs
    return beside.includes(name) || isOurs?.(name) === true
  }
  const end = collectAt(bytes, start, { path, isBeside }, found)
  const isWhole = end !== failed && skipSpace(bytes, end) === bytes.length && isUtf8(bytes)
  return isWhole && hasNeeded ? found : undefined
}

/** The position of the first non-blank byte at or after `from`. */
export const firstInk = (bytes: Buffer, from: number): number => {
  let at = from
  while ((bytes[at] ?? 0x21) <= 0x20) at++
  return at
}
