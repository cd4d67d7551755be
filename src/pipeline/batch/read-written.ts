// Reads a record that we wrote: its events, each with the annotation it was given, wherever that is.
import { isObject, parseObject, type AnyObject } from '../../base/json-object.js'
import { bytesOfMember } from './batch-pipeline.js'
import { isTopicFormat, type TopicFormat } from '../../domain/topic-format.js'
import type { CutBatch, RecordOrigin } from './cut-batch.js'

export type WrittenRecord = {
  readonly value: Buffer | null
  readonly headers: RecordOrigin['headers']
  /** Of a record that others wrote: that of its topic. */
  readonly format?: TopicFormat | undefined
}

/** The header that says the format of a value that is not text. Headers of this name do not come through from the input. */
export const formatHeader = 'threatweave-format'

/** The format of a value that we have written. */
export const writtenFormat = (headers: RecordOrigin['headers']): TopicFormat => {
  const text = headers.findLast(([name]) => name === formatHeader)?.[1]?.toString('latin1') ?? 'text'
  return isTopicFormat(text) ? text : 'text'
}

type WrittenEvent = {
  /** Its index in a record of many. */
  readonly member?: number
  /** The event alone, as it is read. */
  readonly bytes: Buffer
  readonly object: AnyObject | undefined
  readonly annotation: AnyObject | undefined
}

export type WrittenEvents = {
  readonly events: readonly WrittenEvent[]
  /** Of the record as a whole. */
  readonly annotation: AnyObject | undefined
}

export type ReadWritten = (record: WrittenRecord) => WrittenEvents

/** `open` is undefined where every record is one event. What is found where we write nothing is forged, and not believed. */
export const createReadWritten = (open: CutBatch | undefined, key: string): ReadWritten => {
  /** The annotation in a member, or in attributes or fields named `key.name`. */
  const inside = (object: unknown): AnyObject | undefined => {
    if (!isObject(object)) return undefined
    if (Object.hasOwn(object, key) && isObject(object[key])) return object[key]
    const flat = Object.entries(object).filter(([name]) => name.startsWith(`${key}.`))
    return flat.length === 0
      ? undefined
      : Object.fromEntries(flat.map(([name, value]) => [name.slice(key.length + 1), value]))
  }
  return ({ value, headers, format = writtenFormat(headers) }) => {
    if (!value) return { events: [], annotation: undefined }
    const bytes = headers.findLast(([name]) => name === key)?.[1]
    const header = bytes ? parseObject(bytes) : undefined
    const batch = open?.(value, { topic: '', headers, format })
    const whole = batch && batch.place !== 'top' && batch.place !== 'fields' ? undefined : parseObject(value)
    if (!batch) {
      const annotation = header ?? inside(whole) ?? (whole && 'schema_version' in whole ? whole : undefined)
      return { events: [{ bytes: value, object: whole, annotation }], annotation }
    }
    const { place, isOne, members } = batch
    const top = header ?? (place === 'top' ? inside(whole) : place === 'fields' ? inside(whole?.fields) : undefined)
    const listed = new Map<unknown, AnyObject>()
    if (Array.isArray(top?.members)) for (const one of top.members) if (isObject(one)) listed.set(one.member, one)
    const isPlaced = place !== 'top' && place !== 'header'
    const events = members.map((_, member): WrittenEvent => {
      const own = bytesOfMember(value, batch, member)
      const object = parseObject(own)
      const found = isPlaced ? inside(object) : undefined
      return isOne
        ? { bytes: own, object, annotation: top ?? found }
        : { member, bytes: own, object, annotation: listed.get(member) ?? found }
    })
    return { events, annotation: isOne ? events[0]?.annotation : top }
  }
}
