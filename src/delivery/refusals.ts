// What brokers have refused of a partition within transactions, and the search for the record that is to blame.
import type { Item, Step } from './compose.js'
import { below } from './deliver.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import { readPlace, readTo, type Outgoing, type Send } from '../kafka/records.js'

export type Refusals = {
  /** By place: records the broker did not take, and the step to try them from next. */
  readonly refused: Map<string, { readonly step: Step; readonly reason: string }>
  /** Alerts and notes that their topic did not take, and the last offset that each belongs to. */
  readonly attachments: Map<string, number>
  /** Up to this offset records are sent one by one, to find the one that is refused. */
  oneByOneUntil: number
}

export const noRefusals = (): Refusals => ({ refused: new Map(), attachments: new Map(), oneByOneUntil: -1 })

/** Sends items within a transaction. A refusal is noted for the next attempt and thrown: the transaction has failed. */
export const sendOrNote = async (
  items: readonly Item[],
  refusals: Refusals,
  send: (records: readonly Outgoing[]) => ReturnType<Send>,
): Promise<void> => {
  const isSuspect = items.some(({ incoming }) => Number(readTo(incoming)) <= refusals.oneByOneUntil)
  for (const part of isSuspect ? items.map((item) => [item]) : [items])
    try {
      await send(part.map(({ composed }) => composed.record))
    } catch (error) {
      const { kind, name } = failureOf(error)
      if (kind === 'refused') noteRefusal(part, name.toLowerCase(), refusals)
      throw error
    }
}

const noteRefusal = (items: readonly Item[], reason: string, refusals: Refusals): void => {
  const [only] = items
  const last = items.at(-1)
  if (items.length === 1 && only) {
    const step = below(only.composed.step, reason)
    if (step === undefined) throw new FatalKafkaError(`even a dead letter that only points was refused: ${reason}`)
    refusals.refused.set(readPlace(only.incoming), { step, reason })
  } else refusals.oneByOneUntil = last ? Number(readTo(last.incoming)) : -1
}

/** Those up to the offset were delivered. */
export const forgetUpTo = (last: string, { refused, attachments }: Refusals): void => {
  for (const [name, offset] of attachments) if (offset <= Number(last)) attachments.delete(name)
  for (const place of refused.keys()) if (parseInt(place) <= Number(last)) refused.delete(place)
}
