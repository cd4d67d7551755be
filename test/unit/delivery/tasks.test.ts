// Which task a partition has from one join to the next, and what is left of one that is lost.
import { expect, it } from 'vitest'
import type { Delivery } from '../../../src/delivery/delivery.js'
import type { PartitionState } from '../../../src/delivery/listener.js'
import type { Task } from '../../../src/delivery/task.js'
import { createTasks, type Tasks } from '../../../src/delivery/tasks.js'
import type { Assigned, Fetched } from '../../../src/kafka/fetched.js'
import { recordHealth, type HealthRecord } from '../../../src/kafka/health.js'

const done = (): Promise<void> => Promise.resolve()

type Stage = {
  readonly tasks: Tasks
  readonly health: HealthRecord
  /** What tasks were told, with the number of each. */
  readonly told: string[]
  /** The task that was opened last finds that another process has had its partition. */
  readonly takeOver: (still: Assigned) => void
}

/** `written`: when the write that is in progress at a loss is over. */
const stage = (written = done): Stage => {
  const told: string[] = []
  let opened = 0
  let out: (still: Assigned) => void = () => undefined
  const delivery: Delivery = {
    joined: () => undefined,
    open: ({ topic, partition, generation }, { progress, takenOver }) => {
      const name = `${topic}/${partition} (${++opened})`
      told.push(`${name} opened in ${generation}`)
      out = takenOver
      return {
        deliver: async () => {
          progress.moved(1, 42, 0)
          return done()
        },
        write: () => Promise.resolve('written'),
        claim: () => Promise.resolve({ offset: 0, topicId: undefined }),
        kept: (assigned) => told.push(`${name} kept in ${assigned.generation}`),
        close: (isEnding) => {
          told.push(`${name} closed`)
          return isEnding ? done() : written()
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
  const health = recordHealth(() => 0, { unreachableSince: () => undefined })
  return { tasks: createTasks({ delivery, openState, health }), health, told, takeOver: (still) => out(still) }
}

const assigned = (generation: number, ...partitions: readonly number[]): readonly Assigned[] =>
  partitions.map((partition) => ({
    topic: 'fw',
    partition,
    generation,
    seek: () => undefined,
    proveMembership: done,
  }))

const ofDeliveries = (told: readonly string[]): readonly string[] => told.filter((one) => !one.startsWith('state'))

const batch = (partition: number): Fetched => ({ name: `fw/${partition}` }) as unknown as Fetched

it('a task that was lost in the middle of a write is closed again with the process', async () => {
  const { tasks, told } = stage(() => new Promise(() => undefined))
  tasks.joined(assigned(1, 0), false)
  tasks.joined([], true)
  await tasks.close()
  expect(told).toEqual([
    'fw/0 (1) opened in 1',
    'state 1 of fw/0 opened',
    'fw/0 (1) closed',
    'state 1 closed, its task is lost',
    'fw/0 (1) closed',
  ])
})

it('a task is kept while this process stays a member, and closed with the loss of its partition', () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0, 1), false)
  tasks.joined(assigned(2, 1), true)
  tasks.joined(assigned(3, 0, 1), true)
  expect(ofDeliveries(told)).toEqual([
    'fw/0 (1) opened in 1',
    'fw/1 (2) opened in 1',
    'fw/0 (1) closed',
    'fw/1 (2) kept in 2',
    'fw/1 (2) kept in 3',
    'fw/0 (3) opened in 3',
  ])
})

it('a partition that another member may have had in between has a new task', () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0), true)
  tasks.joined(assigned(2, 0), false)
  expect(ofDeliveries(told)).toEqual(['fw/0 (1) opened in 1', 'fw/0 (1) closed', 'fw/0 (2) opened in 2'])
})

it('nothing is delivered of a partition that is lost, and health shows it no longer', async () => {
  const { tasks, health } = stage()
  tasks.joined(assigned(1, 0, 1), true)
  await tasks.deliver(batch(0))
  await tasks.deliver(batch(1))
  expect(Object.keys(health.read().partitions)).toEqual(['fw/0', 'fw/1'])
  tasks.joined(assigned(2, 1), true)
  await tasks.deliver(batch(0))
  expect([Object.keys(health.read().partitions), health.read().delivered]).toEqual([['fw/1'], 2])
})

it('after a thousand assignments and losses as many tasks are closed as were opened', async () => {
  const { tasks, health, told } = stage()
  for (let generation = 1; generation <= 1_000; generation++) {
    tasks.joined(assigned(generation, 0, 1), true)
    await tasks.deliver(batch(0))
    tasks.joined([], true)
  }
  expect(ofDeliveries(told).filter((one) => one.endsWith('closed'))).toHaveLength(2_000)
  expect(health.read().partitions).toEqual({})
})

it('what is kept for a task ends with it, and cannot be mistaken for that of the next one', async () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0), true)
  tasks.joined([], true)
  tasks.joined(assigned(3, 0), true)
  tasks.recreated({ topic: 'fw', partition: 0 })
  tasks.recreated({ topic: 'fw', partition: 1 })
  await tasks.close()
  expect(told.filter((one) => one.startsWith('state'))).toEqual([
    'state 1 of fw/0 opened',
    'state 1 closed, its task is lost',
    'state 2 of fw/0 opened',
    'state 2 created again',
    'state 2 closed, its task is lost',
  ])
})

it('a task that finds that another process has had its partition is opened anew, once, unless it is lost by then', () => {
  const { tasks, told, takeOver } = stage()
  const [first = expect.fail()] = assigned(1, 0)
  tasks.joined([first], true)
  takeOver(first)
  expect(told.filter((one) => !one.startsWith('state'))).toEqual([
    'fw/0 (1) opened in 1',
    'fw/0 (1) closed',
    'fw/0 (2) opened in 1',
  ])
  tasks.joined([], true)
  takeOver(first)
  expect(told.at(-1)).toBe('state 2 closed, its task is lost')
})
