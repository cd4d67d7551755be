// Promise: whatever the link to the broker does, no event is lost. An answer to a produce request that never arrives costs nothing, one that is
// only late loses no answer of the provider, a record batch that is damaged on its way ends the process with a sentence that names it, and so
// does a broker that takes events and never says so.
import { Partitioners } from 'kafkajs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startBrokerBehindProxy, type BrokerBehindProxy } from '../support/broker-behind-proxy.js'
import {
  client,
  committed,
  complete,
  fill,
  makeTopics,
  readAmongAborted,
  readTopic,
  settingsFor,
  tally,
} from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { startLookupServer } from '../support/lookup-server.js'
import { startScriptedService } from '../support/scripted-service.js'
import { spawnRun } from '../support/spawn-run.js'
import { endWorkers, startProgram, startWorker, until } from '../support/worker.js'

let behind: BrokerBehindProxy

beforeAll(async () => {
  behind = await startBrokerBehindProxy(9)
})
afterAll(async () => {
  await endWorkers()
  await behind.close()
})

const partitions = 2
const count = 600

it('an answer that arrives between annotation and commit corrects its event', { timeout: 900_000 }, async () => {
  const { proxy, through } = behind
  const commits = proxy.holdCommits()
  let [first, second]: (string | undefined)[] = []
  let answerSecond = (): void => undefined
  const isSecondAnswered = new Promise<void>((resolve) => (answerSecond = resolve))
  // One call at a time: the first answer has arrived when there is a call about the second.
  const provider = await startScriptedService(({ query: { ip = '' } }, response) => {
    first ??= ip
    if (ip !== first) second = ip
    void (ip === first ? commits.held : isSecondAnswered).then(() =>
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ ip, is_malicious: true, status: 200 })),
    )
  })
  const names = { ...(await makeTopics({ partitions: 1, broker: through })), alerts: '' }
  const { output: corrections } = await makeTopics({ partitions: 1, broker: through })
  const producer = client(through).producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const messages = ['203.0.113.1', '203.0.113.2'].map((src_ip) => ({
    value: JSON.stringify({ src_ip, dest_ip: '10.0.0.5' }),
  }))
  await producer.send({ topic: names.input, messages })
  await producer.disconnect()
  startProgram(names, {
    THREATWEAVE_ENRICH_DEADLINE_MS: '20',
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.baseUrl,
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
    THREATWEAVE_KAFKA_BROKERS: through,
    THREATWEAVE_KAFKA_CORRECTIONS_TOPIC: corrections,
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '10000',
  })
  await until('the first answer arrives', () => second !== undefined)
  commits.release()
  const verdicts = async (wanted: number): Promise<unknown[]> => {
    const records = await readAmongAborted(corrections, (all) => all.length >= wanted, { broker: through })
    return records
      .map(({ value }) => JSON.parse(String(value)) as { src_ip: string; threatweave: { verdict: string } })
      .map(({ src_ip, threatweave: { verdict } }) => [src_ip, verdict])
  }
  expect(await verdicts(1)).toEqual([[first, 'malicious']])
  answerSecond()
  expect(await verdicts(2)).toEqual([first, second].map((ip) => [ip, 'malicious']))
  await endWorkers()
  await provider.close()
})

it('every ninth produce answer lost misses nothing afterwards, and repeats nothing where delivery is exactly once', async () => {
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
  proxy.disarm()
  await endWorkers()
})

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
    ...limitsEnv({ kafka: { chunkDeadlineMs: 15_000 } }),
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
