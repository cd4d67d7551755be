// Tracks the records that brokers refused within transactions, and finds the one that causes a refusal.
import type { Item, Step } from './compose.js'
import { below } from './deliver.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import { readPlace, readTo, type Outgoing, type Send } from '../kafka/records.js'

export type Refusals = {
  /** Refused records by place, with the step at which the next attempt begins. */
  readonly refused: Map<string, { readonly step: Step; readonly reason: string }>
  /** Refused alerts and notes, with the last offset that each belongs to. */
  readonly attachments: Map<string, number>
  /** Records up to this offset are sent one by one, to find the refused one. */
  oneByOneUntil: number
}

export const noRefusals = (): Refusals => ({ refused: new Map(), attachments: new Map(), oneByOneUntil: -1 })

/** Sends items within a transaction. A refusal fails the transaction, so it is noted for the next attempt and rethrown. */
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

/** Forgets the refusals up to an offset, once the records are delivered. */
export const forgetUpTo = (last: string, { refused, attachments }: Refusals): void => {
  for (const [name, offset] of attachments) if (offset <= Number(last)) attachments.delete(name)
  for (const place of refused.keys()) if (parseInt(place) <= Number(last)) refused.delete(place)
}
