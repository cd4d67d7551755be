// Derives the output form of a chunk, its sizes, partitions and alerts, from the settings and the facts about the topics.
import type { EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import type { OutputTarget } from './compose.js'
import type { OutputForm } from './deliver.js'
import { Partitioners } from '../kafka/patched-kafkajs/patched-kafkajs.js'
import type { KafkaSettings, Placement } from '../kafka/settings.js'
import type { Topics } from '../kafka/topics.js'
import type { Incoming } from '../kafka/records.js'

export type OutputContext = {
  readonly settings: KafkaSettings
  readonly placement: Placement
  /** Key of the annotation. */
  readonly key: string
  /** Whether an event may raise alerts; absent if alerts are off. */
  readonly mayRaise?: ((event: EventOut) => boolean) | undefined
  readonly emit: Emit
  readonly now: () => number
}

export const deliverTo = (
  { settings, placement, key, mayRaise, emit, now }: OutputContext,
  { facts }: Pick<Topics, 'facts'>,
): OutputForm => {
  const { topic, partitionBy } = settings.output
  const output = facts.get(topic) ?? { partitions: 1, maxBytes: 1_048_588 }
  const dead = facts.get(settings.deadLetterTopic) ?? { partitions: 1, maxBytes: 1_048_588 }
  const byInput =
    (count: number) =>
    (record: Incoming): number =>
      record.partition % count
  const byKey = keyPartitioner(topic, output.partitions)
  const target: OutputTarget = {
    placement,
    key,
    topic,
    deadLetterTopic: settings.deadLetterTopic,
    maxBytes: output.maxBytes - batchBytes,
    maxDeadLetterBytes: dead.maxBytes - batchBytes,
    outputPartition: partitionBy === 'key' ? byKey : byInput(output.partitions),
    deadLetterPartition: byInput(dead.partitions),
  }
  const { alertsTopic = '', correctionsTopic = '', sightingsTopic = '' } = settings
  // Records sent together form one batch per partition, so the smallest topic limit applies.
  const others = [alertsTopic, correctionsTopic, sightingsTopic].map((other) => facts.get(other)?.maxBytes ?? Infinity)
  const bytes = Math.min(
    settings.limits.sendBytes,
    target.maxBytes,
    target.maxDeadLetterBytes,
    ...others.map((max) => max - batchBytes),
  )
  const maxBytesOf = (other: string): number | undefined => {
    const max = facts.get(other)?.maxBytes
    return max === undefined ? undefined : max - batchBytes
  }
  const form: OutputForm = { target, max: { count: 500, bytes }, maxBytesOf, emit, now }
  if (!mayRaise || alertsTopic === '') return form
  return { ...form, mayAlert: (event) => event.members?.some(mayRaise) ?? mayRaise(event) }
}

/** Overhead of a record batch, rounded up. */
const batchBytes = 128

/** Partitions like the Java client. A record without a key falls back to its input partition. */
const keyPartitioner = (topic: string, count: number): ((record: Incoming) => number) => {
  const place = Partitioners.DefaultPartitioner()
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }))
  return ({ key, value, partition }) =>
    key === null ? partition % count : place({ topic, partitionMetadata, message: { key, value } })
}
