// A send to several partitions while leaders move, answers are lost and some partitions are refused: each record is stored once.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../../../../src/kafka/failure.js'
import { openLeaders, ours, theirs, type Leaders, type Trouble } from '../../../support/leaders.js'

const NOT_LEADER = 6
const REQUEST_TIMED_OUT = 7
const MESSAGE_TOO_LARGE = 10
const NOT_ENOUGH_REPLICAS = 19
const DUPLICATE_SEQUENCE_NUMBER = 46

const outcome = async (sending: Promise<unknown>): Promise<unknown> =>
  sending.then(
    () => 'resolved',
    (error: unknown) => error,
  )

describe.each(['idempotent', 'transactional'] as const)(
  'leaders that move during a send of a producer that is %s',
  (kind) => {
    const two = { 'a/0': 1, 'b/0': 2 }
    const records = { 'a/0': ['a1'], 'b/0': ['b1'] }
    const once = { 'a/0': ['a1'], 'b/0': ['b1'] }

    it('to a broker that has answered already: the partition is sent to it', async () => {
      // The request to the first broker is answered, the second no longer leads.
      const trouble = { leaders: two, kind, troubles: [undefined, { move: { 'b/0': 1 } }] }
      const mine = await openLeaders(ours, trouble)
      expect(await outcome(mine.send(records))).toBe('resolved')
      expect(mine.stored).toEqual(once)
      expect(mine.requests).toEqual([
        { leader: 1, batches: { 'a/0': 0 } },
        { leader: 2, batches: { 'b/0': 0 } },
        { leader: 1, batches: { 'b/0': 0 } },
      ])
      const his = await openLeaders(theirs, trouble)
      expect(await outcome(his.send(records))).toBe('resolved')
      expect(his.stored).toEqual({ 'a/0': ['a1'], 'b/0': [] })
    })

    it('to a third broker: a partition that was acknowledged is not written again', async () => {
      const trouble = { leaders: two, kind, troubles: [undefined, { move: { 'a/0': 3, 'b/0': 3 } }] }
      const mine = await openLeaders(ours, trouble)
      expect(await outcome(mine.send(records))).toBe('resolved')
      expect(mine.stored).toEqual(once)
      const his = await openLeaders(theirs, trouble)
      expect(await outcome(his.send(records))).toBe('resolved')
      expect(his.stored).toEqual({ 'a/0': ['a1', 'a1'], 'b/0': ['b1'] })
    })

    it('after they have stored it and before they answer: the next leader knows the batch by its number', async () => {
      const leaders = await openLeaders(ours, {
        leaders: two,
        kind,
        troubles: [{ errorsAfter: { 'a/0': NOT_LEADER }, moveAfter: { 'a/0': 2 } }],
      })
      await leaders.send({ 'a/0': ['a1', 'a2'], 'b/0': ['b1'] })
      await leaders.send({ 'a/0': ['a3'] })
      expect(leaders.stored).toEqual({ 'a/0': ['a1', 'a2', 'a3'], 'b/0': ['b1'] })
      expect(leaders.requests.slice(2)).toEqual([
        { leader: 2, batches: { 'a/0': 0 } },
        { leader: 2, batches: { 'a/0': 2 } },
      ])
    })
  },
)

