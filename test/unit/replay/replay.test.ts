// How far a replay says that it is.
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
