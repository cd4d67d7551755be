// What follows late answers, where it goes wrong; that it works is shown on a broker.
import type { Kafka } from 'kafkajs'
import { expect, it, vi } from 'vitest'
import { followLate, type LateEvents } from '../../../src/follow-up/follow-late.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import type { Task } from '../../../src/delivery/task.js'
import { settle } from '../../support/clock.js'
import { testTask } from '../../support/task.js'

const records = [1, 2].map((offset) => ({
  offset: String(offset),
  timestamp: '0',
  key: null,
  value: Buffer.from('{}'),
  headers: [],
}))
const broker = { fetch: () => Promise.resolve({ responses: [{ partitions: [{ messages: records }] }] }) }
const done = (): Promise<void> => Promise.resolve()
const cluster = {
  connect: done,
  disconnect: done,
  addTargetTopic: done,
  refreshMetadataIfNecessary: done,
  findTopicPartitionMetadata: () => [{ partitionId: 0 }],
  findLeaderForPartitions: () => ({ 1: [0] }),
  findBroker: () => Promise.resolve(broker),
  fetchTopicsOffset: () => Promise.resolve([{ partitions: [{ partition: 0, offset: '3' }] }]),
}
const kafka = { [Symbol('private:Kafka:createCluster')]: () => cluster } as unknown as Kafka

type Options = Parameters<typeof followLate>[0]
type FollowUp = ReturnType<ReturnType<typeof followLate>['open']>

/** On a topic of two records, with events that wait for nothing more. */
const start = ({
  write = () => Promise.resolve('written'),
  isRestored = () => true,
  late,
  ...options
}: Partial<Options> & {
  readonly write?: Task['write']
  readonly isRestored?: () => boolean
  readonly late?: LateEvents
}): FollowUp & { readonly lose: () => void } => {
  const following = followLate({
    connect: () => kafka,
    pipeline: (events, use) => {
      events.forEach((_event, nth) => use({ judged: [], summary: {} } as unknown as EventOut, nth))
      return true
    },
    max: 10,
    emit: () => undefined,
    isStillRead: () => Promise.resolve(true),
    isReadIn: () => true,
    now: () => 0,
    reachableMs: () => 0,
    ...options,
  })
  const task = testTask({ write })
  const followUp = following.open(task, isRestored, late)
  return {
    ...followUp,
    lose: task.close,
    close: async () => {
      task.close()
      await followUp.close()
      following.close()
    },
  }
}

it('reports a defect, and follows up again when the next answer arrives', async () => {
  const told: TelemetryEvent[] = []
  const followUp = start({
    connect: () => expect.fail('nothing is read'),
    pipeline: () => expect.fail('nothing is annotated'),
    write: () => expect.fail('nothing is written'),
    emit: (event) => void told.push(event),
    reachableMs: () => {
      throw new Error('a bug')
    },
  })
  for (const offset of [1, 2]) {
    followUp.note(undefined, [{ offset, fired: [], awaited: [] }])
    await vi.waitFor(() => expect(told).toHaveLength(offset), { timeout: 600_000 })
    expect(told.at(-1)).toEqual({ event: 'follow_up_failed', what: 'late answers', cause: 'a bug' })
  }
  await followUp.close()
})

