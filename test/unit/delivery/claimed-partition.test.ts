// What a claim shows about a transaction whose commit was never answered, and what is left of one that failed.
import type { Producer, Transaction } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Chunk } from '../../../src/delivery/chunks.js'
import {
  beginAnew,
  claimOnce,
  inTurn,
  inTurnWithClaim,
  newPartition,
  type Claim,
} from '../../../src/delivery/claimed-partition.js'

const claimOf = (offset: number, isCommitted: boolean, topicId?: string): Claim => ({
  generation: 3,
  producer: { disconnect: () => Promise.resolve() } as unknown as Producer,
  transaction: {} as Transaction,
  hasDelivered: false,
  offset,
  isCommitted,
  topicId,
})

/** Claims a partition in generation 3 after a commit up to offset 9 in generation 2 was not answered; says what became of that. */
const decide = async (offset: number, since: number, isCommitted = true): Promise<readonly string[]> => {
  const told: string[] = []
  const listener = { committed: () => told.push('committed'), givenUp: () => told.push('given up') }
  const partition = newPartition()
  partition.since = since
  partition.unsure = { generation: 2, last: '9', chunks: [{ listener } as unknown as Chunk] }
  await claimOnce(partition, 3, () => Promise.resolve(claimOf(offset, isCommitted)))
  expect(partition.unsure).toBeUndefined()
  return told
}

it('it has counted if its offsets are committed, also after another join that left the partition here', async () => {
  expect(await decide(10, 1)).toEqual(['committed'])
  expect(await decide(9, 1)).toEqual(['given up'])
})

it('it does not count where somebody else had the partition in between', async () => {
  expect(await decide(10, 3)).toEqual(['given up'])
})

it('it has not counted if nothing is committed and the oldest record that is left is a later one', async () => {
  expect(await decide(10, 1, false)).toEqual(['given up'])
})

it('what a broker refused is forgotten with the topic, and with the partition', async () => {
  const partition = newPartition()
  const refuse = (): void => {
    partition.refused.set('42', { step: 'dead_letter', reason: 'invalid_record' })
    partition.oneByOneUntil = 99
  }
  const left = (): readonly number[] => [partition.refused.size, partition.oneByOneUntil]
  await claimOnce(partition, 3, () => Promise.resolve(claimOf(0, false, 'former')))
  refuse()
  await claimOnce(partition, 4, () => Promise.resolve(claimOf(0, false, 'former')))
  expect(left()).toEqual([1, 99])
  await claimOnce(partition, 5, () => Promise.resolve(claimOf(0, false, 'new')))
  expect(left()).toEqual([0, -1])
  refuse()
  beginAnew(partition)
  await partition.turn
  expect(left()).toEqual([0, -1])
})

it('a transaction that failed half-way is not gone on with by whoever waited for its end', async () => {
  const partition = newPartition()
  const claim = claimOf(0, false)
  partition.claim = claim
  const failing = inTurnWithClaim(partition, claim, () => Promise.reject(new Error('the answer was lost')))
  const next = inTurn(partition, () => Promise.resolve(partition.claim))
  await expect(failing).rejects.toThrow('the answer was lost')
  expect(await next).toBeUndefined()
})
