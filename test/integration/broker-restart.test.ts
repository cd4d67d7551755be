// Promise: a broker that goes away and comes back is waited for, however long, by a program that is at work, idle or just starting. Health
// stays good meanwhile, as it does while the provider hangs, and readiness follows the broker.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type Broker } from '../../src/demo/broker.js'
import { complete, fill, makeTopics, readTopic, report, soak, tally, type Names, type Read } from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { endWorkers, startProgram, times, until, type Worker } from '../support/worker.js'
import { realBroker } from '../simulation/contract/real-broker.js'
import { runScenario } from '../simulation/contract/scenario.js'
import { restartScenario } from '../simulation/contract/suite.js'

/** Beyond what the tests wait for. */
const awayMs = soak ? [60_000, 150_000] : [0]
const partitions = 2
const half = soak ? 10_000 : 600
let broker: Broker
let provider: LookupServer

beforeAll(async () => {
  const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined }, say: () => undefined })
  if ('missing' in started) throw new Error(started.missing)
  broker = started
  provider = await startLookupServer({ hang: true })
})
afterEach(endWorkers)
afterAll(async () => {
  await provider.close()
  await broker.stop()
})

type Delivery = 'at-least-once' | 'exactly-once'

const start = (names: Names, delivery: Delivery): Worker =>
  startProgram(
    { ...names, alerts: '' },
    {
      // Two events a request, so that there is something in hand when the broker goes.
      ...limitsEnv({ kafka: { chunkEvents: 2 } }),
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
      THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
      THREATWEAVE_KAFKA_BROKERS: broker.plain,
      THREATWEAVE_KAFKA_DELIVERY: delivery,
      // The brokers count as unreachable after as long.
      THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '5000',
      THREATWEAVE_OUTPUT_DETAIL: 'full',
      THREATWEAVE_OPS_ENABLED: 'true',
      THREATWEAVE_OPS_PORT: '0',
    },
  )

type Seen = { readonly code: number; readonly problems: readonly string[] }

const look = async (url: string, path: '/healthz' | '/readyz'): Promise<Seen> => {
  const response = await fetch(url + path)
  return { code: response.status, problems: ((await response.json()) as { problems: string[] }).problems }
}

const isReachable = async (url: string): Promise<string | undefined> =>
  /^threatweave_brokers_reachable (.*)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1]

/** What health complained about until the end; not that the machine has no time for the program. */
const watchHealth = (url: string): { readonly end: () => Promise<readonly string[]> } => {
  const complaints = new Set<string>()
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      for (const problem of (await look(url, '/healthz')).problems)
        if (!problem.startsWith('the event loop')) complaints.add(problem)
      await sleep(200)
    }
  })()
  watching.catch(() => undefined) // the end tells
  return {
    end: async () => {
      over.abort()
      await watching
      return [...complaints]
    },
  }
}

/** Every annotation has one in full detail. */
const idOf = ({ value }: Read): string | undefined =>
  (JSON.parse(String(value)) as { threatweave: { enrichment_id?: string } }).threatweave.enrichment_id

const expectAll = async (who: string, names: Names, count: number, delivery: Delivery): Promise<void> => {
  const reading = { broker: broker.plain, calmMs: 1_000 }
  const records = await readTopic(names.output, complete(partitions, count), reading)
  const { missing, outOfOrder } = tally(records, partitions, count)
  // By where they were read: what fills the topic right after an outage may have written something twice.
  const repeated = records.length - new Set(records.map(idOf)).size
  report(`${who}, ${delivery}, broker away`, { events: partitions * count, missing, repeated, outOfOrder })
  expect({ who, missing, outOfOrder }).toEqual({ who, missing: 0, outOfOrder: 0 })
  if (delivery === 'exactly-once') expect({ who, repeated }).toEqual({ who, repeated: 0 })
}

const waiting = { timeout: 600_000 }

describe('the only broker, killed and started again', () => {
  it.each(awayMs)(
    'is waited for by everybody, and then nothing is missing and the order is kept (%d ms)',
    { timeout: 900_000 },
    async (extraMs) => {
      const topics = (): Promise<Names> => makeTopics({ partitions, broker: broker.plain })
      const [busy, idle, later] = await Promise.all([topics(), topics(), topics()])
      for (const { input } of [busy, later]) await fill(input, partitions, 0, half, broker.plain)
      const [atWork, waits] = [start(busy, 'exactly-once'), start(idle, 'exactly-once')]
      const url = String((await atWork.said('ops_listening')).url)
      await waits.said('group_joined')
      await readTopic(busy.output, (all) => all.length > 0, { broker: broker.plain, calmMs: 0 })
      await expect.poll(() => look(url, '/readyz'), waiting).toMatchObject({ code: 200 })
      const watched = watchHealth(url)

      await broker.halt()
      const starting = start(later, 'at-least-once')
      // Told when kafkajs itself has given up to connect.
      await starting.said('start_postponed')
      const all = [atWork, waits, starting]
      for (const worker of all) await worker.said('brokers_unreachable')
      await expect
        .poll(() => look(url, '/readyz'), waiting)
        .toMatchObject({
          code: 503,
          problems: expect.arrayContaining([expect.stringMatching(/^no broker has answered for \d+ s$/)]) as unknown,
        })
      expect(await isReachable(url)).toBe('0')
      await sleep(extraMs)

      await broker.resume()
      await fill(busy.input, partitions, half, 2 * half, broker.plain)
      await fill(idle.input, partitions, 0, half, broker.plain)
      await expectAll('at work', busy, 2 * half, 'exactly-once')
      await expectAll('idle', idle, half, 'exactly-once')
      await expectAll('just starting', later, half, 'at-least-once')
      await expect.poll(() => look(url, '/readyz'), waiting).toEqual({ code: 200, problems: [] })
      expect(await isReachable(url)).toBe('1')
      expect(await watched.end()).toEqual([])
      expect(provider.asked.length).toBeGreaterThan(0)
      expect(all.map((worker) => worker.running())).toEqual(all.map(() => true))
      await until('each says that it is over', () => all.every((worker) => times(worker, 'brokers_reachable') > 0))
    },
  )

  // Here because it needs a broker that may be stopped, as the others of the contract do not.
  it(`answers as the contract says: ${restartScenario.title}`, async () => {
    const target = realBroker(broker.plain, async () => {
      await broker.halt()
      await broker.resume()
    })
    expect((await runScenario(restartScenario, target)).differences).toEqual([])
  })
})
