// How far a replay says that it is.
import { expect, it } from 'vitest'
import type { TopicReader } from '../../../src/kafka/topic-reader.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'
import { replay, type Progress, type ReplayOptions } from '../../../src/replay/replay.js'
import { emptyTally } from '../../../src/replay/tally.js'

const replayed = (
  reader: Partial<TopicReader>,
  end: number,
  more: Partial<Record<keyof ReplayOptions, unknown>> = {},
): Promise<Progress> => {
  const options: Partial<Record<keyof ReplayOptions, unknown>> = {
    topic: 'fw',
    kind: 'raw',
    key: 'threatweave',
    placement: 'json',
    connect: () => ({}),
    topics: { facts: new Map() },
    reader,
    settings: {
      delivery: 'at-least-once',
      limits: {
        concurrentPartitions: 8,
        chunkEvents: 500,
        chunkBytes: 1e6,
        sendBytes: 1e6,
        chunkDeadlineMs: 60_000,
      },
      output: { topic: 'again', compression: 'none', partitionBy: 'input' },
    },
    plan: {
      groupId: 'replay-1',
      topicId: 'id',
      ranges: [{ partition: 0, start: 0, end }],
      isResumed: false,
      reached: new Map(),
    },
    signal: new AbortController().signal,
    now: () => 0,
    moved: () => undefined,
    emit: () => undefined,
    ...more,
  }
  return replay(options as unknown as ReplayOptions)
}

it('what another process has written since the ranges were resolved is through', async () => {
  const metadata = JSON.stringify({ ...emptyTally, events: 20, topic_id: 'id' })
  const reader: Partial<TopicReader> = {
    settled: () => Promise.resolve({ partition: 0, offset: 20, metadata }),
    fetch: () => Promise.reject(new Error('nothing is left to be read')),
  }
  const { partitions } = await replayed(reader, 20)
  expect(partitions.get(0)).toMatchObject({ position: 20, tally: { events: 20 } })
})

it('a stop counts what was written, and the next start goes on there', async () => {
  const committed: unknown[] = []
  const records = Array.from({ length: 300 }, (_, offset) => ({
    offset: String(offset),
    timestamp: '0',
    key: null,
    value: Buffer.from('{}'),
    headers: [],
  }))
  const reader = {
    settled: () => Promise.resolve(undefined),
    fetch: () => Promise.resolve({ records, next: 300, deleted: 0 }),
    commit: (_group: string, _topic: string, positions: readonly unknown[]) => {
      committed.push(...positions)
      return Promise.resolve()
    },
  } as unknown as Partial<TopicReader>
  const stop = new AbortController()
  const producer = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    sendBatch: () => {
      stop.abort()
      return Promise.resolve()
    },
  }
  const event = { verdict: 'clean', judged: [], annotation: {}, bytes: () => Buffer.from('{}') } as unknown as EventOut
  const { partitions } = await replayed(reader, 300, {
    connect: () => ({ producer: () => producer }),
    pipeline: (events: readonly unknown[], use: (one: EventOut, nth: number) => void) => {
      events.forEach((_, nth) => use(event, nth))
      return true
    },
    wait: { kind: 'complete', turn: () => undefined },
    signal: stop.signal,
  })
  const written = partitions.get(0)
  expect(written).toMatchObject({ position: 64, tally: { events: 64 } })
  expect(committed).toMatchObject([{ partition: 0, offset: 64 }])
})
