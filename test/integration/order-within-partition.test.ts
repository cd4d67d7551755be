// Promise: what stood in one input partition stands in one output partition, in the same order.
import { afterEach, describe, expect, it } from 'vitest'
import { complete, fill, makeTopic, makeTopics, readTopic, settingsFor, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

describe.each(['at-least-once', 'exactly-once'] as const)('order, %s', (delivery) => {
  it('is kept where several input partitions share an output partition', async () => {
    const count = 600
    const names = await makeTopics({ partitions: 3 })
    const input = `${names.input}-wide`
    await makeTopic(input, 5)
    await fill(input, 5, 0, count)
    startWorker(settingsFor(names, { delivery, input: { topics: [input] } }))
    const records = await readTopic(names.output, complete(5, count))
    expect(tally(records, 5, count)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    const placed = records.map(({ value, partition }) => {
      const from = (JSON.parse(value!.toString()) as { partition: number }).partition
      return from % 3 === partition
    })
    expect(placed.every(Boolean)).toBe(true)
  })
})
