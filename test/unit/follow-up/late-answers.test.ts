// The notes of a partition that was assigned; that they are followed up is shown on a broker.
import type { Kafka } from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { openLateAnswers } from '../../../src/follow-up/late-answers.js'
import { blockRecord } from '../../../src/follow-up/sightings-topic.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { testTask } from '../../support/task.js'

const sightingsTopic = { topic: 'sightings', partitions: 1 }
const input = { topic: 'fw', partition: 0 }

/** A client whose topics hold these records. */
const clientOf = (records: readonly Outgoing[]): Kafka => {
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

it.each([
  ['are taken up by its next owner', false, Infinity, 2],
  ['are not taken up about what has yet to be delivered', false, 9, 1],
  ['are deleted if they are about events of a former topic of the same name', true, Infinity, 0],
])('the notes of a partition %s', async (_what, isOfFormerTopic, committed, pending) => {
  const notes = [5, 9].map((offset) => ({ offset, fired: [] }))
  const stored = blockRecord(sightingsTopic, input, { id: '5/0/a', notes }, 0)
  const told: TelemetryEvent[] = []
  const written: Outgoing[] = []
  const sightings = openLateAnswers({
    connect: () => clientOf([stored]),
    pipeline: () => true,
    sightingsTopic,
    max: 10,
    emit: (event) => void told.push(event),
    isStillRead: () => Promise.resolve(true),
    isReadIn: () => true,
    now: () => 0,
    reachableMs: () => 0,
    // Nothing is followed up before the task is closed, however slow this machine is.
    pause: (_ms, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('closed')))),
  })
  const task = testTask({
    claim: () => Promise.resolve({ offset: committed, topicId: isOfFormerTopic ? 'b' : 'a' }),
    write: (compose) => {
      written.push(...compose())
      return Promise.resolve('written')
    },
  })
  const state = sightings.open(task)
  await vi.waitFor(() => expect(told).toContainEqual(expect.objectContaining({ event: 'sightings_restored' })), {
    timeout: 600_000,
  })
  expect(told[0]).toMatchObject({ pending })
  task.close()
  await state.close()
  sightings.close()
  expect(written.map(({ key, value }) => [String(key), value])).toEqual(
    isOfFormerTopic ? [['fw/0/pending/5/0/a', null]] : [],
  )
})
