// Promise: with `enrich.mode: complete` no event of a topic leaves without its answer, however long the provider is away.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import type { Annotation } from '../../../src/domain/annotation.js'
import { client, committed, makeTopics, readTopic, withAdmin, type Names, type Read } from '../../support/kafka.js'
import { limitsEnv } from '../../support/limits.js'
import { startLookupServer } from '../../support/lookup-server.js'
import { spawnRun, type Run } from '../../support/spawn-run.js'

const partitions = 2
const count = 200

const fill = async ({ input }: Names): Promise<void> => {
  const producer = client().producer()
  await producer.connect()
  const messages = Array.from({ length: count }, (_, number) => ({
    partition: number % partitions,
    value: JSON.stringify({ number, src_ip: `203.0.113.${number}`, action: 'allowed' }),
  }))
  await producer.send({ topic: input, messages })
  await producer.disconnect()
}

const outcomes = (records: readonly Read[]): Record<string, number> => {
  const found: Record<string, number> = {}
  for (const { value } of records) {
    const { threatweave } = JSON.parse(String(value)) as { threatweave: Annotation }
    found[threatweave.status] = (found[threatweave.status] ?? 0) + 1
  }
  return found
}

const written = (topic: string): Promise<number> =>
  withAdmin(async (admin) => (await admin.fetchTopicOffsets(topic)).reduce((sum, { high }) => sum + Number(high), 0))

const metric = async (run: Run, name: string): Promise<number> => {
  const text = await (await fetch(`${await run.opsUrl}/metrics`)).text()
  return Number(new RegExp(`^threatweave_${name} (\\S+)$`, 'm').exec(text)?.[1])
}

/** Shorter than what is waited here, so that heartbeats and limits are seen to be none of its ends. */
const settings = (url: string): Readonly<Record<string, string>> => ({
  THREATWEAVE_ENRICH_MODE: 'complete',
  THREATWEAVE_INTEL_SERVICE_BASE_URL: url,
  ...limitsEnv({ admission: { breakerMs: 500, maxBreakerMs: 500 }, kafka: { chunkDeadlineMs: 10_500 } }),
  THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
  THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '10000',
  THREATWEAVE_OPS_ENABLED: 'true',
  THREATWEAVE_LOG_LEVEL: 'info',
})

/** For a machine with much else to do; no part of the verdict. */
const waiting = { timeout: 600_000 }

/** A port where somebody listens later. */
const freePort = async (): Promise<number> => {
  const server = await startLookupServer()
  await server.close()
  return Number(new URL(server.url).port)
}

it('an outage of the provider is waited for past session and chunk deadline, through an open circuit breaker', async () => {
  const port = await freePort()
  const names = await makeTopics({ partitions })
  await fill(names)
  const run = spawnRun(names, settings(`http://127.0.0.1:${port}`))
  await expect.poll(() => metric(run, 'provider_state{state="breaker_open"}'), waiting).toBe(1)
  await sleep(11_500)
  expect(await written(names.output)).toBe(0)
  expect(await metric(run, 'group_joins_total')).toBe(1)
  const server = await startLookupServer({ port })
  const records = await readTopic(names.output, ({ length }) => length >= count)
  expect(outcomes(records)).toEqual({ complete: count })
  expect(records).toHaveLength(count)
  expect(await metric(run, 'group_joins_total')).toBe(1)
  expect(await run.stop()).toBe(0)
  await server.close()
})

it('a stop ends the wait at once and leaves the events where they are', async () => {
  const hanging = await startLookupServer({ hang: true })
  const names = await makeTopics({ partitions })
  await fill(names)
  const first = spawnRun(names, settings(hanging.url))
  await expect.poll(() => hanging.asked.length, waiting).toBeGreaterThan(0)
  expect(await first.stop()).toBe(0)
  await hanging.close()
  expect(await written(names.output)).toBe(0)
  expect((await committed(names)).filter((offset) => offset > 0)).toEqual([])
  const server = await startLookupServer()
  const second = spawnRun(names, settings(server.url))
  const records = await readTopic(names.output, ({ length }) => length >= count)
  expect(outcomes(records)).toEqual({ complete: count })
  expect(records).toHaveLength(count)
  expect(await second.stop()).toBe(0)
  await server.close()
})
