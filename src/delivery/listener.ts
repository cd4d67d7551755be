// What a delivery tells about its events, for each assigned partition. Nothing is noted of a chunk before it is committed.
import type { EventOut } from '../pipeline/pipeline.js'
import type { Item } from './compose.js'
import type { Beside } from '../kafka/commit-metadata.js'
import type { Outgoing } from '../kafka/records.js'

/** One chunk, from the annotation of its events until it is committed or given up. Nothing is noted of one that is given up. */
export type ChunkListener = {
  /** Called for every event as soon as it is annotated. Keep no part of it that holds on to its bytes: they are part of a whole fetch. */
  readonly see: (offset: number, event: EventOut) => void
  /** Called once after that, with the events that there may be alerts of: what is written with the chunk, under exactly-once in its transaction. */
  readonly records: (events: readonly EventOut[]) => readonly Outgoing[]
  /** Called once after that, with what is sent of the chunk: what is kept with the position behind it. */
  readonly beside?: (items: readonly (Item | readonly Item[])[]) => Beside
  /** Called once, when the chunk is written and its offsets have moved. */
  readonly committed: () => void
  /** Called once instead, under exactly-once: its transaction was aborted, or another process has had the partition since and delivers its events. */
  readonly givenUp?: (() => void) | undefined
}

/** One kind of state of a task: it ends with the task. */
export type PartitionState = {
  /** `topicId` is that of the topic which is read; undefined where brokers have no ids. */
  readonly chunk: (topicId?: string) => ChunkListener
  /** Resolves when the partition may be delivered, or is lost; absent: at once. */
  readonly ready?: Promise<void> | undefined
  /** Call when the offsets of the partition mean nothing any more: before a claim of it resolves, if that showed it. */
  readonly recreated: () => void
  /** Call once the task is closed: its signal is aborted by then. */
  readonly close: () => Promise<void>
}
