// The hooks through which delivery reports the events of an assigned partition.
// State changes only once a chunk is committed.
import type { EventOut } from '../pipeline/pipeline.js'
import type { Item } from './compose.js'
import type { Beside } from '../kafka/commit-metadata.js'
import type { Outgoing } from '../kafka/records.js'

/** One chunk, from the annotation of its events until it is committed or given up. A chunk that is given up leaves no state behind. */
export type ChunkListener = {
  /** Called for each event right after its annotation. Keep no slice of its bytes: a slice keeps the whole fetch in memory. */
  readonly see: (offset: number, event: EventOut) => void
  /**
   * Called once after that, with the events that may raise alerts. Returns the records to write with the chunk, under exactly-once in its
   * transaction.
   */
  readonly records: (events: readonly EventOut[]) => readonly Outgoing[]
  /** Called once after that, with the composed items of the chunk. Returns the metadata to commit with its position. */
  readonly beside?: (items: readonly (Item | readonly Item[])[]) => Beside
  /** Called once, when the chunk is written and its offsets have moved. */
  readonly committed: () => void
  /**
   * Called once instead, under exactly-once: the transaction was aborted, or another process took over the partition and delivers its
   * events.
   */
  readonly givenUp?: (() => void) | undefined
}

/** One kind of state of a task, with the same lifetime. */
export type PartitionState = {
  /** `topicId` is the id of the input topic; undefined if the brokers have no topic ids. */
  readonly chunk: (topicId?: string) => ChunkListener
  /** Resolves when the partition may be delivered, or is lost. Absent if delivery need not wait. */
  readonly ready?: Promise<void> | undefined
  /** Call when the offsets of the partition have become meaningless. If a claim shows this, call it before the claim resolves. */
  readonly recreated: () => void
  /** Call once the task is closed and its signal aborted. */
  readonly close: () => Promise<void>
}
