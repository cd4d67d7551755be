// What both deliveries do: deliver a fetched batch, and write what follows from its events later.
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Commit } from '../kafka/commit-metadata.js'
import type { Assigned, Fetched } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import type { Kafka } from '../kafka/client.js'
import type { Wait } from '../pipeline/enrich/wait.js'
import type { Emit } from '../telemetry/event.js'
import type { BrokerWatch } from '../kafka/broker-watch.js'
import type { Counted } from './chunks.js'
import type { OutputForm } from './deliver.js'
import type { PartitionState } from './listener.js'
import type { PartitionProgress } from '../kafka/health.js'
import type { Ending } from './task-states.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { StartingOffsets } from '../kafka/starting-offsets.js'

export type Claimed = {
  /** Up to which it is committed, as far as that is known then. */
  readonly offset: number
  /** Of the topic that is read; undefined where brokers have no ids. */
  readonly topicId: string | undefined
  /** The position was one in a former topic of the same name: what is stored of the partition is about other records. */
  readonly isFormer: boolean
  /** What the group has committed; undefined: nothing, or a position in a former topic. */
  readonly commit?: Commit | undefined
}

/** `refused`: the brokers will never take it. `closed`: the partition is lost, or this process ends; whoever has it next decides what is to be written. */
export type Written = 'written' | 'refused' | 'closed'

/** One of the two ways to write. */
export type Delivery = {
  readonly open: (assigned: Assigned, events: PartitionEvents) => PartitionDelivery
  readonly close: () => Promise<void>
}

export type PartitionEvents = {
  readonly progress: PartitionProgress
  /** Of the topic that this process has read the partition in before, if it has. */
  readonly readIn?: string | undefined
  /** What is known of the partition is out of date: it was `lost` to another process in between, or its topic was `recreated`. It is still assigned as given. */
  readonly takenOver: (assigned: Assigned, ending: Ending) => void
  /** The claim is lost: nothing is delivered until there is another one. */
  readonly unclaimed: (assigned: Assigned) => void
  /** Resolves as soon as the partition is claimed; with nothing once its task is closed. */
  readonly opened: () => Promise<Claimed | undefined>
  /** A batch was left because of this failure. */
  readonly failed?: ((error: unknown) => void) | undefined
}

/** What is delivered and written on behalf of one assigned partition, from its assignment to its loss. */
export type PartitionDelivery = {
  /** `state` is told about the events of the batch. */
  readonly deliver: (fetched: Fetched, state?: Pick<PartitionState, 'chunk'>) => Promise<void>
  /**
   * Writes records as one unit, and tries until they are written: under exactly-once as a transaction of the partition's own producer, so that a
   * process that lost the partition cannot. `compose` is called for each attempt when nothing else is in progress for the partition, so that what is
   * written is what holds then; nothing is nothing to write. Never rejects.
   */
  readonly write: (compose: () => readonly Outgoing[]) => Promise<Written>
  /**
   * Makes sure that nobody else writes on behalf of the partition, under exactly-once by fencing its former owner, and sets where it is read.
   * Rejects if the partition is no longer assigned to this process.
   */
  readonly claim: () => Promise<Claimed>
  /** It stays here after another join. */
  readonly kept: (assigned: Assigned) => void
  /** Finishes what is in progress, unless the process stops. */
  readonly close: (ending: Ending) => Promise<void>
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
  readonly brokers: Pick<BrokerWatch, 'reachableMs'>
  readonly emit: Emit
  /** Ends the process with the sentence. */
  readonly fail: (sentence: string, needsOperator?: boolean) => void
}
