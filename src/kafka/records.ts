// Records on their way in and out: as they were read, and as they are written.
import type { FormerVerdict } from '../domain/verdict.js'
import type { RecordOrigin } from '../pipeline/batch/cut-batch.js'
import type { EventIn } from '../pipeline/pipeline.js'
import type { NewRecord } from './wire/record.js'

export type Incoming = NewRecord & {
  readonly topic: string
  readonly partition: number
  readonly offset: string
  /** Its index, if it is a member of the record at that offset, and that record if it was split just now. */
  readonly member?: string | undefined
  readonly whole?: Incoming | undefined
  /** The last offset that is read with it, if that is not its own; only in a replay. */
  readonly readTo?: string | undefined
  /** Where the event was first read, if that was elsewhere; only in a replay. */
  readonly origin?: string | undefined
  /** The verdict it had before; only in a replay. */
  readonly former?: FormerVerdict | undefined
} & Pick<EventIn, 'batch' | 'formers' | 'isFree'> &
  Pick<RecordOrigin, 'format'>

/** The offset, and the member if it is one: `42#7`. */
export const placeIn = ({ offset, member }: Pick<Incoming, 'offset' | 'member'>): string =>
  member === undefined ? offset : `${offset}#${member}`

/** The offset up to which everything is read with the record. */
export const readTo = ({ readTo: last, offset }: Pick<Incoming, 'readTo' | 'offset'>): string => last ?? offset

/** The same in every attempt, and in the order in which records are read. */
export const readPlace = ({ readTo: last, offset, member }: Pick<Incoming, 'readTo' | 'offset' | 'member'>): string =>
  placeIn({ offset: last ?? offset, member })

export type Outgoing = NewRecord & { readonly topic: string; readonly partition: number }

/**
 * Sends one record batch per topic and partition; resolves with whether the brokers took them all or refused records for what they are.
 * `left` are the records of partitions that were not acknowledged then.
 */
export type Send = (
  records: readonly Outgoing[],
) => Promise<'acknowledged' | { readonly refused: string; readonly left: readonly Outgoing[] }>
