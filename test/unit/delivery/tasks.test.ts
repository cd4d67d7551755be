// Which task a partition has from one join to the next, and what is left of one that is lost.
import { expect, it } from 'vitest'
import type { Delivery } from '../../../src/delivery/delivery.js'
import { createTasks, type Tasks } from '../../../src/delivery/tasks.js'
import type { Assigned, Fetched } from '../../../src/kafka/fetched.js'
import { recordHealth, type HealthRecord } from '../../../src/kafka/health.js'

const done = (): Promise<void> => Promise.resolve()

/** What tasks were told, with the number of each. */
const stage = (): { readonly tasks: Tasks; readonly health: HealthRecord; readonly told: string[] } => {
  const told: string[] = []
  let opened = 0
  const delivery: Delivery = {
    joined: () => undefined,
    open: ({ topic, partition, generation }, progress) => {
      const name = `${topic}/${partition} (${++opened})`
      told.push(`${name} opened in ${generation}`)
      return {
        deliver: async () => {
          progress.moved(1, 42, 0)
          return done()
        },
        write: () => Promise.resolve('written'),
        claim: () => Promise.resolve({ offset: 0, topicId: undefined }),
        kept: (assigned) => told.push(`${name} kept in ${assigned.generation}`),
        close: () => {
          told.push(`${name} closed`)
          return done()
        },
      }
    },
    close: done,
  }
  const health = recordHealth(() => 0, { unreachableSince: () => undefined })
  return { tasks: createTasks(delivery, health), health, told }
}

const assigned = (generation: number, ...partitions: readonly number[]): readonly Assigned[] =>
  partitions.map((partition) => ({
    topic: 'fw',
    partition,
    generation,
    seek: () => undefined,
    proveMembership: done,
  }))

const batch = (partition: number): Fetched => ({ name: `fw/${partition}` }) as unknown as Fetched

it('a task is kept while this process stays a member, and closed with the loss of its partition', () => {
  const { tasks, told } = stage()
  tasks.joined(assigned(1, 0, 1), false)
  tasks.joined(assigned(2, 1), true)
  tasks.joined(assigned(3, 0, 1), true)
  expect(told).toEqual([
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
  expect(told).toEqual(['fw/0 (1) opened in 1', 'fw/0 (1) closed', 'fw/0 (2) opened in 2'])
})

it('nothing is delivered or written on behalf of a partition that is lost, and health shows it no longer', async () => {
  const { tasks, health } = stage()
  tasks.joined(assigned(1, 0, 1), true)
  await tasks.deliver(batch(0))
  await tasks.deliver(batch(1))
  expect(Object.keys(health.read().partitions)).toEqual(['fw/0', 'fw/1'])
  tasks.joined(assigned(2, 1), true)
  await tasks.deliver(batch(0))
  expect([Object.keys(health.read().partitions), health.read().delivered]).toEqual([['fw/1'], 2])
  expect(await tasks.write('fw/0', () => expect.fail('it is another owner’s'))).toBe('not_written')
})

it('after a thousand assignments and losses as many tasks are closed as were opened', async () => {
  const { tasks, health, told } = stage()
  for (let generation = 1; generation <= 1_000; generation++) {
    tasks.joined(assigned(generation, 0, 1), true)
    await tasks.deliver(batch(0))
    tasks.joined([], true)
  }
  expect(told.filter((one) => one.endsWith('closed'))).toHaveLength(2_000)
  expect(health.read().partitions).toEqual({})
})
