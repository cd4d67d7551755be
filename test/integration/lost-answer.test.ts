// Promise: a produce request whose answer is lost loses no event, neither its own nor a later one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startBrokerBehindProxy, type BrokerBehindProxy } from '../support/broker-behind-proxy.js'
import { complete, fill, makeTopics, readTopic, settingsFor, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

let behind: BrokerBehindProxy

beforeEach(async () => {
  behind = await startBrokerBehindProxy(9)
})
afterEach(async () => {
  await endWorkers()
  await behind.close()
})

describe.each(['at-least-once', 'exactly-once'] as const)('every ninth produce answer lost, %s', (delivery) => {
  it('misses nothing afterwards', async () => {
    const partitions = 2
    const count = 2_000
    const { proxy, through } = behind
    const names = await makeTopics({ partitions, broker: through })
    await fill(names.input, partitions, 0, count, through)
    proxy.arm()
    startWorker(settingsFor(names, { delivery, brokers: [through], limits: { chunkEvents: 50 } }))
    const records = await readTopic(names.output, complete(partitions, count), { broker: through, calmMs: 1_000 })
    const { missing, repeated, outOfOrder } = tally(records, partitions, count)
    expect({ missing, outOfOrder }).toEqual({ missing: 0, outOfOrder: 0 })
    if (delivery === 'exactly-once') expect(repeated).toBe(0)
    expect(proxy.dropped()).toBeGreaterThan(1)
  })
})
