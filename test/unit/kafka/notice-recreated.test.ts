// When partitions that bring no events are read from their beginning, because their topic was created again.
import { expect, it } from 'vitest'
import type { Assigned } from '../../../src/kafka/fetched.js'
import { noticeRecreated } from '../../../src/kafka/notice-recreated.js'

type World = ReturnType<typeof noticeRecreated> & {
  /** The id that the topic has now. */
  id: string
  /** That of the topic in which deliveries have positions. */
  readIn: string
  /** What is answered about commits: the id that they name, if there are any. */
  committed: () => Promise<string | undefined>
  readonly sought: string[]
}

const open = (): World => {
  const sought: string[] = []
  const shared = { generation: 1, running: new Map<string, Promise<void>>() }
  const notice = noticeRecreated(
    {
      identity: { current: () => Promise.resolve(world.id) },
      isReadIn: (_partition, id) => id === world.readIn,
      committedElsewhere: async (_topic, partitions, id) => {
        const committedIn = await world.committed()
        return committedIn === undefined || committedIn === id ? [] : partitions
      },
      shared,
    },
    () => false,
  )
  const world: World = {
    ...notice,
    id: 'a',
    readIn: 'a',
    committed: () => Promise.resolve('a'),
    sought,
  }
  const partition: Assigned = {
    topic: 'fw',
    partition: 0,
    generation: 1,
    seek: (offset) => {
      notice.positioned(partition)
      sought.push(offset)
    },
    proveMembership: () => Promise.resolve(),
  }
  notice.joined([partition])
  return world
}
const fw = { topic: 'fw', partition: 0 }

it('reads anew what the group committed in a former topic, once for each id', async () => {
  const world = open()
  world.id = 'b'
  await world.look()
  await world.look()
  expect(world.sought).toEqual(['0'])
  world.id = 'c'
  await world.look()
  await world.look()
  expect(world.sought).toEqual(['0', '0'])
})

it('leaves a position that a delivery has set while commits are looked up, although the topic is another by then', async () => {
  const world = open()
  let answer: (id: string) => void = () => undefined
  world.committed = () =>
    new Promise((resolve) => {
      answer = resolve
    })
  const looking = world.look()
  await new Promise(setImmediate)
  world.id = 'b'
  world.readIn = 'b'
  world.positioned(fw)
  answer('former')
  await looking
  expect(world.sought).toEqual([])
})

it('remembers where the commits were that are gone with their topic', async () => {
  const world = open()
  await world.look()
  expect(world.sought).toEqual([])
  world.id = 'b'
  world.committed = () => Promise.resolve(undefined)
  await world.look()
  expect(world.sought).toEqual(['0'])
})
