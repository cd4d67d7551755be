// The interface of both deliveries: deliver a fetched batch, and later write the follow-ups of its events.
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
  /** The committed offset; Infinity if the claim does not show it. */
  readonly offset: number
  /** Id of the topic that is read; undefined if the brokers have no topic ids. */
  readonly topicId: string | undefined
  /** The committed position belongs to a former topic of the same name, so stored state of the partition describes other records. */
  readonly isFormer: boolean
  /** The group's commit; undefined if there is none, or only one for a former topic. */
  readonly commit?: Commit | undefined
}

/**
 * `refused`: the brokers will never accept it. `closed`: the partition is lost or the process ends, and the next owner decides what to
 * write.
 */
export type Written = 'written' | 'refused' | 'closed'

/** One of the two delivery guarantees. */
export type Delivery = {
  readonly open: (assigned: Assigned, events: PartitionEvents) => PartitionDelivery
  readonly close: () => Promise<void>
}

export type PartitionEvents = {
  readonly progress: PartitionProgress
  /** Id of the topic in which this process read the partition before, if it did. */
  readonly readIn?: string | undefined
  /**
   * Local knowledge of the partition is stale: it was `lost` to another process in between, or its topic was `recreated`. The partition
   * is still assigned here.
   */
  readonly takenOver: (assigned: Assigned, ending: Ending) => void
  /** The claim is lost. Delivery stops until the next claim. */
  readonly unclaimed: (assigned: Assigned) => void
  /** Resolves with the claim once there is one, or with undefined once the task is closed. */
  readonly opened: () => Promise<Claimed | undefined>
  /** A batch was left because of this failure. */
  readonly failed?: ((error: unknown) => void) | undefined
}

/** Delivers and writes for one assigned partition, from its assignment to its loss. */
export type PartitionDelivery = {
  /** `state` observes the events of the batch. */
  readonly deliver: (fetched: Fetched, state?: Pick<PartitionState, 'chunk'>) => Promise<void>
  /**
   * Writes records as one unit and retries until they are written. Under exactly-once the unit is a transaction of the partition's own
   * producer, so a process that lost the partition cannot commit it. Each attempt calls `compose` again, at a point where no other write
   * of the partition is in progress, so the records reflect the current state. An empty list writes nothing. Never rejects.
   */
  readonly write: (compose: () => readonly Outgoing[]) => Promise<Written>
  /**
   * Makes this process the only writer of the partition, under exactly-once by fencing its former owner, and sets the read position.
   * Rejects if the partition is no longer assigned to this process.
   */
  readonly claim: () => Promise<Claimed>
  /** Call when the partition stays here after another join. */
  readonly kept: (assigned: Assigned) => void
  /** Finishes any work in progress, unless the process stops. */
  readonly close: (ending: Ending) => Promise<void>
}

/** How long the events of a batch wait for their lookups. */
export type WaitOf = (counted: Pick<Counted, 'events' | 'lag' | 'goesOn'>) => Wait

export type DeliveryOptions = {
  /** Creates a separate client. */
  readonly connect: () => Kafka
  readonly startingOffsets: StartingOffsets
  readonly settings: KafkaSettings
  readonly pipeline: Pipeline
  readonly waitOf: WaitOf
  readonly form: OutputForm
  readonly brokers: Pick<BrokerWatch, 'reachableMs'>
  readonly emit: Emit
  /** Ends the process with this message. */
  readonly fail: (sentence: string, needsOperator?: boolean) => void
}
