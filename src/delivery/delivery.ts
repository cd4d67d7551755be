// What a delivery tells about the events it delivers, and how what follows from them later is written. Nothing is noted of a chunk before
// it is committed.
import type { EventOut } from '../pipeline/pipeline.js'
import type { Outgoing } from './compose.js'
import type { Fetched } from '../kafka/fetched.js'

export type InputPartition = { readonly topic: string; readonly partition: number }

export const nameOf = ({ topic, partition }: InputPartition): string => `${topic}/${partition}`

/** A partition that is assigned to this process since its last join, and what is needed to claim it. */
export type Assigned = InputPartition & Pick<Fetched, 'generation' | 'seek' | 'proveMembership'>

/** One chunk, from the annotation of its events until it is committed. If it is given up, nothing more is called and nothing was noted. */
export type ChunkSightings = {
  /** Called for every event as soon as it is annotated. Keep no part of it that holds on to its bytes: they are part of a whole fetch. */
  readonly see: (offset: number, event: EventOut) => void
  /** Called with the rules that matched an event, when all events of the chunk were seen. */
  readonly fired: (event: { readonly origin: string }, ruleIds: readonly string[]) => void
  /** Called once after that: what is written with the chunk, under exactly-once in its transaction. */
  readonly records: () => readonly Outgoing[]
  /** Called once, when the chunk is written and its offsets have moved. */
  readonly committed: () => void
}

export type Sightings = {
  readonly chunk: (partition: InputPartition) => ChunkSightings
  /**
   * Call after every join with all partitions that are assigned now: what the others were about is forgotten. `isSameMember`: this process
   * took part in every assignment since the last call, so what it had before was nobody else's in between.
   */
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
  /** Call when the offsets of a partition mean nothing any more: before a claim of it resolves, if that showed it. */
  readonly recreated: (partition: InputPartition) => void
  readonly close: () => Promise<void>
}

/**
 * Makes sure that nobody else writes on behalf of a partition: under exactly-once by fencing its former owner. Resolves with the offset up
 * to which it is committed, as far as that is known then. Rejects if the partition is no longer assigned to this process.
 */
export type ClaimNow = (partition: Assigned) => Promise<number>

/**
 * Writes records as one unit on behalf of an input partition: under exactly-once as a transaction of its own producer, so that a process
 * that lost the partition cannot. `compose` is called when nothing else is in progress for the partition, so that what is written is what
 * holds then; nothing is nothing to write. `unsure`: whether they are written is not known. `refused`: the broker does not take them.
 */
export type Write = (partition: string, compose: () => readonly Outgoing[]) => Promise<Written>
export type Written = 'written' | 'not_written' | 'unsure' | 'refused'
