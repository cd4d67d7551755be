// The records that are read and written.
import type { FormerVerdict } from '../domain/verdict.js'
import type { RecordOrigin } from '../pipeline/batch/cut-batch.js'
import type { EventIn } from '../pipeline/pipeline.js'
import type { NewRecord } from './wire/record.js'

export type Incoming = NewRecord & {
  readonly topic: string
  readonly partition: number
  readonly offset: string
  /** Index of a member of the record at that offset; `whole` is that record, if it was split just now. */
  readonly member?: string | undefined
  readonly whole?: Incoming | undefined
  /** The last offset covered by the record, if not its own; only in a replay. */
  readonly readTo?: string | undefined
  /** The original place of the event, if another one; only in a replay. */
  readonly origin?: string | undefined
  /** The former verdict; only in a replay. */
  readonly former?: FormerVerdict | undefined
} & Pick<EventIn, 'batch' | 'formers' | 'isFree'> &
  Pick<RecordOrigin, 'format'>

/** The offset, with the member index if there is one: `42#7`. */
export const placeIn = ({ offset, member }: Pick<Incoming, 'offset' | 'member'>): string =>
  member === undefined ? offset : `${offset}#${member}`

/** The last offset covered by the record. */
export const readTo = ({ readTo: last, offset }: Pick<Incoming, 'readTo' | 'offset'>): string => last ?? offset

/** A key that is stable across attempts and ordered like the records. */
export const readPlace = ({ readTo: last, offset, member }: Pick<Incoming, 'readTo' | 'offset' | 'member'>): string =>
  placeIn({ offset: last ?? offset, member })

export type Outgoing = NewRecord & { readonly topic: string; readonly partition: number }

/**
 * Sends one record batch per topic and partition. Resolves with whether the brokers accepted all records or refused some as invalid;
 * `left` are the records of unacknowledged partitions.
 */
export type Send = (
  records: readonly Outgoing[],
) => Promise<'acknowledged' | { readonly refused: string; readonly left: readonly Outgoing[] }>
