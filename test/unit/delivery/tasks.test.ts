// Which task a partition has from one join to the next, and what is left of one that is lost.
import { expect, it } from 'vitest'
import type { Delivery } from '../../../src/delivery/delivery.js'
import type { PartitionState } from '../../../src/delivery/listener.js'
import type { Task } from '../../../src/delivery/task.js'
import { createOpenings } from '../../../src/delivery/opening.js'
import { createTasks, type Tasks } from '../../../src/delivery/tasks.js'
import type { Assigned, Fetched } from '../../../src/kafka/fetched.js'
import { recordHealth, type HealthRecord } from '../../../src/kafka/health.js'
import { assignedAs } from '../../support/assigned.js'

const done = (): Promise<void> => Promise.resolve()

type Stage = {
  readonly tasks: Tasks
  readonly health: HealthRecord
  /** What tasks were told, with the number of each. */
  readonly told: string[]
  /** The task that was opened last finds that another process has had its partition. */
  readonly takeOver: (still: Assigned) => void
  /** What claims show. */
  readonly now: { topicId: string | undefined; isFormer: boolean }
  /** Whether the batch that was delivered last may go on. */
  readonly batchGoesOn: () => boolean
}

/** What waits for nothing else has happened. */
const claimed = (): Promise<unknown> => new Promise(setImmediate)

/** `written`: when the write that is in progress at a loss is over; `delivered`: when a batch is. */
const stage = (written = done, delivered = done): Stage => {
  const told: string[] = []
  let opened = 0
  let goesOn = (): boolean => expect.fail('nothing was delivered')
  const now: Stage['now'] = { topicId: undefined, isFormer: false }
  let out: (still: Assigned) => void = () => undefined
  const delivery: Delivery = {
    open: ({ topic, partition, generation }, { progress, readIn, takenOver }) => {
      const name = `${topic}/${partition} (${++opened})`
      told.push(`${name} opened in ${generation}${readIn === undefined ? '' : ` after ${readIn}`}`)
      out = (still) => takenOver(still, 'lost')
      return {
        deliver: async (fetched) => {
          goesOn = fetched.goesOn
          fetched.resolve('41')
          progress.moved(1, 42, 0)
          return delivered()
        },
        write: () => Promise.resolve('written'),
        claim: () => {
          told.push(`${name} claimed`)
          return Promise.resolve({ offset: 0, ...now })
        },
        kept: (assigned) => told.push(`${name} kept in ${assigned.generation}`),
        close: (ending) => {
          told.push(`${name} closed`)
          return ending === 'stopped' ? done() : written()
        },
      }
    },
    close: done,
  }
  let states = 0
  const openState = ({ name, signal }: Task): PartitionState => {
    const state = `state ${++states}`
    told.push(`${state} of ${name} opened`)
    return {
      chunk: () => expect.fail('nothing is annotated'),
      recreated: () => told.push(`${state} created again`),
      close: () => {
        told.push(`${state} closed, its task is ${signal.aborted ? 'lost' : 'open'}`)
        return done()
      },
    }
  }
  const openings = createOpenings({
    limitMs: 60_000,
    reachableMs: () => 0,
    emit: () => undefined,
    fail: (sentence) => expect.fail(sentence),
  })
  const health = recordHealth(() => 0, { unreachableSince: () => undefined })
  return {
    tasks: createTasks({
      delivery,
      openState,
      health,
      openings,
      readAgain: () => expect.fail('nothing is read'),
      fail: (sentence) => told.push(sentence),
    }),
    now,
    health,
    told,
    takeOver: (still) => out(still),
    batchGoesOn: () => goesOn(),
  }
}

const assigned = (generation: number, ...partitions: readonly number[]): readonly Assigned[] =>
  partitions.map((partition) => assignedAs({ partition, generation }))

const ofDeliveries = (told: readonly string[]): readonly string[] =>
  told.filter((one) => !one.startsWith('state') && !one.endsWith('claimed'))

const batch = (partition: number, offset = '42', isReset = false): Fetched =>
  ({
    name: `fw/${partition}`,
    records: [{ offset }],
    isReset,
    goesOn: () => true,
    resolve: () => undefined,
  }) as unknown as Fetched

it('a task that was lost in the middle of a write is closed again with the process', async () => {
  const { tasks, told } = stage(() => new Promise(() => undefined))
  tasks.joined(assigned(1, 0))
  tasks.joined([])
  await tasks.close()
  expect(told).toEqual([
    'fw/0 (1) opened in 1',
    'state 1 of fw/0 opened',
    'fw/0 (1) closed',
    'state 1 closed, its task is lost',
    'fw/0 (1) closed',
  ])
})

it('a task is kept through joins that leave its partition here, and closed with the loss of it', () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0, 1))
  tasks.joined(assigned(2, 1))
  tasks.joined(assigned(3, 0, 1))
  expect(ofDeliveries(told)).toEqual([
    'fw/0 (1) opened in 1',
    'fw/1 (2) opened in 1',
    'fw/0 (1) closed',
    'fw/1 (2) kept in 2',
    'fw/1 (2) kept in 3',
    'fw/0 (3) opened in 3',
  ])
})