describe('a lost answer', () => {
  const leaders = { 'a/0': 1, 'a/1': 1, 'b/0': 2 }
  const records = { 'a/0': ['a1'], 'a/1': ['a2', 'a3'], 'b/0': ['b1'] }

  it.each<[string, Trouble]>([
    ['is asked for again at the same leader', { cut: 'answer' }],
    ['is asked for at the leaders of now', { cut: 'answer', moveAfter: { 'a/0': 2, 'a/1': 3 } }],
    ['of a request that never arrived is asked for at the leaders of now', { cut: 'request', move: { 'a/1': 2 } }],
  ])('%s; what the others have acknowledged is not sent again', async (_, trouble) => {
    const brokers = await openLeaders(ours, { leaders, troubles: [trouble] })
    const answers = await brokers.send(records)
    expect(brokers.stored).toEqual(records)
    expect(answers).toHaveLength(3)
    expect(brokers.requests.filter(({ batches }) => 'b/0' in batches)).toHaveLength(1)
    for (const { batches } of brokers.requests) for (const sequence of Object.values(batches)) expect(sequence).toBe(0)
    await brokers.send(records)
    expect(brokers.stored).toEqual({
      'a/0': ['a1', 'a1'],
      'a/1': ['a2', 'a3', 'a2', 'a3'],
      'b/0': ['b1', 'b1'],
    })
  })

  it('is as good as given, without an offset, where the broker only says that it has seen the number', async () => {
    const repeated = { errors: { 'a/0': DUPLICATE_SEQUENCE_NUMBER } }
    const brokers = await openLeaders(ours, { leaders: { 'a/0': 1 }, troubles: [{ cut: 'answer' }, repeated] })
    expect(await brokers.send({ 'a/0': ['a1'] })).toEqual([
      { topicName: 'a', partition: 0, errorCode: 0, baseOffset: '-1' },
    ])
    // A batch that was never sent before cannot have been stored.
    brokers.troubles.push(repeated)
    expect(await outcome(brokers.send({ 'a/0': ['a2'] }))).toMatchObject({ type: 'DUPLICATE_SEQUENCE_NUMBER' })
    await brokers.send({ 'a/0': ['a2'] })
    expect(brokers.stored).toEqual({ 'a/0': ['a1', 'a2'] })
  })

  const lost: Trouble = { cut: 'answer' }
  const lostForEver = { leaders: { 'a/0': 1, 'a/1': 2 }, troubles: [lost, undefined, lost], retries: 1 }

  it('for good ends the use of the producer for its partition, because the next batch could be taken for that one', async () => {
    const mine = await openLeaders(ours, lostForEver)
    expect(await outcome(mine.send({ 'a/0': ['a1'], 'a/1': ['b1'] }))).toMatchObject({
      name: 'KafkaJSNumberOfRetriesExceeded',
      acknowledged: [{ topic: 'a', partition: 1 }],
    })
    for (let time = 0; time < 2; time++)
      expect(await outcome(mine.send({ 'a/0': ['a2'], 'a/1': ['never'] }))).toMatchObject({
        name: 'KafkaJSNonRetriableError',
        message: expect.stringContaining('a/0') as string,
      })
    await mine.send({ 'a/1': ['b2'] })
    expect(mine.stored).toEqual({ 'a/0': ['a1'], 'a/1': ['b1', 'b2'] })

    const his = await openLeaders(theirs, lostForEver)
    await outcome(his.send({ 'a/0': ['a1'], 'a/1': ['b1'] }))
    expect(await outcome(his.send({ 'a/0': ['a2'] }))).toBe('resolved')
    expect(his.stored['a/0']).toEqual(['a1'])
  })
})

describe('a request of which some partitions fail', () => {
  const leaders = { 'a/0': 1, 'a/1': 1, 'b/0': 1 }
  const records = { 'a/0': ['a1'], 'a/1': ['a2'], 'b/0': ['b1'] }

  it.each(['plain', 'idempotent', 'transactional'] as const)(
    'is repeated for these alone, also by a producer that is %s',
    async (kind) => {
      const some = { errors: { 'a/1': NOT_ENOUGH_REPLICAS } }
      const brokers = await openLeaders(ours, { leaders, kind, troubles: [some, some] })
      const answers = await brokers.send(records)
      expect(brokers.stored).toEqual(records)
      expect(brokers.requests.map(({ batches }) => Object.keys(batches))).toEqual([
        ['a/0', 'a/1', 'b/0'],
        ['a/1'],
        ['a/1'],
      ])
      expect(answers).toHaveLength(3)
    },
  )

  it('because a record is too large is not repeated, and says what the brokers have taken', async () => {
    const refused = { errors: { 'a/0': NOT_ENOUGH_REPLICAS, 'a/1': MESSAGE_TOO_LARGE } }
    const brokers = await openLeaders(ours, { leaders, troubles: [refused] })
    const error = await outcome(brokers.send(records))
    expect(failureOf(error)).toMatchObject({ kind: 'refused', name: 'MESSAGE_TOO_LARGE' })
    expect(error).toMatchObject({ acknowledged: [{ topic: 'b', partition: 0 }] })
    expect(brokers.requests).toHaveLength(1)
    // Numbers have moved on only where something was stored.
    await brokers.send({ 'a/0': ['a1'], 'a/1': ['smaller'], 'b/0': ['b2'] })
    expect(brokers.stored).toEqual({ 'a/0': ['a1'], 'a/1': ['smaller'], 'b/0': ['b1', 'b2'] })
  })

  it('again and again fails as kafkajs does', async () => {
    const always = { errors: { 'a/0': REQUEST_TIMED_OUT } }
    const errorOf = async (sender: typeof ours): Promise<unknown> => {
      const options = { leaders: { 'a/0': 1 }, troubles: [always, always, always], retries: 2 }
      return outcome((await openLeaders(sender, options)).send({ 'a/0': ['a1'] }))
    }
    const [mine, his] = [await errorOf(ours), await errorOf(theirs)]
    expect(mine).toMatchObject({ name: 'KafkaJSNumberOfRetriesExceeded', retryCount: 2, acknowledged: [] })
    expect(his).toMatchObject({ name: 'KafkaJSNumberOfRetriesExceeded', retryCount: 2 })
    expect(failureOf(mine)).toEqual(failureOf(his))
    expect(failureOf(mine)).toMatchObject({ kind: 'unavailable', name: 'REQUEST_TIMED_OUT' })
  })
})

