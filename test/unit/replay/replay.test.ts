// How far a replay says that it is, and what it does about records that are refused.
import { expect, it } from 'vitest'
import type { TopicReader } from '../../../src/kafka/topic-reader.js'
import { replay, type ReplayOptions } from '../../../src/replay/replay.js'
import { emptyTally, encodeTally } from '../../../src/replay/tally.js'

it('what another process has written since the ranges were resolved is through', async () => {
  const metadata = encodeTally({ ...emptyTally, events: 20 }, 'id')
  const reader: Partial<TopicReader> = {
    committed: () => Promise.resolve([{ partition: 0, offset: 20, metadata }]),
    fetch: () => Promise.reject(new Error('nothing is left to be read')),
  }
  const options: Partial<Record<keyof ReplayOptions, unknown>> = {
    topic: 'fw',
    kafka: {},
    reader,
    settings: { delivery: 'at-least-once', limits: { concurrentPartitions: 8 }, output: { compression: 'none' } },
    plan: {
      groupId: 'replay-1',
      topicId: 'id',
      ranges: [{ partition: 0, start: 0, end: 20 }],
      isResumed: false,
      reached: new Map(),
    },
    signal: new AbortController().signal,
    now: () => 0,
    moved: () => undefined,
    emit: () => undefined,
  }
  const { partitions } = await replay(options as unknown as ReplayOptions)
  expect(partitions.get(0)).toMatchObject({ position: 20, tally: { events: 20 } })
})

it('however many records of a unit are refused, each is found and the replay comes to its end', async () => {
  const records = Array.from({ length: 12 }, (_, offset) => ({
    offset: String(offset),
    timestamp: '0',
    key: null,
    value: null,
    headers: [],
  }))
  const written: string[] = []
  const done = (): Promise<void> => Promise.resolve()
  type Sent = { readonly topicMessages: readonly { readonly topic: string; readonly messages: readonly unknown[] }[] }
  const transaction = {
    sendBatch: ({ topicMessages }: Sent) => {
      if (topicMessages.some(({ topic }) => topic === 'compacted'))
        return Promise.reject(Object.assign(new Error('no key'), { type: 'INVALID_RECORD', retriable: false }))
      written.push(...topicMessages.flatMap(({ topic, messages }) => messages.map(() => topic)))
      return done()
    },
    sendOffsets: done,
    commit: done,
  }
  const producer = () => ({ connect: done, disconnect: done, transaction: () => Promise.resolve(transaction) })
  const target = { topic: 'compacted', deadLetterTopic: 'dead', maxBytes: 1e6, maxDeadLetterBytes: 1e6 }
  const partitions = { outputPartition: () => 0, deadLetterPartition: () => 0 }
  const options: Partial<Record<keyof ReplayOptions, unknown>> = {
    topic: 'fw',
    kafka: { producer },
    reader: {
      committed: () => Promise.resolve([]),
      fetch: () => Promise.resolve({ records, next: records.length, deleted: 0 }),
    },
    settings: { delivery: 'exactly-once', limits: { concurrentPartitions: 8 }, output: { compression: 'none' } },
    form: { target: { ...target, ...partitions }, max: { count: 500, bytes: 1e6 }, emit: () => undefined },
    plan: {
      groupId: 'replay-1',
      topicId: 'id',
      ranges: [{ partition: 0, start: 0, end: records.length }],
      isResumed: false,
      reached: new Map(),
    },
    pipeline: () => [],
    signal: new AbortController().signal,
    now: () => 0,
    moved: () => undefined,
    emit: () => undefined,
  }
  const { partitions: reached } = await replay(options as unknown as ReplayOptions)
  expect(reached.get(0)?.position).toBe(records.length)
  expect(written.slice(-records.length)).toEqual(records.map(() => 'dead'))
}, 600_000)
