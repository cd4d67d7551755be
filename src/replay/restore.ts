// Restores a record to its original form, and reads the verdict that it had then.
import { levels, type Level } from '../domain/finding.js'
import { hostOf } from '../domain/listed-url.js'
import { markOf, type FormerVerdict } from '../domain/verdict.js'
import type { AnyObject } from '../base/json-object.js'
import { writtenFormat, type ReadWritten, type WrittenRecord } from '../pipeline/batch/read-written.js'
import { withoutOurHeaders } from '../delivery/our-headers.js'
import type { Header } from '../kafka/wire/record.js'
import type { Incoming } from '../kafka/records.js'

/** Content of the replayed topic: original events, annotated events, or our dead letters. */
export type InputKind = 'raw' | 'annotated' | 'dead-letter'

/** `readTo` is the last offset read in the replayed topic; `offset` may be the original one of a dead letter's event. */
export type Restored = Incoming & { readonly readTo: string }

export type RestoreOptions = {
  readonly kind: InputKind
  /** Key of the annotation. */
  readonly key: string
  readonly readWritten: ReadWritten
}

/** Undefined for a dead letter that only points to its event. */
export const restore = (read: Incoming, { kind, key, readWritten }: RestoreOptions): Restored | undefined => {
  const record = { ...read, readTo: read.offset }
  if (kind === 'raw') return record
  if (kind === 'annotated') {
    const { id, former, formers } = annotationOf(record, readWritten)
    const headers = withoutOurHeaders(record.headers.filter(([name]) => name !== key))
    return {
      ...record,
      headers,
      timestamp: timestampIn(record.headers) ?? record.timestamp,
      format: writtenFormat(record.headers),
      ...(id !== undefined && { origin: id }),
      ...(former && { former }),
      ...(formers && { formers }),
    }
  }
  // Our headers follow those of the event and begin with the topic. Earlier ones of the same name came with the event, so ignore them.
  const from = record.headers.findLastIndex(([name]) => name === 'threatweave-topic')
  const ours = from < 0 ? [] : record.headers.slice(from)
  const text = (name: string): string | undefined => textIn(ours, name)
  if (text('threatweave-sha256') !== undefined) return undefined
  const topic = text('threatweave-topic')
  const partition = text('threatweave-partition')
  const offset = text('threatweave-offset')
  const member = text('threatweave-member')
  if (topic === undefined || !isCount(partition) || !isCount(offset)) return record
  return {
    ...record,
    topic,
    partition: Number(partition),
    offset,
    ...(member !== undefined && /^\d{1,5}(?:#\d{1,5})*$/.test(member) && { member }),
    timestamp: timestampIn(ours) ?? record.timestamp,
    headers: withoutOurHeaders(record.headers),
  }
}

const isCount = (text: string | undefined): text is string => text !== undefined && /^\d{1,15}$/.test(text)

const textIn = (headers: readonly Header[], name: string): string | undefined =>
  headers
    .findLast(([found]) => found === name)?.[1]
    ?.toString('utf8')
    .slice(0, 300)

/** The original time of a record that was written with another one. */
const timestampIn = (headers: readonly Header[]): string | undefined => {
  const text = textIn(headers, 'threatweave-timestamp')
  return text !== undefined && /^-?\d{1,16}$/.test(text) ? text : undefined
}

type PreviousAnnotation = {
  readonly id?: string
  readonly former?: FormerVerdict
  /** For the members of a batch. */
  readonly formers?: readonly (FormerVerdict | undefined)[]
  /** Whether the event was delivered before an answer. */
  readonly isPending?: boolean
}

const maxIdLength = 200

/** Reads the annotation of a record, or those of all its events. */
export const annotationOf = (record: WrittenRecord, readWritten: ReadWritten): PreviousAnnotation => {
  const { events, annotation } = readWritten(record)
  const all = events.map((event) => event.annotation)
  const isMany = events[0]?.member !== undefined
  const formers = all.map(formerIn)
  const former = worstOf(formers) ?? formerIn(annotation)
  // A split-off member keeps its index: its record contains no other event.
  const first = all.map(idIn).find((one) => one !== undefined)
  const id = idIn(annotation) ?? (isMany ? first?.replace(all.length > 1 ? /#\d+$/ : /#0$/, '') : first)
  const isPending = all.some((one) => one !== undefined && isUnanswered(one))
  return {
    ...(id !== undefined && { id }),
    ...(former && { former, ...(isMany && formers.some((one) => one) && { formers }) }),
    ...(isPending && { isPending }),
  }
}

/** `clean` only if every known verdict is. */
export const worstOf = (formers: readonly (FormerVerdict | undefined)[]): FormerVerdict | undefined => {
  const order: readonly Level[] = ['malicious', 'suspicious', 'unknown', 'clean']
  const known = formers.filter((one) => one !== undefined)
  const level = order.find((one) => known.some((former) => former.level === one))
  return known.find((former) => former.level === level)
}

const idIn = (annotation: AnyObject | undefined): string | undefined => {
  const id = annotation?.enrichment_id
  return typeof id === 'string' && id !== '' && id.length <= maxIdLength ? id : undefined
}

const formerIn = (annotation: AnyObject | undefined): FormerVerdict | undefined => {
  const { verdict, type, value } = annotation ?? {}
  if (!isLevel(verdict)) return undefined
  return {
    level: verdict,
    decidedBy: typeof value === 'string' && verdict !== 'clean' ? markOf(hostOf(type, value)) : 0,
  }
}

/** A compact annotation with a verdict does not say which answer is missing, only that one is. */
const isUnanswered = ({ reason, status, indicators }: AnyObject): boolean => {
  const isOnItsWay = (one: unknown): boolean => one === 'pending' || one === 'deadline' || one === 'no_schema'
  if (isOnItsWay(reason)) return true
  return Array.isArray(indicators)
    ? indicators.some((one: AnyObject | null) => isOnItsWay(one?.reason))
    : status === 'partial' && reason === undefined
}

const isLevel = (value: unknown): value is Level => (levels as readonly unknown[]).includes(value)
