// Sends the attachments of a chunk, its alerts and notes.
// A record that its topic refuses is dropped and counted, because events must never wait for it.
import { splitByCountAndBytes, type OutputForm } from './deliver.js'
import type { Refusals } from './refusals.js'
import { failureOf } from '../kafka/failure.js'
import type { Outgoing, Send } from '../kafka/records.js'
import { recordBytes } from '../kafka/wire/encode-batch.js'

/** Drops the records that exceed the size limit of their topic. */
export const fitting = (records: readonly Outgoing[], { emit, maxBytesOf }: OutputForm): readonly Outgoing[] => {
  const isFitting = (record: Outgoing): boolean => recordBytes(record) <= (maxBytesOf?.(record.topic) ?? Infinity)
  if (records.every(isFitting)) return records
  dropped(
    records.filter((record) => !isFitting(record)),
    'too_large',
    emit,
  )
  return records.filter(isFitting)
}

/** Sends the parts in order. A refused part is halved until the refused record is alone. */
export const sendAttachments = async (records: readonly Outgoing[], send: Send, form: OutputForm): Promise<void> => {
  for (const part of splitByCountAndBytes(fitting(records, form), recordBytes, form.max))
    await sendPart(part, send, form)
}

const sendPart = async (part: readonly Outgoing[], send: Send, form: OutputForm): Promise<void> => {
  const result = await send(part)
  if (result === 'acknowledged') return
  const { left, refused } = result
  if (left.length <= 1) {
    dropped(left, refused.toLowerCase(), form.emit)
    return
  }
  const half = Math.ceil(left.length / 2)
  await sendPart(left.slice(0, half), send, form)
  await sendPart(left.slice(half), send, form)
}

/**
 * Sends within a transaction, which fails when a record is refused. The next attempt sends records one by one to find it, and the one
 * after that leaves it out. `upTo` is the last offset that the records belong to.
 */
export const sendAttachmentsOrNote = async (
  records: readonly Outgoing[],
  upTo: string,
  refusals: Refusals,
  send: (records: readonly Outgoing[]) => ReturnType<Send>,
  form: OutputForm,
): Promise<void> => {
  const { attachments } = refusals
  const wanted = fitting(records, form).filter((record) => attachments.size === 0 || !attachments.has(nameOf(record)))
  const isSuspect = Number(upTo) <= refusals.oneByOneUntil
  const parts = isSuspect ? wanted.map((one) => [one]) : splitByCountAndBytes(wanted, recordBytes, form.max)
  for (const part of parts)
    try {
      await send(part)
    } catch (error) {
      const { kind, name } = failureOf(error)
      const [only] = part
      if (kind === 'refused' && only && part.length === 1) {
        attachments.set(nameOf(only), Number(upTo))
        dropped(part, name.toLowerCase(), form.emit)
      } else if (kind === 'refused') refusals.oneByOneUntil = Math.max(refusals.oneByOneUntil, Number(upTo))
      throw error
    }
}

/** Identifies a record across attempts, since each attempt composes it anew. */
const nameOf = ({ topic, key, value }: Outgoing): string => `${topic} ${(key ?? value ?? '').toString('latin1')}`

const dropped = (records: readonly Outgoing[], reason: string, emit: OutputForm['emit']): void => {
  for (const topic of new Set(records.map((record) => record.topic)))
    emit({
      event: 'attachments_dropped',
      topic,
      records: records.filter((record) => record.topic === topic).length,
      reason,
    })
}