it('nothing is delivered of a partition that is lost, and health shows it no longer', async () => {
  const { tasks, health } = stage()
  tasks.joined(assigned(1, 0, 1))
  await tasks.deliver(batch(0))
  await tasks.deliver(batch(1))
  expect(Object.keys(health.read().partitions)).toEqual(['fw/0', 'fw/1'])
  tasks.joined(assigned(2, 1))
  await tasks.deliver(batch(0))
  expect([Object.keys(health.read().partitions), health.read().delivered]).toEqual([['fw/1'], 2])
})

it('after a stop nothing is delivered any more, and what is in progress goes no further', async () => {
  const { tasks, health, batchGoesOn } = stage()
  tasks.joined(assigned(1, 0))
  await tasks.deliver(batch(0))
  expect([health.read().delivered, batchGoesOn()]).toEqual([1, true])
  tasks.stopDelivering()
  await tasks.deliver(batch(0))
  expect([health.read().delivered, batchGoesOn()]).toEqual([1, false])
})

it('events that come again under the same claim end the process, unless the broker no longer had what came next', async () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0))
  await tasks.deliver(batch(0, '40'))
  await tasks.deliver(batch(0, '0', true))
  tasks.joined(assigned(2, 0))
  await tasks.deliver(batch(0, '0'))
  await expect(tasks.deliver(batch(0, '0'))).rejects.toThrow('offset 0 comes after 42 was reached')
  expect(told.filter((one) => one.includes('mistake'))).toHaveLength(1)
})

it('after a thousand assignments and losses as many tasks are closed as were opened', async () => {
  const { tasks, health, told } = stage()
  for (let generation = 1; generation <= 1_000; generation++) {
    tasks.joined(assigned(generation, 0, 1))
    await tasks.deliver(batch(0))
    tasks.joined([])
  }
  expect(ofDeliveries(told).filter((one) => one.endsWith('closed'))).toHaveLength(2_000)
  expect(health.read().partitions).toEqual({})
})

it('what is kept for a task ends with it, and cannot be mistaken for that of the next one', async () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0))
  tasks.joined([])
  tasks.joined(assigned(3, 0))
  await tasks.close()
  expect(told.filter((one) => one.startsWith('state'))).toEqual([
    'state 1 of fw/0 opened',
    'state 1 closed, its task is lost',
    'state 2 of fw/0 opened',
    'state 2 closed, its task is lost',
  ])
})

it('a task that finds that another process has had its partition is opened anew, once, unless it is lost by then', () => {
  const { tasks, told, takeOver } = stage()
  const [first = expect.fail()] = assigned(1, 0)
  tasks.joined([first])
  takeOver(first)
  expect(told.filter((one) => !one.startsWith('state'))).toEqual([
    'fw/0 (1) opened in 1',
    'fw/0 (1) closed',
    'fw/0 (2) opened in 1',
  ])
  tasks.joined([])
  takeOver(first)
  expect(told.at(-1)).toBe('state 2 closed, its task is lost')
})

it('a topic that was created again has tasks of its own, which are claimed when what was in progress has ended', async () => {
  let end = (): void => undefined
  const { tasks, told, now } = stage(done, () => new Promise<void>((resolve) => (end = resolve)))
  now.topicId = 'a'
  tasks.joined(assigned(1, 0, 1))
  await claimed()
  tasks.topicIs('fw', 'a')
  tasks.topicIs('other', 'b')
  const delivered = tasks.deliver(batch(0))
  await claimed()
  told.length = 0
  Object.assign(now, { topicId: 'b', isFormer: true })
  tasks.topicIs('fw', 'b')
  await claimed()
  expect(told).toEqual([
    'fw/0 (1) closed',
    'state 1 closed, its task is lost',
    'fw/0 (3) opened in 1 after a',
    'state 3 of fw/0 opened',
    'fw/1 (2) closed',
    'state 2 closed, its task is lost',
    'fw/1 (4) opened in 1 after a',
    'state 4 of fw/1 opened',
    'fw/1 (4) claimed',
    'state 4 created again',
  ])
  told.length = 0
  end()
  await delivered
  await claimed()
  tasks.topicIs('fw', 'b')
  expect(told).toEqual(['fw/0 (3) claimed', 'state 3 created again'])
})

it('what is stored of a former topic is given up once, at the first claim', async () => {
  const { tasks, told, now } = stage()
  now.isFormer = true
  tasks.joined(assigned(1, 0))
  await claimed()
  tasks.joined(assigned(2, 0))
  await claimed()
  expect(told.filter((one) => one.endsWith('claimed') || one.endsWith('again'))).toEqual([
    'fw/0 (1) claimed',
    'state 1 created again',
    'fw/0 (1) claimed',
  ])
})