describe('a partition', () => {
  it('has its sends one after the other, also where the first one has to be repeated', async () => {
    let arrive = (): void => undefined
    const until = new Promise<void>((resolve) => (arrive = resolve))
    const brokers = await openLeaders(ours, {
      leaders: { 'a/0': 1, 'a/1': 2 },
      troubles: [{ until, cut: 'answer', moveAfter: { 'a/0': 3 } }],
    })
    const sends = ['x', 'y', 'z'].map((value) => brokers.send({ 'a/0': [value] }))
    // Another partition does not wait for it.
    await brokers.send({ 'a/1': ['other'] })
    arrive()
    await Promise.all(sends)
    expect(brokers.stored).toEqual({ 'a/0': ['x', 'y', 'z'], 'a/1': ['other'] })
  })

  it('that the topic does not have fails the send; kafkajs leaves it out and resolves', async () => {
    const options = { leaders: { 'a/0': 1 }, retries: 1 }
    const mine = await openLeaders(ours, options)
    expect(failureOf(await outcome(mine.send({ 'a/0': ['a1'], 'a/9': ['lost'] })))).toMatchObject({
      name: 'UNKNOWN_TOPIC_OR_PARTITION',
    })
    expect(mine.requests).toEqual([])
    expect(await outcome((await openLeaders(theirs, options)).send({ 'a/9': ['lost'] }))).toBe('resolved')
  })

  it('of a topic without metadata is sent when they are there', async () => {
    const brokers = await openLeaders(ours, { leaders: { 'a/0': 1, 'b/0': 1 } })
    brokers.forget('b')
    await brokers.send({ 'a/0': ['a1'], 'b/0': ['b1'] })
    expect(brokers.requests).toEqual([{ leader: 1, batches: { 'a/0': 0, 'b/0': 0 } }])
  })

  it('counts its records up to the largest 32-bit integer and then from 0 on', async () => {
    const brokers = await openLeaders(ours, { leaders: { 'a/0': 1 } })
    brokers.eosManager.updateSequence('a', 0, 2 ** 31 - 5)
    for (let time = 0; time < 3; time++) await brokers.send({ 'a/0': ['one', 'two', 'three'] })
    expect(brokers.requests.map(({ batches }) => batches['a/0'])).toEqual([2 ** 31 - 5, 2 ** 31 - 2, 1])
  })
})

