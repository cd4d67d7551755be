// Settings and what is known of the topics → how a chunk is delivered: sizes, partitions, alerts.
import { eventsIn, type EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { type OutputTarget, alertRecord, type AlertOut } from './compose.js'
import type { OutputForm } from './deliver.js'
import { Partitioners } from '../kafka/patched-kafkajs/patched-kafkajs.js'
import type { KafkaSettings, Placement } from '../kafka/settings.js'
import type { Topics } from '../kafka/topics.js'
import type { Incoming } from '../kafka/records.js'
import type { ChunkListener } from './listener.js'

export type OutputContext = {
  readonly settings: KafkaSettings
  readonly placement: Placement
  /** The annotation's key. */
  readonly key: string
  readonly alerts?:
    | {
        /** Whether there may be alerts of an event. */
        readonly mayRaise: (event: EventOut) => boolean
        /** The alerts of a chunk's events; they go to `alertsTopic`. `fired`: the rules that matched an event. */
        readonly raise: (events: readonly EventOut[], fired?: ChunkListener['fired']) => readonly AlertOut[]
      }
    | undefined
  readonly emit: Emit
  readonly now: () => number
}

export const deliverTo = (
  { settings, placement, key, alerts, emit, now }: OutputContext,
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
  // What is sent together is one batch per partition, and each topic has a limit of its own.
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
  if (!alerts || alertsTopic === '') return form
  const alertPartitions = facts.get(alertsTopic)?.partitions ?? 1
  const mayAlert: OutputForm['mayAlert'] = (event) => event.members?.some(alerts.mayRaise) ?? alerts.mayRaise(event)
  const alertsOf: OutputForm['alertsOf'] = (events, fired) =>
    alerts.raise(eventsIn(events), fired).map((alert) => alertRecord(alertsTopic, alertPartitions, alert, now()))
  return { ...form, mayAlert, alertsOf }
}

/** What a record batch has around its records, rounded up. */
const batchBytes = 128

/** As the Java client places a key; a record without one goes where it would by its input partition. */
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
