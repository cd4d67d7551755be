// What both deliveries do: deliver a fetched batch, and write what follows from its events later.
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Assigned, Fetched } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import type { Kafka } from '../kafka/client.js'
import type { Wait } from '../pipeline/enrich/wait.js'
import type { Emit } from '../telemetry/event.js'
import type { BrokerWatch } from '../kafka/broker-watch.js'
import type { Counted } from './chunks.js'
import type { OutputForm } from './deliver.js'
import type { DeliveryListener } from './listener.js'
import type { HealthRecord } from '../kafka/health.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'

/**
 * Makes sure that nobody else writes on behalf of a partition: under exactly-once by fencing its former owner. Rejects if the partition is no
 * longer assigned to this process.
 */
export type ClaimNow = (partition: Assigned) => Promise<ClaimedNow>
export type ClaimedNow = {
  /** Up to which it is committed, as far as that is known then. */
  readonly offset: number
  /** Of the topic that is read; undefined where brokers have no ids. */
  readonly topicId: string | undefined
}

/**
 * Writes records as one unit on behalf of an input partition: under exactly-once as a transaction of its own producer, so that a process
 * that lost the partition cannot. `compose` is called when nothing else is in progress for the partition, so that what is written is what
 * holds then; nothing is nothing to write. `unsure`: whether they are written is not known. `refused`: the broker does not take them.
 */
export type Write = (partition: string, compose: () => readonly Outgoing[]) => Promise<Written>
export type Written = 'written' | 'not_written' | 'unsure' | 'refused'

export type Delivery = {
  /** `listener` is told about its events. */
  readonly handle: (fetched: Fetched, listener?: Pick<DeliveryListener, 'chunk'>) => Promise<void>
  /** Writes what follows from events of a partition that were delivered before. */
  readonly write: Write
  readonly claim: ClaimNow
  /** Call after every join with all partitions that are assigned now; `isSameMember` as for listeners. */
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
  readonly close: () => Promise<void>
}

/** How long the events of a batch wait for their lookups. */
export type WaitOf = (counted: Pick<Counted, 'events' | 'lag' | 'goesOn'>) => Wait

export type DeliveryOptions = {
  /** Makes a client of its own. */
  readonly connect: () => Kafka
  readonly startingOffsets: StartingOffsets
  readonly settings: KafkaSettings
  readonly pipeline: Pipeline
  readonly waitOf: WaitOf
  readonly form: OutputForm
  readonly health: HealthRecord
  readonly brokers: BrokerWatch
  readonly emit: Emit
}
