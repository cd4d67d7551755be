// Promise: a record batch that was damaged on its way ends the process with a sentence that names it, and no offset moves past it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrokerBehindProxy, type BrokerBehindProxy } from '../support/broker-behind-proxy.js'
import { fill, makeTopics, readTopic, settingsFor, withAdmin } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

let behind: BrokerBehindProxy

beforeAll(async () => {
  behind = await startBrokerBehindProxy(1)
})
afterAll(async () => {
  await endWorkers()
  await behind.close()
})

describe.each(['at-least-once', 'exactly-once'] as const)('a damaged record batch, %s', (delivery) => {
  it('is not delivered, and what stands before it is', async () => {
    const { proxy, broker, through } = behind
    const names = await makeTopics({ partitions: 1, broker: through })
    await fill(names.input, 1, 0, 250, through)
    await fill(names.input, 1, 250, 500, through)
    proxy.damage('event 300 of 0')
    const worker = startWorker(settingsFor(names, { delivery, brokers: [through] }))
    expect(await worker.exit).toBe(1)
    expect(worker.events.at(-1)?.sentence).toMatch(
      new RegExp(`^${names.input}/0: the record batch at offset 250 cannot be read: its checksum is`),
    )
    const offsets = await withAdmin(
      (admin) => admin.fetchOffsets({ groupId: names.groupId, topics: [names.input] }),
      broker.plain,
    )
    expect(Number(offsets[0]?.partitions[0]?.offset)).toBe(250)
    const records = await readTopic(names.output, (all) => all.length >= 250, { broker: through })
    expect(records).toHaveLength(250)
  })
})
