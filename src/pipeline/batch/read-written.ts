// Reads a record that this program wrote: its events with their annotations, in any placement.
import { isObject, parseObject, type AnyObject } from '../../base/json-object.js'
import { bytesOfMember } from './batch-pipeline.js'
import { isTopicFormat, type TopicFormat } from '../../domain/topic-format.js'
import type { CutBatch, RecordOrigin } from './cut-batch.js'

export type WrittenRecord = {
  readonly value: Buffer | null
  readonly headers: RecordOrigin['headers']
  /** The format of the topic, for records of other writers. */
  readonly format?: TopicFormat | undefined
}

/** The header with the format of a value that is not text. It is removed from input records. */
export const formatHeader = 'threatweave-format'

/** The format of a value that this program wrote. */
export const writtenFormat = (headers: RecordOrigin['headers']): TopicFormat => {
  const text = headers.findLast(([name]) => name === formatHeader)?.[1]?.toString('latin1') ?? 'text'
  return isTopicFormat(text) ? text : 'text'
}

type WrittenEvent = {
  /** Its index in a record of many. */
  readonly member?: number
  /** The readable bytes of the event. */
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

/** `open`: undefined if every record is one event. Annotations in a place where we never write are forged, and ignored. */
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
