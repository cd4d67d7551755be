// Promise: whatever the link to the broker does, no event is lost. A record batch that is damaged on its way ends the process with a sentence
// that names it, and a broker that takes events and never says so ends it as well. Answers that are lost or late: test/simulation/checks.ts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startBrokerBehindProxy, type BrokerBehindProxy } from '../../support/broker-behind-proxy.js'
import { committed, complete, fill, makeTopics, readTopic, settingsFor } from '../../support/kafka.js'
import { limitsEnv } from '../../support/limits.js'
import { startLookupServer } from '../../support/lookup-server.js'
import { spawnRun } from '../../support/spawn-run.js'
import { endWorkers, startWorker } from '../../support/worker.js'

let behind: BrokerBehindProxy

beforeAll(async () => {
  behind = await startBrokerBehindProxy()
})
afterAll(async () => {
  await endWorkers()
  await behind.close()
})

const partitions = 2

it.each(['at-least-once', 'exactly-once'] as const)(
  'a damaged record batch is not delivered, and what stands before it is, %s',
  async (delivery) => {
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
    expect(await committed(names, broker.plain)).toEqual([250])
    const records = await readTopic(names.output, (all) => all.length >= 250, { broker: through })
    expect(records).toHaveLength(250)
  },
)

it('a broker that takes events and never says so ends the program at the limit of a chunk, while its health is good', async () => {
  const { proxy, through } = behind
  const names = await makeTopics({ partitions, broker: through })
  const provider = await startLookupServer({ hang: true })
  const run = spawnRun(names, {
    ...limitsEnv({ kafka: { chunkDeadlineMs: 10_000 } }),
    THREATWEAVE_LOG_LEVEL: 'info',
    THREATWEAVE_OPS_ENABLED: 'true',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    THREATWEAVE_KAFKA_BROKERS: through,
  })
  const url = await run.opsUrl
  await fill(names.input, partitions, 0, 10, through)
  await readTopic(names.output, complete(partitions, 10), { broker: through })
  expect((await fetch(`${url}/healthz`)).status).toBe(200)
  proxy.keepSilent('threatweave')
  await fill(names.input, partitions, 10, 20, through)
  expect(await run.ended).toBe(1)
  await provider.close()
})
