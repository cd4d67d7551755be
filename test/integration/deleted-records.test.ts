// Promise: records that the broker has deleted before they were read are counted and logged, and reading goes on at the oldest record.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import {
  committed,
  complete,
  fill,
  makeTopics,
  originsOf,
  readTopic,
  settingsFor,
  withAdmin,
  type Names,
} from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterAll(endWorkers)

const deleteUpTo = (topic: string, offset: string): Promise<void> =>
  withAdmin(async (admin) => {
    await admin.fetchTopicOffsets(topic) // without it kafkajs does not know the topic
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] })
  })

const untilCommitted = async (names: Names, offset: number): Promise<void> => {
  while (((await committed(names))[0] ?? 0) < offset) await sleep(100)
}

describe.concurrent('records deleted unread', () => {
  it.each([
    ['exactly-once', 'while no worker runs'],
    ['at-least-once', 'while a worker is stopped in the middle'],
  ] as const)('%s, %s', async (delivery, when) => {
    const names = await makeTopics({ partitions: 1 })
    await fill(names.input, 1, 0, 10)
    const settings = settingsFor(names, { delivery, limits: { sessionTimeoutMs: 20_000 } })
    const first = startWorker(settings)
    await readTopic(names.output, complete(1, 10))
    await untilCommitted(names, 10)
    const isGone = when === 'while no worker runs'
    first.kill(isGone ? 'SIGTERM' : 'SIGSTOP')
    if (isGone) await first.exit
    // The first of these may be on their way to a worker that is stopped; those that follow are not.
    await fill(names.input, 1, 10, 20)
    await fill(names.input, 1, 20, 30)
    await deleteUpTo(names.input, '25')
    if (!isGone) first.kill('SIGCONT')
    const worker = isGone ? startWorker(settings) : first
    const skipped = await worker.said('offsets_skipped')
    const count = Number(skipped.count)
    expect(skipped).toEqual({ event: 'offsets_skipped', topic: names.input, partition: 0, count })
    const records = await readTopic(names.output, (all) => all.length >= 30 - count)
    const offsets = originsOf(records).map((origin) => Number(origin.split('/').at(-1)))
    expect(offsets).toEqual([...Array.from({ length: 25 - count }, (_, offset) => offset), 25, 26, 27, 28, 29])
    expect(count).toBeGreaterThanOrEqual(isGone ? 15 : 5)
  })
})
