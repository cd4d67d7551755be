// A reader that the partitions of a process share: what several of them need is read once.
import type { Kafka } from 'kafkajs'
import { expect, it } from 'vitest'
import { shareReader } from '../../../src/kafka/shared-reader.js'

const done = (): Promise<void> => Promise.resolve()

it('who wants the same partition at about the same time shares one read, each up to its own end', async () => {
  const messages = [0, 1, 2, 3].map((offset) => ({ offset: String(offset), key: null, value: null, headers: [] }))
  let fetches = 0
  const fetch = (): Promise<object> => {
    fetches++
    return Promise.resolve({ responses: [{ partitions: [{ abortedTransactions: null, messages }] }] })
  }
  const cluster = {
    ...{ connect: done, disconnect: done, addTargetTopic: done, refreshMetadataIfNecessary: done },
    findTopicPartitionMetadata: () => [{ partitionId: 0 }],
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: () => Promise.resolve({ fetch }),
    fetchTopicsOffset: () => Promise.resolve([{ partitions: [{ partition: 0, offset: '0' }] }]),
  }
  const reader = shareReader(() => ({ [Symbol('private:Kafka:createCluster')]: () => cluster }) as unknown as Kafka)
  const read = async (end: number, goesOn = true): Promise<readonly string[]> => {
    const offsets: string[] = []
    const use = ({ offset }: { readonly offset: string }): void => void offsets.push(offset)
    await reader.readUpTo({ topic: 'state', partition: 0, from: 0, end }, use, () => goesOn)
    return offsets
  }
  expect(await Promise.all([read(2), read(4), read(4, false)])).toEqual([['0', '1'], ['0', '1', '2', '3'], []])
  expect(fetches).toBe(1)
  await read(1)
  expect(fetches).toBe(2)
  reader.discard()
})
