// A record that was read again → the record as it was first read, with the verdict it had then.
import { levels, type Level } from '../../domain/finding.js'
import { markOf, type FormerVerdict } from '../../domain/former-verdict.js'
import { annotatedMembers, type AnnotatedMember } from '../../pipeline/batch/annotated-members.js'
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
    const { id, former, formers } = annotationOf(record, key)
    const headers = record.headers.filter(([name]) => name !== key)
    return {
      ...record,
      headers,
      ...(id !== undefined && { origin: id }),
      ...(former && { former }),
      ...(formers && { formers }),
    }
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

export type PreviousAnnotation = {
  readonly id?: string
  readonly former?: FormerVerdict
  /** Of the members of a batch. */
  readonly formers?: readonly (FormerVerdict | undefined)[]
  /** Whether the event left before an answer. */
  readonly isPending?: boolean
}

const maxIdLength = 200

/** The annotation in the value, in a header, or the value itself where annotations stand alone; in a batch those of its members. */
export const annotationOf = (record: Pick<Incoming, 'value' | 'headers'>, key: string): PreviousAnnotation => {
  const header = record.headers.findLast(([name]) => name === key)?.[1]
  const members = record.value ? annotatedMembers(record.value, objectOf(header), key) : undefined
  if (members) return annotationsOf(members, objectOf(header))
  const found = objectOf(header ?? record.value)
  const annotation = header ? found : (memberOf(found, key) ?? (found && 'schema_version' in found ? found : undefined))
  const id = idIn(annotation)
  const former = formerIn(annotation)
  const isPending = annotation !== undefined && isUnanswered(annotation)
  return { ...(id !== undefined && { id }), ...(former && { former }), ...(isPending && { isPending }) }
}

const annotationsOf = (members: readonly AnnotatedMember[], header: Json | undefined): PreviousAnnotation => {
  const formers = members.map(({ annotation }) => formerIn(annotation))
  const ids = members.map(({ annotation }) => idIn(annotation))
  const id = idIn(header) ?? ids.find((one) => one !== undefined)?.replace(/#\d+$/, '')
  const former = worstOf(formers)
  const isPending = members.some(({ annotation }) => annotation !== undefined && isUnanswered(annotation))
  return { ...(id !== undefined && { id }), ...(former && { former, formers }), ...(isPending && { isPending }) }
}

/** `clean` only where every member was. */
const worstOf = (formers: readonly (FormerVerdict | undefined)[]): FormerVerdict | undefined => {
  const order: readonly Level[] = ['malicious', 'suspicious', 'unknown', 'clean']
  const known = formers.filter((one) => one !== undefined)
  const level = order.find((one) => known.some((former) => former.level === one))
  return known.find((former) => former.level === level)
}

const idIn = (annotation: Json | undefined): string | undefined => {
  const id = annotation?.enrichment_id
  return typeof id === 'string' && id !== '' && id.length <= maxIdLength ? id : undefined
}

const formerIn = (annotation: Json | undefined): FormerVerdict | undefined => {
  const { verdict, value } = annotation ?? {}
  if (!isLevel(verdict)) return undefined
  return { level: verdict, decidedBy: typeof value === 'string' && verdict !== 'clean' ? markOf(value) : 0 }
}

/** A compact annotation of an event with a verdict does not say what is missing, only that something is. */
const isUnanswered = ({ reason, status, indicators }: Json): boolean => {
  const isOnItsWay = (one: unknown): boolean => one === 'pending' || one === 'deadline'
  if (isOnItsWay(reason)) return true
  return Array.isArray(indicators)
    ? indicators.some((one: Json | null) => isOnItsWay(one?.reason))
    : status === 'partial' && reason === undefined
}

type Json = Readonly<Record<string, unknown>>

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

const memberOf = (value: Json | undefined, key: string): Json | undefined => {
  const member = value && Object.hasOwn(value, key) ? value[key] : undefined
  return isJson(member) ? member : undefined
}

const objectOf = (bytes: Buffer | null | undefined): Json | undefined => {
  if (!bytes) return undefined
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, ''))
    return isJson(value) ? value : undefined
  } catch {
    return undefined // it is not an annotated event
  }
}

const isLevel = (value: unknown): value is Level => (levels as readonly unknown[]).includes(value)
