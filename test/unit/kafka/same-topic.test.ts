// When a topic counts as another one of the same name.
import { describe, expect, it } from 'vitest'
import { sameTopic, type SameTopic } from '../../../src/kafka/same-topic.js'

type Scene = {
  readonly same: Omit<SameTopic, 'close'>
  readonly ids: Map<string, string>
  readonly told: string[]
  readonly clock: { now: number }
  readonly reads: () => number
}

const scene = (): Scene => {
  const ids = new Map([['fw', 'a']])
  const told: string[] = []
  const clock = { now: 1_000 }
  let reads = 0
  const read = (topics: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    reads++
    return ids.size === 0
      ? Promise.reject(new Error('no broker'))
      : Promise.resolve(new Map([...ids].filter(([name]) => topics.includes(name))))
  }
  const same = sameTopic(
    read,
    (event) => told.push(event.event),
    () => clock.now,
  )
  same.joined(['fw'])
  return { same, ids, told, clock, reads: () => reads }
}

describe('a topic under its name', () => {
  it('is the same as long as its id is, and is looked at four times a second at most', async () => {
    const { same, clock, reads } = scene()
    for (let step = 0; step < 100; step++) {
      expect(await same.replaced('fw')).toBe(false)
      clock.now += 10
    }
    expect(reads()).toBe(4)
  })

  it('is replaced when its id is another, which is said once', async () => {
    const { same, ids, told, clock } = scene()
    await same.replaced('fw')
    ids.set('fw', 'b')
    clock.now += 300
    expect([await same.replaced('fw'), await same.replaced('fw')]).toEqual([true, false])
    expect(told).toEqual(['topic_recreated'])
  })

  it('is looked at right away when there is doubt', async () => {
    const { same, ids } = scene()
    await same.replaced('fw')
    ids.set('fw', 'b')
    expect(await same.replaced('fw')).toBe(false)
    same.doubt()
    expect(await same.replaced('fw')).toBe(true)
  })

  it('is only told of when the group was joined since: the positions are new then', async () => {
    const { same, ids, told, clock } = scene()
    await same.replaced('fw')
    ids.set('fw', 'b')
    same.joined(['fw'])
    clock.now += 300
    expect(await same.replaced('fw')).toBe(false)
    expect(told).toEqual(['topic_recreated'])
  })

  it('is told of although it was not there, or nobody answered, when the group was joined', async () => {
    const { same, ids, told, clock } = scene()
    await same.replaced('fw')
    ids.clear()
    same.joined(['fw'])
    expect(await same.replaced('fw')).toBe(false)
    ids.set('fw', 'b')
    expect(await same.replaced('fw')).toBe(false)
    expect(told).toEqual(['topic_recreated'])
    ids.set('fw', 'c')
    clock.now += 300
    expect(await same.replaced('fw')).toBe(true)
  })

  it('is taken for the same while nobody answers', async () => {
    const { same, ids, clock } = scene()
    await same.replaced('fw')
    ids.clear()
    clock.now += 300
    expect(await same.replaced('fw')).toBe(false)
    ids.set('fw', 'b')
    expect(await same.replaced('fw')).toBe(true)
  })
})
