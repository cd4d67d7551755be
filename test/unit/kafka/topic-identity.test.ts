// When a topic counts as another one with the same name.
import { describe, expect, it } from 'vitest'
import { topicIdentity, type TopicIdentity } from '../../../src/kafka/topic-identity.js'

type Scene = {
  readonly identity: Omit<TopicIdentity, 'close'>
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
  const identity = topicIdentity(
    read,
    (event) => told.push(event.event),
    () => clock.now,
  )
  identity.joined(['fw'])
  return { identity, ids, told, clock, reads: () => reads }
}

describe('a topic under its name', () => {
  it('is the same as long as its id is, and is looked at four times a second at most', async () => {
    const { identity, clock, reads } = scene()
    for (let step = 0; step < 100; step++) {
      expect(await identity.wasRecreated('fw')).toBe(false)
      clock.now += 10
    }
    expect(reads()).toBe(4)
  })

  it('is replaced when its id is another, which is said once', async () => {
    const { identity, ids, told, clock } = scene()
    await identity.wasRecreated('fw')
    ids.set('fw', 'b')
    clock.now += 300
    expect([await identity.wasRecreated('fw'), await identity.wasRecreated('fw')]).toEqual([true, false])
    expect(told).toEqual(['topic_recreated'])
  })

  it('is looked at right away when there is doubt', async () => {
    const { identity, ids } = scene()
    await identity.wasRecreated('fw')
    ids.set('fw', 'b')
    expect(await identity.wasRecreated('fw')).toBe(false)
    identity.recheck()
    expect(await identity.wasRecreated('fw')).toBe(true)
  })

  it('is looked at again when the process was paused between the question and its answer', async () => {
    const { identity, ids, clock } = scene()
    await identity.wasRecreated('fw')
    clock.now += 300
    const asked = identity.wasRecreated('fw')
    ids.set('fw', 'b')
    clock.now += 5_000
    expect(await asked).toBe(false)
    expect(await identity.wasRecreated('fw')).toBe(true)
  })

  it('is only told of when the group was joined since: the positions are new then', async () => {
    const { identity, ids, told, clock } = scene()
    await identity.wasRecreated('fw')
    ids.set('fw', 'b')
    identity.joined(['fw'])
    clock.now += 300
    expect(await identity.wasRecreated('fw')).toBe(false)
    expect(told).toEqual(['topic_recreated'])
  })

  it('is told of although it was not there, or nobody answered, when the group was joined', async () => {
    const { identity, ids, told, clock } = scene()
    await identity.wasRecreated('fw')
    ids.clear()
    identity.joined(['fw'])
    expect(await identity.wasRecreated('fw')).toBe(false)
    ids.set('fw', 'b')
    expect(await identity.wasRecreated('fw')).toBe(false)
    expect(told).toEqual(['kafka_client_warned', 'topic_recreated'])
    ids.set('fw', 'c')
    clock.now += 300
    expect(await identity.wasRecreated('fw')).toBe(true)
  })

  it('is taken for the same while nobody answers, which is said once each time', async () => {
    const { identity, ids, told, clock } = scene()
    await identity.wasRecreated('fw')
    ids.clear()
    clock.now += 300
    expect([await identity.wasRecreated('fw'), await identity.wasRecreated('fw')]).toEqual([false, false])
    expect(told).toEqual(['kafka_client_warned'])
    ids.set('fw', 'b')
    expect(await identity.wasRecreated('fw')).toBe(true)
    ids.clear()
    clock.now += 300
    await identity.wasRecreated('fw')
    expect(told).toEqual(['kafka_client_warned', 'topic_recreated', 'kafka_client_warned'])
  })
})
