// Promise: a provider that hangs, goes and comes back stops no event, and nothing it did not say is said.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { createEnricher } from '../../src/enricher.js'
import { client, makeTopics } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

/** 50 of 1,000 events bring an address that was never seen. */
const events = Array.from({ length: 6000 }, (_, place) => {
  const number = place % 20 === 0 ? place / 20 : -1
  return number < 0 ? '203.0.113.1' : number < 200 ? `198.51.100.${number + 1}` : `203.0.113.${number - 190}`
})

it('a provider that hangs does not stop the stream, and nothing it was asked about is called clean', async () => {
  const server = await startLookupServer({ hang: true })
  const names = await makeTopics({ partitions: 2 })
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let from = 0; from < events.length; from += 500)
    await producer.send({
      topic: names.input,
      messages: events.slice(from, from + 500).map((ip, place) => ({
        partition: (from + place) % 2,
        value: JSON.stringify({ sequence: from + place, src_ip: ip, action: 'allowed' }),
      })),
    })
  await producer.disconnect()
  const run = spawnRun(names, { THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url })
  const seen: { sequence: number; partition: number; threatweave: Annotation }[] = []
  const consumer = client().consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic: names.output, fromBeginning: true })
  await consumer.run({
    eachMessage: ({ message, partition }) => {
      seen.push({ ...(JSON.parse(String(message.value)) as { sequence: number; threatweave: Annotation }), partition })
      return Promise.resolve()
    },
  })
  const until = Date.now() + 60_000
  while (seen.length < events.length && Date.now() < until) await sleep(100)
  expect(await run.stop()).toBe(0)
  await consumer.disconnect()
  await server.close()
  expect(seen).toHaveLength(events.length)
  for (const partition of [0, 1]) {
    const order = seen.filter((one) => one.partition === partition).map(({ sequence }) => sequence)
    expect(order).toEqual([...order].sort((a, b) => a - b))
  }
  expect(new Set(seen.map(({ threatweave }) => threatweave.verdict))).toEqual(new Set(['unknown']))
  const reasons = new Set(seen.map(({ threatweave }) => threatweave.reason))
  expect(
    [...reasons].filter(
      (reason) => !['pending', 'deadline', 'timeout', 'cooling_down', 'breaker_open'].includes(reason ?? ''),
    ),
  ).toEqual([])
}, 120_000)

it('a provider that goes away and comes back is asked again, and what it says then is believed', async () => {
  let server = await startLookupServer()
  const port = Number(new URL(server.url).port)
  const enricher = await createEnricher({
    settings: {
      gate: { documentation: true },
      memory: { path: 'none', cooldown: { firstSeconds: 1 } },
      admit: { breakerFailures: 2, breakerMs: 200, maxBreakerMs: 400, retry: { times: 0 } },
      intel: { service: { baseUrl: server.url, apiKey: 'sample-key' } },
    },
  })
  const verdictOf = async (ip: string): Promise<string> => {
    const { annotation } = await enricher.enrich(JSON.stringify({ src_ip: ip }))
    return annotation.verdict === 'unknown' ? String(annotation.reason) : annotation.verdict
  }
  try {
    expect(await verdictOf('198.51.100.1')).toBe('clean')
    await server.close()
    const during: string[] = []
    for (let number = 10; number < 20; number++) during.push(await verdictOf(`198.51.100.${number}`))
    expect(new Set(during)).toEqual(new Set(['unavailable', 'breaker_open']))
    expect(await verdictOf('198.51.100.1')).toBe('clean')
    server = await startLookupServer({ port })
    const until = Date.now() + 15_000
    let last = ''
    for (let number = 30; number < 250 && last !== 'clean' && Date.now() < until; number++) {
      await sleep(100)
      last = await verdictOf(`198.51.100.${number}`)
    }
    expect(last).toBe('clean')
  } finally {
    await enricher.close()
    await server.close()
  }
}, 60_000)
