// Promise: a provider that fails, goes and comes back stops no event, and nothing it did not say is said. One that hangs: backlog.
// What it costs in throughput is measured by `npm run bench -- kafka`.
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, it, onTestFinished } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { openApp } from '../../src/app/open-app.js'
import { load } from '../../src/config/load.js'
import { accepted } from '../../src/config/load-config.js'
import { allOf } from '../../src/pipeline/pipeline.js'
import { client, makeTopics, readTopic } from '../support/kafka.js'
import { limitsWith } from '../support/limits.js'
import { startLookupServer } from '../support/lookup-server.js'
import { startRun } from '../support/spawn-run.js'

const count = 2_000
/** 50 of 1,000 events bring an address that was never seen; all others bring the same private one, which nobody is asked about. */
const isNew = (sequence: number): boolean => sequence % 20 === 0
const addressOf = (sequence: number): string =>
  isNew(sequence) ? `2001:db8:5::${(sequence / 20 + 1).toString(16)}` : '10.0.0.1'

it('a provider that fails lets every event out in order, and each says what it left without', async () => {
  const server = await startLookupServer({ fail: true })
  onTestFinished(server.close)
  const names = await makeTopics({ partitions: 2 })
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let from = 0; from < count; from += 500)
    await producer.send({
      topic: names.input,
      messages: Array.from({ length: 500 }, (_, place) => ({
        partition: place % 2,
        value: JSON.stringify({ sequence: from + place, src_ip: addressOf(from + place), action: 'allowed' }),
      })),
    })
  await producer.disconnect()
  const run = startRun(names, { THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url })
  onTestFinished(async () => {
    await run.stop()
  })
  const records = await readTopic(names.output, ({ length }) => length >= count)
  expect(await run.stop()).toBe(0)
  const seen = records.map(({ value, partition }) => ({
    ...(JSON.parse(String(value)) as { sequence: number; threatweave: Annotation }),
    partition,
  }))
  expect(seen).toHaveLength(count)
  for (const partition of [0, 1])
    expect(seen.filter((one) => one.partition === partition).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: count / 2 }, (_, place) => 2 * place + partition),
    )
  const told = new Set<string>()
  for (const { sequence, threatweave } of seen) {
    expect(threatweave.verdict).toBe('unknown')
    expect(threatweave.status).toBe(isNew(sequence) ? 'failed' : 'skipped')
    if (isNew(sequence)) told.add(threatweave.reason ?? 'none')
  }
  const reasons = ['pending', 'deadline', 'unavailable', 'cooling_down', 'breaker_open']
  expect([...told].filter((reason) => !reasons.includes(reason))).toEqual([])
  expect(told.size).toBeGreaterThan(0)
})

it('a provider that goes away and comes back is asked again, and what it says then is believed', async () => {
  let server = await startLookupServer()
  const port = Number(new URL(server.url).port)
  const loaded = load({
    values: {
      gate: { documentation: true },
      memory: { path: 'none' },
      intel: { service: { baseUrl: server.url, apiKey: 'sample-key' } },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const app = accepted(
    await openApp(loaded.config, {
      mode: 'complete',
      env: {},
      limits: limitsWith({
        admission: { breakerFailures: 2, breakerMs: 200, maxBreakerMs: 400 },
        retry: { times: 0 },
        cooldown: { firstSeconds: 1 },
      }),
    }),
  )
  const verdictOf = async (ip: string): Promise<string> => {
    const [out] = await allOf(app.pipeline, [{ bytes: Buffer.from(JSON.stringify({ src_ip: ip })), origin: ip }])
    const { verdict, reason } = out!.annotation
    return verdict === 'unknown' ? String(reason) : verdict
  }
  try {
    expect(await verdictOf('198.51.100.1')).toBe('clean')
    await server.close()
    const during: string[] = []
    for (let number = 10; number < 20; number++) during.push(await verdictOf(`198.51.100.${number}`))
    expect(during).toContain('unavailable')
    expect(during.filter((word) => !['unavailable', 'breaker_open'].includes(word))).toEqual([])
    expect(await verdictOf('198.51.100.1')).toBe('clean')
    server = await startLookupServer({ port })
    for (let number = 1; (await verdictOf(`2001:db8::${number.toString(16)}`)) !== 'clean'; number++) await sleep(100)
  } finally {
    await app.close()
    await server.close()
  }
})
