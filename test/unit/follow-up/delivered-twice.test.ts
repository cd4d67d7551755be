// What is noted in the sightings topic about events that are delivered twice, as the next owner of their partition reads it.
import type { Kafka } from 'kafkajs'
import { expect, it, vi } from 'vitest'
import type { Judged } from '../../../src/domain/verdict.js'
import { openLateAnswers } from '../../../src/follow-up/late-answers.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { openTaskState, type TaskState } from '../../../src/follow-up/restore-state.js'
import { shareReader } from '../../../src/kafka/shared-reader.js'
import { stateTopic } from '../../support/state.js'
import { testTask } from '../../support/task.js'

const input = { topic: 'fw', partition: 0 }
const done = (): Promise<void> => Promise.resolve()
const logs: Record<string, Outgoing[]> = {
  sightings: [],
  fw: Array.from({ length: 10 }, () => ({
    ...input,
    key: null,
    value: Buffer.from('{}'),
    headers: [],
    timestamp: '0',
  })),
}

type Request = { readonly topics: readonly [{ readonly topic: string; readonly partitions: readonly [Position] }] }
type Position = { readonly fetchOffset: string }
const broker = {
  listOffsets: ({ topics: [{ topic }] }: Request) =>
    Promise.resolve({ responses: [{ partitions: [{ offset: String(logs[topic]?.length) }] }] }),
  fetch: ({ topics: [{ topic, partitions }] }: Request) => {
    const from = Number(partitions[0].fetchOffset)
    const messages = (logs[topic] ?? []).map((record, offset) => ({ ...record, offset: String(offset) })).slice(from)
    return Promise.resolve({ responses: [{ partitions: [{ messages }] }] })
  },
}
type Ask = readonly [{ readonly topic: string; readonly fromBeginning?: boolean }]
const cluster = {
  connect: done,
  disconnect: done,
  addTargetTopic: done,
  refreshMetadataIfNecessary: done,
  findTopicPartitionMetadata: () => [{ partitionId: 0 }],
  findLeaderForPartitions: () => ({ 1: [0] }),
  findBroker: () => Promise.resolve(broker),
  fetchTopicsOffset: ([{ topic, fromBeginning }]: Ask) =>
    Promise.resolve([
      { partitions: [{ partition: 0, offset: String(fromBeginning === true ? 0 : logs[topic]?.length) }] },
    ]),
}
const kafka = { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka

const options = (now: number): Parameters<typeof openLateAnswers>[0] => ({
  pipeline: (events, use) => {
    events.forEach((_, nth) => use(complete, nth))
    return true
  },
  correct: ({ offset }) => [{ ...input, topic: 'corrections', ...only, value: Buffer.from(offset) }],
  max: 100,
  emit: () => undefined,
  now: () => now,
  reachableMs: () => 0,
})
const task = (): ReturnType<typeof testTask> =>
  testTask({
    readAgain: (offsets) =>
      Promise.resolve({
        records: offsets.map((offset) => ({ ...input, ...(logs.fw?.[offset] as Outgoing), offset: String(offset) })),
        gone: [],
        rest: [],
      }),
    write: (compose) => {
      for (const record of compose()) (logs[record.topic] ??= []).push(record)
      return Promise.resolve('written')
    },
  })
const stateOf = (of: ReturnType<typeof testTask>): TaskState =>
  openTaskState(of, { state: stateTopic, reader: shareReader(() => kafka), emit: () => undefined, now: () => 0 })
const only = { key: null, headers: [], timestamp: '0' } as const
const complete = { judged: [] } as unknown as EventOut
const pending = {
  judged: [{ late: new Promise(() => undefined), verdict: { reason: 'pending' } } as unknown as Judged],
} as unknown as EventOut

it('an event that is delivered twice, first pending and then complete, is corrected', async () => {
  /** A process that is killed before the offsets have moved. */
  const deliver = (now: number, events: ReadonlyMap<number, EventOut>): void => {
    const killed = testTask({ claim: () => new Promise(() => undefined) })
    const chunk = openLateAnswers(options(now)).open(killed, stateOf(killed)).chunk()
    for (const [offset, event] of events) chunk.see(offset, event)
    logs.sightings?.push(...chunk.records())
  }
  deliver(1, new Map([5, 6, 7].map((offset) => [offset, pending])))
  deliver(2, new Map([5, 6, 7].map((offset) => [offset, offset === 6 ? complete : pending])))

  const owner = openLateAnswers(options(3))
  const owned = task()
  const state = owner.open(owned, stateOf(owned))
  await vi.waitFor(() => expect(logs.corrections?.length).toBeGreaterThan(1), { timeout: 600_000 })
  expect(logs.corrections?.map(({ value }) => String(value)).toSorted()).toEqual(['5', '6', '7'])
  // Nobody waits any more.
  const last = new Map(logs.sightings?.map(({ key, value }) => [String(key), value]))
  expect(new Set(last.values())).toEqual(new Set([null]))
  owned.close()
  await state.close()
})
