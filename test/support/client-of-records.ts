// A Kafka client whose topics have the given records in partition 0, for tests of reading when a task opens.
import type { Kafka } from 'kafkajs'
import type { Outgoing } from '../../src/kafka/records.js'

export const clientOfRecords = (records: readonly Outgoing[]): Kafka => {
  const messages = records.map((record, offset) => ({ ...record, offset: String(offset) }))
  const fetch = ({ topics }: { topics: { partitions: { fetchOffset: string }[] }[] }): Promise<object> => {
    const from = Number(topics[0]?.partitions[0]?.fetchOffset)
    return Promise.resolve({
      responses: [{ partitions: [{ abortedTransactions: null, messages: messages.slice(from) }] }],
    })
  }
  const listOffsets = (): Promise<object> =>
    Promise.resolve({ responses: [{ partitions: [{ offset: String(records.length) }] }] })
  const cluster = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    addTargetTopic: () => Promise.resolve(),
    refreshMetadataIfNecessary: () => Promise.resolve(),
    findTopicPartitionMetadata: () => [{ partitionId: 0 }],
    findLeaderForPartitions: () => ({ 1: [0] }),
    findBroker: () => Promise.resolve({ fetch, listOffsets }),
    fetchTopicsOffset: () => Promise.resolve([{ partitions: [{ partition: 0, offset: '0' }] }]),
  }
  return { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka
}
