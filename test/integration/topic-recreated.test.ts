// Promise: an input topic that is deleted and made again is read from its beginning, and that is said.
import { afterAll, describe, expect, it } from 'vitest'
import {
  complete,
  fill,
  makeTopicAgain,
  makeTopics,
  readTopic,
  settingsFor,
  tally,
  type Names,
  type Read,
  type Tally,
} from '../support/kafka.js'
import { endWorkers, startWorker, times, until, type Worker } from '../support/worker.js'

afterAll(endWorkers)

const partitions = 2
const before = 300

type Delivery = 'at-least-once' | 'exactly-once'

const settingsOf = (names: Names, delivery: Delivery): ReturnType<typeof settingsFor> =>
  settingsFor(names, {
    delivery,
    limits: { sessionTimeoutMs: 20_000, chunkEvents: 500, chunkDeadlineMs: 150_000, drainMs: 60_000 },
  })

/** A worker with everything of the former topic in hand: it asks for nothing, so no error tells it that the topic is another one. */
const startWithAllInHand = async (names: Names, delivery: Delivery): Promise<Worker> => {
  await fill(names.input, partitions, 0, before)
  const worker = startWorker(settingsOf(names, delivery), { holds: true })
  const held = (): number =>
    new Set(worker.events.filter(({ event }) => event === 'held').map(({ partition }) => partition)).size
  await until('both partitions are in hand', () => held() === partitions)
  return worker
}

const makeAgain = async (names: Names, after: number): Promise<void> => {
  await makeTopicAgain(names.input, partitions)
  await fill(names.input, partitions, before, before + after)
}

/** Of the events of the new topic alone. */
const tallyOfNew = (records: readonly Read[], after: number): Tally => {
  const isNew = ({ value }: Read): boolean => (JSON.parse(String(value)) as { seq: number }).seq >= before
  const found = tally(records.filter(isNew), partitions, before + after)
  // Those of the former topic, and for each partition the step over them.
  return { ...found, missing: found.missing - partitions * before, outOfOrder: found.outOfOrder - partitions }
}
const isNewComplete =
  (after: number) =>
  (records: readonly Read[]): boolean =>
    records.length >= partitions * after && tallyOfNew(records, after).missing === 0

describe.concurrent('an input topic made again', () => {
  it.each([
    ['shorter', 'waits for more', 'at-least-once', 100],
    ['longer', 'is at work', 'exactly-once', 900],
  ] as const)('and %s than what was read, while the worker %s, %s', async (_length, state, delivery, after) => {
    const names = await makeTopics({ partitions })
    let worker: Worker
    if (state === 'is at work') worker = await startWithAllInHand(names, delivery)
    else {
      await fill(names.input, partitions, 0, before)
      worker = startWorker(settingsOf(names, delivery))
      await readTopic(names.output, complete(partitions, before))
    }
    await makeAgain(names, after)
    worker.kill('SIGUSR2')
    const records = await readTopic(names.output, complete(partitions, before + after), { calmMs: 1_000 })
    expect(tally(records, partitions, before + after)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    await until('it is said', () => times(worker, 'topic_recreated') > 0)
    expect(worker.events.filter(({ event }) => event === 'topic_recreated')).toEqual([
      { event: 'topic_recreated', topic: names.input },
    ])
    expect(times(worker, 'offsets_skipped')).toBe(0)
    expect(worker.running()).toBe(true)
  })

  it('and longer than what a worker has in hand, is read from its beginning after a stop of the worker', async () => {
    const [delivery, after] = ['at-least-once', 900] as const
    const names = await makeTopics({ partitions })
    const worker = await startWithAllInHand(names, delivery)
    await makeAgain(names, after)
    worker.kill('SIGTERM')
    await until('it drains', () => worker.health()?.state === 'draining')
    worker.kill('SIGUSR2')
    expect(await worker.exit).toBe(0)
    const next = startWorker(settingsOf(names, delivery))
    const records = await readTopic(names.output, isNewComplete(after), { calmMs: 1_000 })
    expect(tallyOfNew(records, after)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    expect(times(next, 'topic_recreated')).toBe(1)
    expect(times(next, 'offsets_skipped')).toBe(0)
  })
})