it.each([
  ["no longer than usual after an outage, which is nobody's work", 3_600_000, 0, 100],
  ['four times as long as it takes, so that events which arrive now get most of the time', 2_000, 2_000, 8_000],
  ['ten seconds at most, however long it takes', 3_600_000, 3_600_000, 10_000],
])('what follows later waits %s', async (_, tookMs, reachableMs, expectedMs) => {
  let time = 0
  let reachable = 0
  let written = 0
  const pauses: number[] = []
  const followUp = start({
    sightingsTopic: { topic: 'sightings', partitions: 1 },
    write: () => {
      written++
      time += tookMs
      reachable += reachableMs
      return Promise.resolve('written')
    },
    now: () => time,
    reachableMs: () => reachable,
    pause: (ms) => {
      pauses.push(ms)
      return Promise.resolve()
    },
  })
  followUp.note(undefined, [{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(pauses).toHaveLength(2), { timeout: 600_000 })
  expect(written).toBe(1)
  expect(pauses).toEqual([100, expectedMs])
  await followUp.close()
})

it.each([
  ['are told as suppressed, though nothing is written', 'written', true, 'committed'],
  ['are given back when the partition was lost before it was written', 'closed', false, 'not written'],
] as const)('alerts of what follows %s', async (_, result, isOurs, expected) => {
  const told: string[] = []
  const followUp = start({
    alerts: {
      topic: { topic: 'alerts', partitions: 1 },
      raise: (events) => ({
        alerts: [],
        fired: events.map(() => ['a']),
        committed: () => void told.push('committed'),
        notWritten: (isTriedAgain: boolean) => void told.push(isTriedAgain ? 'not yet written' : 'not written'),
      }),
    },
    write: (compose) => {
      if (!isOurs) followUp.lose()
      if (result === 'written') compose()
      return Promise.resolve(result)
    },
  })
  followUp.note(undefined, [{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(told[0]).toBe(expected), { timeout: 600_000 })
  await followUp.close()
})

it.each([
  ['is read instead of the one that the notes are about', false, true],
  ['turns out to be another one before it is written', true, false],
])('nothing is corrected if the topic %s', async (_, isStillRead, isWanted) => {
  const written: unknown[] = []
  let isAsked = false
  const followUp = start({
    correct: (record) => [{ ...record, topic: 'corrections', partition: 0, key: null }],
    isStillRead: () => {
      isAsked = true
      return Promise.resolve(isStillRead)
    },
    write: (compose) => {
      if (!isWanted) followUp.discard()
      written.push(...compose())
      return Promise.resolve('written')
    },
  })
  followUp.note(undefined, [{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(isAsked).toBe(true), { timeout: 600_000 })
  await followUp.close()
  expect(written).toEqual([])
})

it('what was noted of a former topic is forgotten once the new one is read, and what is noted since is followed up', async () => {
  let read = 'former'
  const written: string[] = []
  const followUp = start({
    correct: (record) => [{ ...record, topic: 'corrections', partition: 0, key: null }],
    isReadIn: (_partition, id) => id === read,
    write: (compose) => {
      written.push(...compose().map(({ topic }) => topic))
      return Promise.resolve('written')
    },
    pause: () => Promise.resolve(),
  })
  let arrive = (): void => undefined
  const answer = new Promise<void>((resolve) => (arrive = resolve))
  followUp.note('former', [{ offset: 1, fired: [], awaited: [] }])
  read = 'new'
  await settle()
  expect(written).toEqual([])
  followUp.note('new', [{ offset: 1, fired: [], awaited: [answer] }])
  // A chunk that was in hand is delivered last.
  followUp.note('former', [{ offset: 2, fired: [], awaited: [] }])
  await settle()
  arrive()
  await vi.waitFor(() => expect(written).toEqual(['corrections']), { timeout: 600_000 })
  await followUp.close()
})

it('nothing is followed up while the notes of the partition are being read', async () => {
  let pauses = 0
  let writtenAfter = 0
  const followUp = start({
    sightingsTopic: { topic: 'sightings', partitions: 1 },
    write: () => {
      writtenAfter = pauses
      return Promise.resolve('written')
    },
    pause: () => {
      pauses++
      return Promise.resolve()
    },
    isRestored: () => pauses >= 5,
  })
  followUp.note(undefined, [{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(writtenAfter).toBe(5), { timeout: 600_000 })
  await followUp.close()
})

it('an event that a spent budget left is annotated again with what others paid for, and is no reason to ask', async () => {
  const asked: (boolean | undefined)[] = []
  const followUp = start({
    pipeline: (events, use) => {
      events.forEach(({ isFree }, nth) => {
        asked.push(isFree)
        use({ judged: [], summary: {} } as unknown as EventOut, nth)
      })
      return true
    },
    pause: () => Promise.resolve(),
  })
  followUp.restore(undefined, {
    id: '1/0',
    notes: [
      { offset: 1, fired: [], isFree: true },
      { offset: 2, fired: [] },
    ],
  })
  await vi.waitFor(() => expect(asked).toEqual([true, undefined]), { timeout: 600_000 })
  await followUp.close()
})

it.each([
  ['written', ['records', 'written']],
  ['refused', ['records', 'written']],
  ['closed', ['records']],
] as const)(
  'who counts an event hears that it was annotated with its answers when that is %s',
  async (result, expected) => {
    const told: string[] = []
    let results = 0
    const tell = (what: string) => (events: readonly { readonly offset: number }[]) => {
      told.push(what)
      expect(events.map(({ offset }) => offset)).toEqual([1])
      return []
    }
    const followUp = start({
      late: { records: tell('records'), written: tell('written') },
      write: (compose) => {
        compose()
        results++
        return Promise.resolve(result)
      },
    })
    followUp.note(undefined, [{ offset: 1, fired: [], awaited: [] }])
    await vi.waitFor(() => expect(results).toBe(1), { timeout: 600_000 })
    await followUp.close()
    expect(told.slice(0, 2)).toEqual(expected)
  },
)
