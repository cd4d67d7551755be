// Removes records of aborted transactions from a fetch.
import type { WireRecord } from '../wire/record.js'

export type AbortedTransaction = { readonly producerId: string; readonly firstOffset: string }

/**
 * An aborted transaction spans from its first offset to the abort marker of its producer. The filter of kafkajs starts at most one
 * per record, trusts the order of the list, and mistakes a data record with a key of four zero bytes for a marker.
 */
export const dropAborted = ({
  messages,
  abortedTransactions,
}: {
  readonly messages: readonly WireRecord[]
  readonly abortedTransactions?: readonly AbortedTransaction[] | null
}): readonly WireRecord[] => {
  if (!abortedTransactions || abortedTransactions.length === 0) return messages
  const ahead = abortedTransactions
    .map(({ producerId, firstOffset }) => ({ producerId, firstOffset: Number(firstOffset) }))
    .sort((a, b) => a.firstOffset - b.firstOffset)
  const open = new Set<string>()
  let next = 0
  return messages.filter((message) => {
    const offset = Number(message.offset)
    for (let first = ahead[next]; first && first.firstOffset <= offset; first = ahead[++next])
      open.add(first.producerId)
    const { producerId, inTransaction } = message.batchContext
    if (message.isControlRecord) {
      if (isAbortMarker(message.key)) open.delete(producerId)
      return true
    }
    return !(inTransaction && open.has(producerId))
  })
}

/** The key of a control record is a version and a type, 16 bits each; type 0 aborts. */
const isAbortMarker = (key: Buffer | null): boolean => key !== null && key.length >= 4 && key.readInt16BE(2) === 0
