// When the ids of topics are asked for, and what counts while nobody answers.
import { describe, expect, it } from 'vitest'
import { topicIdentity, type TopicIdentity } from '../../../src/kafka/topic-identity.js'

type Scene = {
  readonly identity: Omit<TopicIdentity, 'close'>
  /** None at all: nobody answers. */
  readonly ids: Map<string, string>
  /** What each broker answers, if they differ. */
  readonly others: (string | undefined)[]
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
  const others: (string | undefined)[] = []
  const identity = topicIdentity(
    read,
    () =>
      Promise.resolve(
        others.length === 0 ? [new Map(ids)] : others.map((id) => new Map(id === undefined ? [] : [['fw', id]])),
      ),
    (event) => told.push(event.event),
    () => clock.now,
  )
  identity.joined(['fw'])
  return { identity, ids, others, told, clock, reads: () => reads }
}

describe('the id of a topic', () => {
  it('is asked for four times a second at most', async () => {
    const { identity, clock, reads } = scene()
    for (let step = 0; step < 100; step++) {
      expect(await identity.current('fw')).toBe('a')
      clock.now += 10
    }
    expect(reads()).toBe(4)
  })

  it('is asked for right away when there is doubt, and after a join', async () => {
    const { identity, ids } = scene()
    await identity.current('fw')
    ids.set('fw', 'b')
    expect(await identity.current('fw')).toBe('a')
    identity.recheck()
    expect(await identity.current('fw')).toBe('b')
    ids.set('fw', 'c')
    identity.joined(['fw'])
    expect(await identity.current('fw')).toBe('c')
  })

  it('is asked for again when the process was paused between the question and its answer', async () => {
    const { identity, ids, clock } = scene()
    await identity.current('fw')
    clock.now += 300
    const asked = identity.current('fw')
    ids.set('fw', 'b')
    clock.now += 5_000
    expect(await asked).toBe('a')
    expect(await identity.current('fw')).toBe('b')
  })

  it('is not known while nobody answers, which is said once each time: the topic may be another by then', async () => {
    const { identity, ids, told, clock } = scene()
    await identity.current('fw')
    ids.clear()
    clock.now += 300
    expect([await identity.current('fw'), await identity.current('fw')]).toEqual([null, null])
    expect(told).toEqual(['kafka_client_warned'])
    ids.set('fw', 'b')
    expect(await identity.current('fw')).toBe('b')
    ids.clear()
    clock.now += 300
    await identity.current('fw')
    expect(told).toEqual(['kafka_client_warned', 'kafka_client_warned'])
  })

  it('is not known while the topic does not exist, and with every batch it is asked for again', async () => {
    const { identity, ids, clock } = scene()
    await identity.current('fw')
    ids.delete('fw')
    ids.set('dns', 'd')
    clock.now += 300
    expect(await identity.current('fw')).toBeNull()
    ids.set('fw', 'b')
    expect(await identity.current('fw')).toBe('b')
  })

  it('as it is now is asked for each time, and then counts for everybody', async () => {
    const { identity, ids } = scene()
    await identity.current('fw')
    ids.set('fw', 'b')
    expect(await identity.askEach('fw')).toBe('b')
    expect(await identity.current('fw')).toBe('b')
    ids.clear()
    await expect(identity.askEach('fw')).rejects.toThrow('no broker')
    ids.set('dns', 'd')
    await expect(identity.askEach('fw')).rejects.toThrow('topic fw does not exist now')
  })

  it('is not one that the topic had before: a broker may not have heard of the change yet', async () => {
    const { identity, ids, clock } = scene()
    await identity.current('fw')
    ids.set('fw', 'b')
    clock.now += 300
    expect(await identity.current('fw')).toBe('b')
    ids.set('fw', 'a')
    clock.now += 300
    expect(await identity.current('fw')).toBeNull()
    ids.set('fw', 'b')
    expect(await identity.current('fw')).toBe('b')
  })

  it('is known for sure once no broker names another: one that has not heard of the change serves the former topic', async () => {
    const { identity, ids, others } = scene()
    ids.set('fw', 'b')
    for (const late of ['a', undefined]) {
      others.splice(0, 2, 'b', late)
      await expect(identity.askEach('fw')).rejects.toThrow(
        'topic fw was created again, and not all brokers know it yet',
      )
    }
    others.splice(0, 2, 'b', 'b')
    expect(await identity.askEach('fw')).toBe('b')
    ids.delete('fw')
    ids.set('dns', 'd')
    others.splice(0, 2, undefined)
    await expect(identity.askEach('fw')).rejects.toThrow('topic fw does not exist now')
  })

  it('is the one on which all agree, also if a broker that had not heard of it answered later', async () => {
    const { identity, ids, others, clock } = scene()
    for (const id of ['b', 'a']) {
      ids.set('fw', id)
      clock.now += 300
      expect(await identity.current('fw')).toBe(id)
    }
    ids.set('fw', 'b')
    others.splice(0, 2, 'b', 'b')
    expect(await identity.askEach('fw')).toBe('b')
    clock.now += 300
    expect(await identity.current('fw')).toBe('b')
  })

  it('is asked of all brokers after a fetch that failed, and unknown until they agree', async () => {
    const { identity, ids, others, clock, told } = scene()
    expect(await identity.current('fw')).toBe('a')
    others.push('a', 'b')
    identity.recheck()
    expect(await identity.current('fw')).toBeNull()
    expect(told).toEqual(['kafka_client_warned'])
    ids.set('fw', 'b')
    others.splice(0, 2, 'b', 'b')
    clock.now += 300
    expect(await identity.current('fw')).toBe('b')
  })

  it('of one topic is known while the brokers differ about another', async () => {
    const answers = [
      new Map([
        ['fw', 'a'],
        ['dns', 'd'],
      ]),
      new Map([
        ['fw', 'b'],
        ['dns', 'd'],
      ]),
    ] as const
    const identity = topicIdentity(
      () => Promise.resolve(answers[0]),
      () => Promise.resolve(answers),
      () => undefined,
      () => 0,
    )
    identity.joined(['fw', 'dns'])
    expect([await identity.current('fw'), await identity.current('dns')]).toEqual([null, 'd'])
  })

  it('is that of the broker which was asked first, if the others are too busy to answer', async () => {
    const identity = topicIdentity(
      () => Promise.resolve(new Map([['fw', 'a']])),
      () => Promise.resolve([]),
      () => undefined,
      () => 0,
    )
    identity.joined(['fw'])
    expect([await identity.current('fw'), await identity.askEach('fw')]).toEqual(['a', 'a'])
  })

  it('as it is now is unknown where brokers have none', async () => {
    const identity = topicIdentity(
      () => Promise.resolve(undefined),
      () => Promise.resolve([]),
      () => undefined,
      () => 0,
    )
    identity.joined(['fw'])
    expect([await identity.askEach('fw'), await identity.current('fw')]).toEqual([undefined, undefined])
  })
})
