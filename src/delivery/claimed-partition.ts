// An input partition on whose behalf this process writes under exactly-once: its claim, and its transactions one after the other.
import type { Chunk } from './chunks.js'
import { discard, type Claim } from './claim-partition.js'
import { noRefusals, type Refusals } from './refusals.js'
import type { Assigned } from './delivery.js'

export type ClaimedPartition = Refusals & {
  claim?: Claim | undefined
  /** Since the last join; absent if it is not ours. */
  assigned?: Assigned | undefined
  /** The generation since which nobody else had it. */
  since: number
  /** Its transactions follow one another: the last one that was begun. */
  turn: Promise<unknown>
  /** Chunks of a transaction whose commit failed: the next claim shows whether it counted. */
  unsure?: { readonly generation: number; readonly last: string; readonly chunks: readonly Chunk[] } | undefined
}

export const newPartition = (): ClaimedPartition => ({ ...noRefusals(), since: 0, turn: Promise.resolve() })

export const inTurn = <Result>(partition: ClaimedPartition, task: () => Promise<Result>): Promise<Result> => {
  const mine = partition.turn.then(task)
  partition.turn = mine.catch(() => undefined) // whoever began it handles its failure
  return mine
}

/** If it fails, the claim ends with it: whoever is next in turn must not go on with the transaction, and commit a part of it. */
export const inTurnWithClaim = <Result>(
  partition: ClaimedPartition,
  owned: Claim,
  task: () => Promise<Result>,
): Promise<Result> =>
  inTurn(partition, async () => {
    try {
      return await task()
    } catch (error) {
      if (partition.claim === owned) retire(partition)
      throw error
    }
  })

/** Once per generation. Call in turn: no transaction of the partition is in progress. */
export const claimOnce = async (
  partition: ClaimedPartition,
  generation: number,
  claim: () => Promise<Claim>,
): Promise<Claim> => {
  if (partition.claim?.generation === generation) return partition.claim
  retire(partition)
  const claimed = await claim()
  partition.claim = claimed
  decideUnsure(partition, claimed)
  return claimed
}

/**
 * A claim shows whether a commit whose answer was lost has counted. If somebody else had the partition in between, what is to follow is
 * read from the sightings topic instead.
 */
const decideUnsure = (partition: ClaimedPartition, { offset }: Claim): void => {
  const { unsure, since } = partition
  partition.unsure = undefined
  if (unsure && unsure.generation >= since && offset > Number(unsure.last))
    for (const { sightings } of unsure.chunks) sightings?.committed()
}

export const retire = (partition: ClaimedPartition): void => {
  const old = partition.claim
  partition.claim = undefined
  if (old) discard(old.producer)
}
