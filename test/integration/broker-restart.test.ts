// Promise: a broker that goes away and comes back is waited for, however long, by whoever is at work, idle or just starting.
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startBroker, type Broker } from '../../src/demo/broker.js'
import type { KafkaSettings } from '../../src/kafka/settings.js'
import { root } from '../support/cli.js'
import {
  complete,
  fill,
  makeTopics,
  originsOf,
  readTopic,
  report,
  settingsFor,
  soak,
  tally,
  type Names,
} from '../support/kafka.js'
import { spawnRun, type Run } from '../support/spawn-run.js'
import { endWorkers, startWorker, times, until, type Worker } from '../support/worker.js'

/** Beyond what the tests wait for. */
const awayMs = soak ? [60_000, 150_000] : [0]
const partitions = 2
const count = soak ? 20_000 : 3_000
let broker: Broker
let run: Run | undefined

beforeAll(async () => {
  const started = await startBroker({ env: { ...process.env, KAFKA_BROKERS: undefined }, say: () => undefined })
  if ('missing' in started) throw new Error(started.missing)
  broker = started
})
afterAll(() => broker.stop())
afterEach(async () => {
  await endWorkers()
  run?.kill('SIGKILL')
  await run?.ended
})

const feedsOnly = {
  THREATWEAVE_INTEL_SERVICE_API_KEY: '',
  THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: join(root, 'examples/feeds/sample-feed.csv') }]),
}

type Delivery = KafkaSettings['delivery']

const topics = (): Promise<Names> => makeTopics({ partitions, broker: broker.plain })

const start = (names: Names, delivery: Delivery, delayMs = 0): Worker =>
  startWorker(settingsFor(names, { delivery, brokers: [broker.plain], limits: { chunkEvents: 50 } }), { delayMs })

const expectAll = async (who: string, names: Names, delivery: Delivery): Promise<void> => {
  const limitMs = 120_000
  const records = await readTopic(names.output, complete(partitions, count), {
    broker: broker.plain,
    limitMs,
    calmMs: 1_000,
  })
  const { missing, outOfOrder } = tally(records, partitions, count)
  // By where they were read: whoever fills the topic right after an outage may have written something twice.
  const repeated = records.length - new Set(originsOf(records)).size
  report(`${who}, ${delivery}, broker away`, { events: partitions * count, missing, repeated, outOfOrder })
  expect({ who, missing, outOfOrder }).toEqual({ who, missing: 0, outOfOrder: 0 })
  if (delivery === 'exactly-once') expect({ who, repeated }).toEqual({ who, repeated: 0 })
}

describe('the only broker, killed and started again', () => {
  it.each(awayMs)(
    'is waited for by everybody, and then nothing is missing and the order is kept (%d ms)',
    { timeout: 420_000 },
    async (extraMs) => {
      const [busy, busyOnce, idle, later, together] = await Promise.all(Array.from({ length: 5 }, topics))
      const atWork = [
        { who: 'at work', names: busy!, delivery: 'at-least-once' as const },
        { who: 'at work', names: busyOnce!, delivery: 'exactly-once' as const },
      ]
      for (const { names } of [...atWork, { names: later! }])
        await fill(names.input, partitions, 0, count, broker.plain)
      const workers = atWork.map(({ names, delivery }) => start(names, delivery, 40))
      const waiting = start(idle!, 'exactly-once')
      if (soak) run = spawnRun(together!, { ...feedsOnly, THREATWEAVE_KAFKA_BROKERS: broker.plain }, ['--workers', '2'])
      await Promise.all([workers[0]!.said('group_joined'), workers[1]!.said('partition_claimed')])
      await waiting.said('group_joined')
      await sleep(soak ? 10_000 : 400)
      await broker.halt()
      const starting = start(later!, 'at-least-once')
      // Told when kafkajs itself has given up to connect.
      await starting.said('start_postponed', 60_000)
      for (const worker of [waiting, starting, ...workers]) await worker.said('brokers_unreachable', 60_000)
      await until('the idle one knows it', () => waiting.health()?.unreachableSince !== undefined)
      await sleep(extraMs)
      await broker.resume()
      await fill(idle!.input, partitions, 0, count, broker.plain)
      if (soak) await fill(together!.input, partitions, 0, count, broker.plain)
      for (const { who, names, delivery } of atWork) await expectAll(who, names, delivery)
      await expectAll('idle', idle!, 'exactly-once')
      await expectAll('just starting', later!, 'at-least-once')
      if (soak) await expectAll('two workers', together!, 'at-least-once')
      const all = [waiting, starting, ...workers]
      expect(all.map((worker) => worker.running())).toEqual(all.map(() => true))
      expect(all.map((worker) => times(worker, 'brokers_reachable'))).toEqual(all.map(() => 1))
      await until('health is as before', () => all.every((worker) => worker.health()?.unreachableSince === undefined))
      if (run) expect(await run.stop()).toBe(0)
    },
  )
})
