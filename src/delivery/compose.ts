// Composes the output record from an input record and its annotated event, small enough for the output topic.
import { createHash } from 'node:crypto'
import type { ValueFormat } from '../domain/topic-format.js'
import { formatHeader } from '../pipeline/batch/read-written.js'
import { withoutOurHeaders } from './our-headers.js'
import { isNamedLike } from '../pipeline/annotate/annotation-key.js'
import type { EventOut, Reduced } from '../pipeline/pipeline.js'
import type { Placement } from '../kafka/settings.js'
import { FatalKafkaError } from '../kafka/failure.js'
import { recordBytes } from '../kafka/wire/encode-batch.js'
import type { Header } from '../kafka/wire/record.js'
import type { Incoming, Outgoing } from '../kafka/records.js'

/** Limit on the total size of the key and headers, repeated in every record that a batch is split into. */
const maxRepeatedBytes = 16_777_216

type Part = { readonly record: Incoming; readonly event: EventOut }

/** The members of a batch as separate records; undefined if the batch stays one record. */
export const partsOf = (record: Incoming, event: EventOut | undefined): readonly Part[] | undefined => {
  const parts = event?.parts
  if (!parts || parts.length * recordBytes({ ...record, value: null }) > maxRepeatedBytes) return undefined
  const before = record.member === undefined ? '' : `${record.member}#`
  return parts.map((part, nth) => ({
    record: { ...record, value: part.own, member: `${before}${nth}`, whole: record },
    event: part.event,
  }))
}

type Composed = {
  readonly record: Outgoing
  /** Upper bound of its size in a record batch. */
  readonly bytes: number
  /** The step of the ladder at which it fits. */
  readonly step: Step
}

/** Without the event: if items kept their events until the broker answers, those of all partitions would fill the old generation. */
export type Item = { readonly incoming: Incoming; readonly composed: Composed }

/** From the largest form of a record to the smallest; `accused` applies to batches only. */
export const steps = ['whole', 'compact', 'accused', 'header', 'dead_letter', 'pointer'] as const
export type Step = (typeof steps)[number]

const reductions: Readonly<Partial<Record<Step, Reduced>>> = { compact: 'compact', accused: 'accused', header: 'worst' }

export type OutputTarget = {
  readonly placement: Placement
  /** Key of the annotation, and name of the header that carries it. */
  readonly key: string
  readonly topic: string
  readonly deadLetterTopic: string
  /** Size limit of a record in the output topic and in the dead-letter topic. */
  readonly maxBytes: number
  readonly maxDeadLetterBytes: number
  readonly outputPartition: (record: Incoming) => number
  readonly deadLetterPartition: (record: Incoming) => number
}

/** `event` is undefined for a tombstone, which passes unchanged: a compacted topic needs its null. */
export const compose = (
  record: Incoming,
  event: EventOut | undefined,
  target: OutputTarget,
  now: number,
  from: Step = 'whole',
  refusal?: string,
): Composed => {
  const time = timeOf(record, now)
  for (let at = steps.indexOf(from); ; at++) {
    const step = steps[at] ?? 'pointer'
    const composed = build(step, record, event, target, time, now, refusal)
    if (composed === undefined) continue
    const max = composed.topic === target.deadLetterTopic ? target.maxDeadLetterBytes : target.maxBytes
    const bytes = recordBytes(composed)
    if (step === 'pointer' || bytes <= max) return { record: composed, bytes, step: step }
  }
}

const build = (
  step: Step,
  record: Incoming,
  event: EventOut | undefined,
  target: OutputTarget,
  time: Time,
  now: number,
  refusal?: string,
): Outgoing | undefined => {
  if (step === 'dead_letter' || step === 'pointer') return deadLetter(step, record, target, now, refusal ?? 'too_large')
  const write = (value: Buffer | null, headers: readonly Header[]): Outgoing => ({
    topic: target.topic,
    partition: target.outputPartition(record),
    key: record.key,
    value,
    headers,
    timestamp: time.text,
  })
  const theirs = withoutOurs(record.headers, target.key)
  const headers = time.headers.length === 0 ? theirs : [...theirs, ...time.headers]
  if (event === undefined) return step === 'whole' ? write(null, headers) : undefined
  if (step === 'accused' && !event.members) return undefined
  const reduced = reductions[step]
  const text = (): Buffer => Buffer.from(event.annotationText(reduced))
  if (target.placement === 'topic') return write(text(), [...time.headers, ...originHeaders(record)])
  const named = event.format === undefined ? headers : [...headers, formatNames[event.format]]
  if (target.placement === 'headers' || step === 'header') return write(record.value, [...named, [target.key, text()]])
  const beside = event.beside?.(reduced)
  return write(event.bytes(reduced), beside === undefined ? named : [...named, [target.key, Buffer.from(beside)]])
}

