// Promise: a produce request whose answer is lost loses no event, neither its own nor a later one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrokerBehindProxy, type BrokerBehindProxy } from '../support/broker-behind-proxy.js'
import { complete, fill, makeTopics, readTopic, settingsFor, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

let behind: BrokerBehindProxy

beforeAll(async () => {
  behind = await startBrokerBehindProxy(9)
})
afterAll(async () => {
  await endWorkers()
  await behind.close()
})

const partitions = 2
const count = 2_000

describe('every ninth produce answer lost', () => {
  it('misses nothing afterwards, and repeats nothing where delivery is exactly once', async () => {
    const { proxy, through } = behind
    const deliveries = await Promise.all(
      (['at-least-once', 'exactly-once'] as const).map(async (delivery) => {
        const names = await makeTopics({ partitions, broker: through })
        await fill(names.input, partitions, 0, count, through)
        return { delivery, names }
      }),
    )
    proxy.arm()
    for (const { delivery, names } of deliveries)
      startWorker(settingsFor(names, { delivery, brokers: [through], limits: { chunkEvents: 50 } }))
    for (const { delivery, names } of deliveries) {
      const records = await readTopic(names.output, complete(partitions, count), { broker: through, calmMs: 1_000 })
      const { missing, repeated, outOfOrder } = tally(records, partitions, count)
      expect({ delivery, missing, outOfOrder }).toEqual({ delivery, missing: 0, outOfOrder: 0 })
      if (delivery === 'exactly-once') expect(repeated).toBe(0)
    }
    expect(proxy.dropped()).toBeGreaterThan(1)
  })
})
