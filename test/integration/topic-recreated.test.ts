// Promise: an input topic that is deleted and made again is read from its beginning, and that is said.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { complete, fill, makeTopic, makeTopics, readTopic, settingsFor, tally, withAdmin } from '../support/kafka.js'
import { endWorkers, startWorker, times, until } from '../support/worker.js'

afterAll(endWorkers)

const partitions = 2
const before = 300

const makeAgain = async (topic: string): Promise<void> => {
  await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
  for (let tries = 1; ; tries++)
    try {
      await makeTopic(topic, partitions)
      return
    } catch (error) {
      if (tries === 20) throw error
      await sleep(100)
    }
}

describe.concurrent.each(['at-least-once', 'exactly-once'] as const)('an input topic made again, %s', (delivery) => {
  it.each([
    ['shorter', 'waits for more', 100],
    ['longer', 'waits for more', 900],
    ['shorter', 'is at work', 100],
    ['longer', 'is at work', 900],
  ] as const)('and %s than what was read, while the worker %s', async (_length, state, after) => {
    const names = await makeTopics({ partitions })
    await fill(names.input, partitions, 0, before)
    const atWork = state === 'is at work'
    const settings = settingsFor(names, { delivery, limits: { sessionTimeoutMs: 20_000 } })
    const worker = startWorker(settings, { delayMs: atWork ? 1_500 : 0 })
    if (atWork) {
      const said = delivery === 'exactly-once' ? 'partition_claimed' : 'group_joined'
      await until('it has begun', () => times(worker, said) >= (delivery === 'exactly-once' ? partitions : 1))
      await sleep(500)
      // With a batch in its hands it asks for nothing, so no error tells it, and it commits a position of the former topic.
      worker.kill('SIGSTOP')
    } else await readTopic(names.output, complete(partitions, before))
    await makeAgain(names.input)
    await fill(names.input, partitions, before, before + after)
    worker.kill('SIGCONT')
    const records = await readTopic(names.output, complete(partitions, before + after), { calmMs: 1_000 })
    expect(tally(records, partitions, before + after)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    await until('it is said', () => times(worker, 'topic_recreated') > 0)
    expect(worker.events.filter(({ event }) => event === 'topic_recreated')).toEqual([
      { event: 'topic_recreated', topic: names.input },
    ])
    expect(times(worker, 'offsets_skipped')).toBe(0)
    expect(worker.running()).toBe(true)
  })
})