/** Tells consumers of the output topic which binary format the value has. */
const formatNames: Readonly<Record<ValueFormat, Header>> = {
  registry: [formatHeader, Buffer.from('registry')],
  otlp_proto: [formatHeader, Buffer.from('otlp_proto')],
  binary: [formatHeader, Buffer.from('binary')],
}

/** Removes headers named like the annotation's key, in any case, or below it: consumers would take a forged one for an annotation. */
const withoutOurs = (headers: readonly Header[], key: string): readonly Header[] => {
  const others = withoutOurHeaders(headers)
  return others.some(([name]) => isNamedLike(key, name)) ? others.filter(([name]) => !isNamedLike(key, name)) : others
}

const deadLetter = (
  step: 'dead_letter' | 'pointer',
  record: Incoming,
  target: OutputTarget,
  now: number,
  reason: string,
): Outgoing => {
  if (target.deadLetterTopic === '')
    throw new FatalKafkaError(
      `topic ${target.topic} takes ${record.topic}/${record.partition}/${record.offset} in no form (${reason}), and there is no dead-letter topic for it: \`threatweave check --online --create-topics\` creates one, unless kafka.deadLetterTopic switches it off`,
      true,
    )
  const whole = step === 'dead_letter'
  const value = record.value
  const about: Header[] = [
    ...originHeaders(record),
    // The dead letter has the current time, so a header keeps the event's own. A replay restores it.
    ['threatweave-timestamp', Buffer.from(record.timestamp)],
    ['threatweave-reason', Buffer.from(reason)],
    ['threatweave-time', Buffer.from(new Date(now).toISOString())],
  ]
  if (!whole) {
    about.push(['threatweave-size', Buffer.from(String(value?.length ?? 0))])
    about.push([
      'threatweave-sha256',
      Buffer.from(value === null ? '' : createHash('sha256').update(value).digest('hex')),
    ])
  }
  return {
    topic: target.deadLetterTopic,
    partition: target.deadLetterPartition(record),
    key: whole || (record.key?.length ?? 0) <= 1024 ? record.key : null,
    value: whole ? value : null,
    headers: whole ? [...withoutOurs(record.headers, target.key), ...about] : about,
    timestamp: String(now), // an older time could exceed the retention of the dead-letter topic
  }
}

const originHeaders = (record: Incoming): readonly Header[] => [
  ['threatweave-topic', Buffer.from(record.topic)],
  ['threatweave-partition', Buffer.from(String(record.partition))],
  ['threatweave-offset', Buffer.from(record.offset)],
  ...(record.member === undefined ? [] : [['threatweave-member', Buffer.from(record.member)] as const]),
]

type Time = { readonly text: string; readonly headers: readonly Header[] }

const asRead: readonly Header[] = []

/**
 * A broker refuses a time far in the future, and Kafka has none before 1970. Such a record gets the current time and keeps the original
 * in a header.
 */
const timeOf = (record: Incoming, now: number): Time => {
  const value = Number(record.timestamp)
  return Number.isSafeInteger(value) && value >= 0 && value <= now + 60_000
    ? { text: record.timestamp, headers: asRead }
    : { text: String(now), headers: [['threatweave-timestamp', Buffer.from(record.timestamp)]] }
}

// An alert as a record. The key selects the partition, so alerts about one indicator stay in order.

export type AlertOut = {
  /** The subject of the alert. */
  readonly key: string
  readonly value: Buffer
}

export const alertRecord = (topic: string, partitions: number, { key, value }: AlertOut, now: number): Outgoing => ({
  topic,
  partition: hash(key) % partitions,
  key: Buffer.from(key),
  value,
  headers: [],
  timestamp: String(now),
})

const hash = (text: string): number => {
  let value = 5381
  for (let at = 0; at < text.length; at++) value = ((value * 33) ^ text.charCodeAt(at)) >>> 0
  return value
}
