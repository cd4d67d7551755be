// Promise: partitions added to the input while running are read from their beginning.
import { afterAll, describe, expect, it } from 'vitest'
import { complete, fill, makeTopics, readTopic, settingsFor, tally, withAdmin } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterAll(endWorkers)

describe('a topic that grows', () => {
  it('has all its partitions read, also with start: latest', async () => {
    const names = await makeTopics({ partitions: 2 })
    const worker = startWorker(
      settingsFor(names, { delivery: 'exactly-once', input: { start: 'latest' }, limits: { refreshMs: 1_000 } }),
    )
    await worker.said('group_joined')
    await fill(names.input, 2, 0, 100)
    await readTopic(names.output, complete(2, 100))
    await withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic: names.input, count: 4 }] }))
    // Written before anybody has looked again.
    await fill(names.input, 2, 100, 200)
    await fill(names.input, 4, 200, 300)
    const records = await readTopic(names.output, (all) => all.length >= 2 * 300 + 2 * 100, { calmMs: 1_000 })
    // What the new partitions begin with is 200.
    const numbered = records.map((record) => {
      const event = JSON.parse(record.value!.toString()) as { seq: number; partition: number }
      const seq = event.partition < 2 ? event.seq : event.seq - 200
      return { ...record, value: Buffer.from(JSON.stringify({ ...event, seq })) }
    })
    const added = numbered.filter(({ value }) => (JSON.parse(value.toString()) as { partition: number }).partition > 1)
    expect(added).toHaveLength(200)
    expect(tally(numbered, 4, 300)).toEqual({ missing: 2 * 200, repeated: 0, outOfOrder: 0 })
  })
})
