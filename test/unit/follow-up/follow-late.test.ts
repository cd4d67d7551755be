// What follows late answers, where it goes wrong; that it works is shown on a broker.
import { expect, it, vi } from 'vitest'
import { followLate, type LateAlerts, type LateEvents } from '../../../src/follow-up/follow-late.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import type { Task } from '../../../src/delivery/task.js'
import { settle } from '../../support/clock.js'
import { testState } from '../../support/state.js'
import { testTask } from '../../support/task.js'

const recordsAt = (offsets: readonly number[]): Awaited<ReturnType<Task['readAgain']>> => ({
  records: offsets.map((offset) => ({
    topic: 'fw',
    partition: 0,
    offset: String(offset),
    timestamp: '0',
    key: null,
    value: Buffer.from('{}'),
    headers: [],
  })),
  gone: [],
  rest: [],
})

type Options = Parameters<typeof followLate>[0]
type FollowUp = ReturnType<ReturnType<typeof followLate>['open']>

/** On a topic that has every record, with events that wait for nothing more. */
const start = ({
  write = (compose) => {
    compose()
    return Promise.resolve('written')
  },
  readAgain = (offsets) => Promise.resolve(recordsAt(offsets)),
  isRestored = () => true,
  isKept = false,
  late,
  alerts,
  ...options
}: Partial<Options> & {
  readonly write?: Task['write']
  readonly readAgain?: Task['readAgain']
  readonly isRestored?: () => boolean
  /** Whether notes are kept in the state topic. */
  readonly isKept?: boolean
  readonly late?: LateEvents
  readonly alerts?: LateAlerts
}): FollowUp & { readonly lose: () => void } => {
  const following = followLate({
    pipeline: (events, use) => {
      events.forEach((_event, nth) => use({ judged: [], summary: {} } as unknown as EventOut, nth))
      return true
    },
    max: 10,
    emit: () => undefined,
    now: () => 0,
    reachableMs: () => 0,
    ...options,
  })
  const task = testTask({ write, readAgain })
  const followUp = following.open(task, isRestored, isKept ? testState(task) : undefined, late, alerts)
  return {
    ...followUp,
    lose: task.close,
    close: async () => {
      task.close()
      await followUp.close()
    },
  }
}

it('reports a defect, and follows up again when the next answer arrives', async () => {
  const told: TelemetryEvent[] = []
  const followUp = start({
    readAgain: () => expect.fail('nothing is read'),
    pipeline: () => expect.fail('nothing is annotated'),
    write: () => expect.fail('nothing is written'),
    emit: (event) => void told.push(event),
    reachableMs: () => {
      throw new Error('a bug')
    },
  })
  for (const offset of [1, 2]) {
    followUp.note([{ offset, fired: [], awaited: [] }])
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
    isKept: true,
    write: (compose) => {
      compose()
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
  followUp.note([{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(pauses).toHaveLength(2), { timeout: 600_000 })
  expect(written).toBe(1)
  expect(pauses).toEqual([100, expectedMs])
  await followUp.close()
})

it.each([
  ['count as suppressed, though nothing is written', 'written', true, ['begun', 'committed']],
  ['count for nothing if they are refused', 'refused', true, ['begun', 'given up']],
  ['count for nothing if the partition was lost before they were written', 'closed', false, ['begun', 'given up']],
] as const)('alerts of what follows %s', async (_, result, isOurs, expected) => {
  const told: string[] = []
  const followUp = start({
    alerts: {
      isReady: () => true,
      begin: () => {
        told.push('begun')
        return {
          raise: (events) => ({ alerts: [], fired: events.map(() => ['a']) }),
          windows: () => [],
          commit: () => void told.push('committed'),
          giveUp: () => void told.push('given up'),
        }
      },
    },
    write: (compose) => {
      compose()
      if (!isOurs) followUp.lose()
      return Promise.resolve(result)
    },
  })
  followUp.note([{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(told).toEqual(expected), { timeout: 600_000 })
  await followUp.close()
})

it('nothing is corrected while records cannot be read again in the topic of the task', async () => {
  const written: string[] = []
  let reads = 0
  const followUp = start({
    correct: (record) => [{ ...record, topic: 'corrections', partition: 0, key: null }],
    readAgain: (offsets) =>
      ++reads < 3 ? Promise.reject(new Error('created again')) : Promise.resolve(recordsAt(offsets)),
    write: (compose) => {
      written.push(...compose().map(({ topic }) => `${topic} ${reads}`))
      return Promise.resolve('written')
    },
    pause: () => Promise.resolve(),
  })
  followUp.note([{ offset: 1, fired: [], awaited: [] }])
  await vi.waitFor(() => expect(written).toEqual(['corrections 3']), { timeout: 600_000 })
  await followUp.close()
})

it('a chunk that is committed after the task was closed leaves no notes', async () => {
  const followUp = start({ readAgain: () => expect.fail('nothing is read'), pause: () => Promise.resolve() })
  followUp.lose()
  followUp.note([{ offset: 1, fired: [], awaited: [] }])
  await settle()
  await followUp.close()
})

it('nothing is followed up while the notes of the partition are being read', async () => {
  let pauses = 0
  let writtenAfter = 0
  const followUp = start({
    isKept: true,
    write: (compose) => {
      compose()
      writtenAfter = pauses
      return Promise.resolve('written')
    },
    pause: () => {
      pauses++
      return Promise.resolve()
    },
    isRestored: () => pauses >= 5,
  })
  followUp.note([{ offset: 1, fired: [], awaited: [] }])
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
  followUp.restore({
    id: '1/0',
    version: 2,
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
    followUp.note([{ offset: 1, fired: [], awaited: [] }])
    await vi.waitFor(() => expect(results).toBe(1), { timeout: 600_000 })
    await followUp.close()
    expect(told.slice(0, 2)).toEqual(expected)
  },
)
