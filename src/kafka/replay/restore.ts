// A record that was read again → the record as it was first read, with the verdict it had then.
import { levels, type Level } from '../../domain/finding.js'
import { markOf, type FormerVerdict } from '../../domain/former-verdict.js'
import type { Incoming } from '../compose.js'
import type { Header } from '../wire/record.js'

/** What the replayed topic holds: events as they came, events that we annotated, or dead letters of ours. */
export type InputKind = 'raw' | 'annotated' | 'dead-letter'

export type Restored = Incoming & {
  /** The offset it was read at now. */
  readonly at: number
}

/** Nothing stands for a dead letter that only points to its event. */
export const restore = (read: Incoming, kind: InputKind, key: string): Restored | undefined => {
  const record = { ...read, at: Number(read.offset) }
  if (kind === 'raw') return record
  if (kind === 'annotated') {
    const { id, former } = annotationOf(record, key)
    const headers = record.headers.filter(([name]) => name !== key)
    return { ...record, headers, ...(id !== undefined && { origin: id }), ...(former && { former }) }
  }
  const text = (name: string): string | undefined =>
    record.headers
      .findLast(([found]) => found === name)?.[1]
      ?.toString('utf8')
      .slice(0, 300)
  if (text('threatweave-sha256') !== undefined) return undefined
  const topic = text('threatweave-topic')
  const partition = text('threatweave-partition')
  const offset = text('threatweave-offset')
  const timestamp = text('threatweave-timestamp')
  if (topic === undefined || !isCount(partition) || !isCount(offset)) return record
  return {
    ...record,
    topic,
    partition: Number(partition),
    offset,
    timestamp: timestamp !== undefined && /^-?\d{1,16}$/.test(timestamp) ? timestamp : record.timestamp,
    headers: record.headers.filter(isOriginal),
  }
}

const isCount = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)

const deadLetterHeaders = new Set(
  ['topic', 'partition', 'offset', 'timestamp', 'reason', 'time'].map((name) => `threatweave-${name}`),
)
const isOriginal = ([name]: Header): boolean => !deadLetterHeaders.has(name)

export type PreviousAnnotation = { readonly id?: string; readonly former?: FormerVerdict }

const maxIdLength = 200

/** The annotation in the value, in a header, or the value itself where annotations stand alone. */
export const annotationOf = (record: Pick<Incoming, 'value' | 'headers'>, key: string): PreviousAnnotation => {
  const header = record.headers.findLast(([name]) => name === key)?.[1]
  const found = objectOf(header ?? record.value)
  const annotation = header ? found : (memberOf(found, key) ?? (found && 'schema_version' in found ? found : undefined))
  if (!annotation) return {}
  const { enrichment_id: id, verdict, value } = annotation
  return {
    ...(typeof id === 'string' && id !== '' && id.length <= maxIdLength && { id }),
    ...(isLevel(verdict) && {
      former: { level: verdict, decidedBy: typeof value === 'string' && verdict !== 'clean' ? markOf(value) : 0 },
    }),
  }
}

type Json = Readonly<Record<string, unknown>>

const memberOf = (value: Json | undefined, key: string): Json | undefined => {
  const member = value && Object.hasOwn(value, key) ? value[key] : undefined
  return typeof member === 'object' && member !== null ? (member as Json) : undefined
}

const objectOf = (bytes: Buffer | null | undefined): Json | undefined => {
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''))
    return typeof value === 'object' && value !== null ? (value as Json) : undefined
  } catch {
    return undefined // it is not an annotated event
  }
}

const isLevel = (value: unknown): value is Level => (levels as readonly unknown[]).includes(value)
