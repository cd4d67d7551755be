// Promise: a broker that goes away and comes back is waited for; nobody has to do anything.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type Broker } from '../../src/demo/broker.js'
import { complete, fill, makeTopics, readTopic, report, settingsFor, soak, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

const awayMs = soak ? 20_000 : 5_000
let broker: Broker

beforeAll(async () => {
  const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined }, say: () => undefined })
  if ('missing' in started) throw new Error(started.missing)
  broker = started
})
afterAll(() => broker.stop())
afterEach(endWorkers)

describe('the only broker, killed and started again', () => {
  it('is waited for, and then nothing is missing and the order is kept', { timeout: awayMs + 90_000 }, async () => {
    const partitions = 2
    const count = 3_000
    const modes = ['at-least-once', 'exactly-once'] as const
    const services = await Promise.all(
      modes.map(async (delivery) => {
        const names = await makeTopics({ partitions, broker: broker.plain })
        await fill(names.input, partitions, 0, count, broker.plain)
        const settings = settingsFor(names, { delivery, brokers: [broker.plain], limits: { chunkEvents: 50 } })
        const worker = startWorker(settings, { delayMs: 40 })
        await worker.said(delivery === 'exactly-once' ? 'partition_claimed' : 'group_joined')
        return { delivery, names, worker }
      }),
    )
    await sleep(400)
    await broker.halt()
    await sleep(awayMs)
    await broker.resume()
    for (const { delivery, names, worker } of services) {
      const records = await readTopic(names.output, complete(partitions, count), {
        broker: broker.plain,
        limitMs: 60_000,
        calmMs: 1_000,
      })
      const { missing, repeated, outOfOrder } = tally(records, partitions, count)
      report(`${delivery}, broker away`, { awayMs, events: partitions * count, missing, repeated, outOfOrder })
      expect({ delivery, missing, outOfOrder, alive: worker.running() }).toEqual({
        delivery,
        missing: 0,
        outOfOrder: 0,
        alive: true,
      })
      if (delivery === 'exactly-once') expect(repeated).toBe(0)
    }
  })
})