describe('a transaction', () => {
  it('gets every partition once, whoever leads it', async () => {
    const leaders = { 'a/0': 1, 'a/1': 2, 'b/0': 3 }
    const troubles = [{ cut: 'answer' as const, moveAfter: { 'a/0': 2 } }, { move: { 'a/1': 3 } }]
    const brokers = await openLeaders(ours, { leaders, kind: 'transactional', troubles })
    await brokers.send({ 'a/0': ['a1'], 'a/1': ['a2'], 'b/0': ['b1'] })
    expect(brokers.added).toEqual(['a/0', 'a/1', 'b/0'])
    expect(brokers.stored).toEqual({ 'a/0': ['a1'], 'a/1': ['a2'], 'b/0': ['b1'] })
    await brokers.eosManager.commit()
    brokers.eosManager.beginTransaction()
    await brokers.send({ 'a/0': ['a3'] })
    expect(brokers.added).toEqual(['a/0'])
    expect(brokers.requests.at(-1)).toEqual({ leader: 2, batches: { 'a/0': 1 } })
  })
})

const places = ['a/0', 'a/1', 'a/2', 'b/0', 'b/1']
const byPlace = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> =>
  fc.record(Object.fromEntries(places.map((place) => [place, value])), { noNullPrototype: true })
const leader = fc.integer({ min: 1, max: 3 })
/** How many records each partition gets, send after send. */
const counts = fc.array(byPlace(fc.nat({ max: 3 })), { minLength: 1, maxLength: 4 })
const recordsOf = (numbers: Readonly<Record<string, number>>, nth: number): Record<string, string[]> => {
  const all = Object.entries(numbers).map(([place, count]): [string, string[]] => [
    place,
    Array.from({ length: count }, (_, at) => `${place} ${nth}.${at}`),
  ])
  return Object.fromEntries(all.filter(([, values]) => values.length > 0))
}
const sendAll = async (brokers: Leaders, list: readonly Record<string, number>[]): Promise<object[][]> => {
  const answers: object[][] = []
  for (const [nth, numbers] of list.entries()) answers.push([...(await brokers.send(recordsOf(numbers, nth)))])
  return answers
}
const sorted = (list: readonly unknown[]): string[] => list.map((one) => JSON.stringify(one)).sort()

describe('whatever happens to requests', () => {
  const some = fc.option(fc.dictionary(fc.constantFrom(...places), leader, { noNullPrototype: true }), {
    nil: undefined,
  })
  const error = fc.constantFrom(NOT_LEADER, REQUEST_TIMED_OUT, NOT_ENOUGH_REPLICAS)
  const failing = fc.option(fc.dictionary(fc.constantFrom(...places), error, { noNullPrototype: true }), {
    nil: undefined,
  })
  const trouble = fc.option(
    fc.record({
      move: some,
      moveAfter: some,
      cut: fc.constantFrom(undefined, 'request' as const, 'answer' as const),
      errors: failing,
      errorsAfter: failing,
    }),
    { nil: undefined },
  )

  it.each(['idempotent', 'transactional'] as const)(
    'a producer that is %s stores each record once, in order',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(
          byPlace(leader),
          fc.array(trouble, { maxLength: 6 }),
          counts,
          async (leaders, list, numbers) => {
            const troubles = list as (Trouble | undefined)[]
            const brokers = await openLeaders(ours, { leaders, kind, troubles, retries: 20 })
            await sendAll(brokers, numbers)
            for (const place of places)
              expect(brokers.stored[place]).toEqual(numbers.flatMap((one, nth) => recordsOf(one, nth)[place] ?? []))
          },
        ),
        { numRuns: 100 },
      )
    },
  )
})

describe('where nothing happens', () => {
  it.each(['plain', 'idempotent', 'transactional'] as const)(
    'a producer that is %s sends the same requests as kafkajs and gets the same answers',
    async (kind) => {
      await fc.assert(
        fc.asyncProperty(byPlace(leader), counts, fc.constantFrom(0, -1), async (leaders, numbers, acks) => {
          const run = async (sender: typeof ours): Promise<unknown> => {
            const brokers = await openLeaders(sender, { leaders, kind })
            const answers: string[][] = []
            for (const [nth, one] of numbers.entries())
              answers.push(sorted(await brokers.send(recordsOf(one, nth), kind === 'plain' ? acks : -1)))
            return { answers, stored: brokers.stored, requests: sorted(brokers.requests), added: sorted(brokers.added) }
          }
          expect(await run(ours)).toEqual(await run(theirs))
        }),
        { numRuns: 50 },
      )
    },
  )
})
