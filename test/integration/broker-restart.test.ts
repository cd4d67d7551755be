// Promise: a broker that goes away and comes back is waited for, however long, by a program that is at work, idle or just starting. Health
// stays good meanwhile, as it does while the provider hangs, and readiness follows the broker. A gateway answers all the same, and shares what
// it paid for when the broker is back.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePorts, startBroker, type Broker } from '../../src/parts/demo/broker.js'
import { address, askAll, countKnown, startAsker } from '../support/askers.js'
import {
  complete,
  fill,
  makeTopic,
  makeTopics,
  readTopic,
  report,
  soak,
  tally,
  type Names,
  type Read,
} from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { startLookupServer, type LookupServer } from '../support/lookup-server.js'
import { newFolder, sampleKey } from '../support/lookup-service.js'
import { spawnServe } from '../support/spawn-run.js'
import { endWorkers, startProgram, times, until, type Worker } from '../support/worker.js'

/** Beyond what the tests wait for. */
const awayMs = soak ? [60_000, 150_000] : [0]
const partitions = 2
const half = soak ? 10_000 : 600
let broker: Broker
let provider: LookupServer

beforeAll(async () => {
  const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined } })
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

const metric = async (url: string, name: string): Promise<number> => {
  const lines = (await (await fetch(`${url}/metrics`)).text()).split('\n')
  return Number(lines.find((line) => line.startsWith(`threatweave_${name} `))?.split(' ')[1] ?? NaN)
}

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

type Gateway = {
  /** Asks about so many further addresses, all of which are answered. */
  readonly ask: (count: number) => Promise<void>
  readonly appended: () => Promise<number>
  readonly said: (event: string) => Promise<number>
  /** What is in the topic, and that everything asked about is. */
  readonly expectShared: () => Promise<void>
  readonly stop: () => Promise<number | null>
}

const startGateway = async (onEnd: (close: () => unknown) => void): Promise<Gateway> => {
  const upstream = await startLookupServer()
  onEnd(upstream.close)
  const topic = `verdicts-${broker.plain.split(':')[1] ?? ''}-${Date.now()}`
  await makeTopic(topic, 1, broker.plain)
  const [port = 0] = await freePorts(1)
  const { opsUrl, kill, stop } = spawnServe(
    {
      THREATWEAVE_KAFKA_BROKERS: broker.plain,
      THREATWEAVE_KAFKA_VERDICTS_TOPIC: topic,
      THREATWEAVE_KAFKA_VERDICTS_KEY: 'a key that nobody else has, of 40 letters',
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_OPS_ENABLED: 'true',
      THREATWEAVE_SERVE_API_KEY: sampleKey,
    },
    ['--port', String(port), '--state', newFolder(), '--upstream', upstream.url],
  )
  onEnd(() => kill('SIGKILL'))
  const url = await opsUrl
  const asker = await startAsker(`http://127.0.0.1:${port}`)
  // The first answers are single calls, which a gateway does not share, until the asker knows that many can be asked at once.
  for (let single = 9_000; single === 9_000 || asker.admission?.state().spent.run !== 0; single++)
    expect(countKnown(await askAll(asker, single, single + 1))).toBe(1)
  let asked = 0
  return {
    ask: async (count) => {
      expect(countKnown(await askAll(asker, asked, asked + count))).toBe(count)
      asked += count
    },
    appended: () => metric(url, 'verdicts_appended_total'),
    said: (event) => metric(url, `log_events_total{event="${event}"}`),
    expectShared: async () => {
      const records = await readTopic(topic, ({ length }) => length >= asked, { broker: broker.plain })
      const keys = new Set(records.map((record) => String(record.key)))
      for (let nth = 0; nth < asked; nth++) expect(keys).toContain(`service|ip:${address(nth)}`)
    },
    stop,
  }
}

describe('the only broker, killed and started again', () => {
  it.each(awayMs)(
    'is waited for by everybody, and then nothing is missing and the order is kept (%d ms)',
    { timeout: 900_000 },
    async (extraMs) => {
      const closers: (() => unknown)[] = []
      onTestFinished(async () => {
        for (const close of closers) await close()
      })
      const gateway = await startGateway((close) => closers.push(close))
      await gateway.ask(100)
      await expect.poll(gateway.appended, waiting).toBeGreaterThanOrEqual(100)
      const appended = await gateway.appended()
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
      await gateway.ask(300)
      await expect.poll(() => gateway.said('verdicts_topic_failed'), waiting).toBeGreaterThan(0)
      expect(await gateway.appended()).toBe(appended)
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
      expect(await metric(url, 'brokers_reachable')).toBe(0)
      await sleep(extraMs)

      await broker.resume()
      await fill(busy.input, partitions, half, 2 * half, broker.plain)
      await fill(idle.input, partitions, 0, half, broker.plain)
      await expectAll('at work', busy, 2 * half, 'exactly-once')
      await expectAll('idle', idle, half, 'exactly-once')
      await expectAll('just starting', later, half, 'at-least-once')
      await expect.poll(() => look(url, '/readyz'), waiting).toEqual({ code: 200, problems: [] })
      expect(await metric(url, 'brokers_reachable')).toBe(1)
      expect(await watched.end()).toEqual([])
      expect(provider.asked.length).toBeGreaterThan(0)
      await expect.poll(gateway.appended, waiting).toBe(appended + 300)
      await expect
        .poll(
          async () => (await gateway.said('verdicts_topic_failed')) - (await gateway.said('verdicts_topic_resumed')),
          waiting,
        )
        .toBe(0)
      await gateway.expectShared()
      expect(await gateway.stop()).toBe(0)
      expect(all.map((worker) => worker.running())).toEqual(all.map(() => true))
      await until('each says that it is over', () => all.every((worker) => times(worker, 'brokers_reachable') > 0))
    },
  )
})
