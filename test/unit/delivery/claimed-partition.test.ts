// What a claim shows about a transaction whose commit was never answered, and what is left of one that failed.
import type { Producer, Transaction } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Chunk } from '../../../src/delivery/chunks.js'
import {
  claimOnce,
  closePartition,
  inTurn,
  inTurnWithClaim,
  newPartition,
  type Claim,
  type ClaimedPartition,
} from '../../../src/delivery/claimed-partition.js'
import type { Assigned } from '../../../src/kafka/fetched.js'

const assigned = (generation: number): Assigned => ({
  topic: 'fw',
  partition: 0,
  generation,
  seek: () => undefined,
  proveMembership: () => Promise.resolve(),
})

const claimOf = (offset: number, isCommitted: boolean, topicId?: string, generation = 3): Claim => ({
  generation,
  producer: { disconnect: () => Promise.resolve() } as unknown as Producer,
  transaction: {} as Transaction,
  hasDelivered: false,
  offset,
  isCommitted,
  topicId,
})

/** A partition with a commit up to offset 9 in generation 2 that was not answered. */
const unsure = (): { readonly partition: ClaimedPartition; readonly told: string[] } => {
  const told: string[] = []
  const listener = { committed: () => told.push('committed'), givenUp: () => told.push('given up') }
  const partition = newPartition(assigned(2))
  partition.unsure = { last: '9', chunks: [{ listener } as unknown as Chunk] }
  return { partition, told }
}

/** Claims it in generation 3; says what became of the commit. */
const decide = async (offset: number, isCommitted = true): Promise<readonly string[]> => {
  const { partition, told } = unsure()
  partition.assigned = assigned(3)
  await claimOnce(partition, () => Promise.resolve(claimOf(offset, isCommitted)))
  expect(partition.unsure).toBeUndefined()
  return told
}

it('it has counted if its offsets are committed, also after another join that left the partition here', async () => {
  expect(await decide(10)).toEqual(['committed'])
  expect(await decide(9)).toEqual(['given up'])
})

it('it does not count where the partition was lost before that was known', async () => {
  const { partition, told } = unsure()
  await closePartition(partition)
  expect(told).toEqual(['given up'])
})

it('it has not counted if nothing is committed and the oldest record that is left is a later one', async () => {
  expect(await decide(10, false)).toEqual(['given up'])
})

it('nothing is claimed for a partition that was lost', async () => {
  const partition = newPartition(assigned(3))
  await closePartition(partition)
  await expect(claimOnce(partition, () => expect.fail('it is another owner’s'))).rejects.toThrow(
    'not assigned any more',
  )
})

it('what a broker refused is forgotten with the topic', async () => {
  const partition = newPartition(assigned(3))
  const claimIn = (generation: number, topicId: string): Promise<Claim> => {
    partition.assigned = assigned(generation)
    return claimOnce(partition, () => Promise.resolve(claimOf(0, false, topicId, generation)))
  }
  const left = (): readonly number[] => [partition.refused.size, partition.oneByOneUntil]
  await claimIn(3, 'former')
  partition.refused.set('42', { step: 'dead_letter', reason: 'invalid_record' })
  partition.oneByOneUntil = 99
  await claimIn(4, 'former')
  expect(left()).toEqual([1, 99])
  await claimIn(5, 'new')
  expect(left()).toEqual([0, -1])
})

it('a transaction that failed half-way is not gone on with by whoever waited for its end', async () => {
  const partition = newPartition(assigned(3))
  const claim = claimOf(0, false)
  partition.claim = claim
  const failing = inTurnWithClaim(partition, claim, () => Promise.reject(new Error('the answer was lost')))
  const next = inTurn(partition, () => Promise.resolve(partition.claim))
  await expect(failing).rejects.toThrow('the answer was lost')
  expect(await next).toBeUndefined()
})
