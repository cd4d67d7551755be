// Promise: at the head of the log, with a provider that has time, events leave with their answers.
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { client, makeTopics, readTopic } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { startRun } from '../support/spawn-run.js'

it('events with an address never seen each, alone and five at once, wait for a provider that takes 50 ms', async () => {
  const server = await startLookupServer({ delayMs: 50 })
  const names = await makeTopics({ partitions: 2 })
  // A deadline that only a provider that never answers would meet: how often the usual one is met is a matter of speed.
  const run = startRun(names, {
    THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1',
    THREATWEAVE_ENRICH_DEADLINE_MS: '30000',
  })
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  let sent = 0
  // The next ones come when these are through, so that nothing is ever behind.
  for (const count of [1, 1, 1, 5, 5, 5]) {
    const messages = Array.from({ length: count }, () => {
      const number = ++sent
      const value = JSON.stringify({ number, src_ip: `2001:db8:7::${number.toString(16)}`, action: 'allowed' })
      return { partition: number % 2, value }
    })
    await producer.send({ topic: names.input, messages })
    await readTopic(names.output, ({ length }) => length >= sent, { calmMs: 0 })
  }
  await producer.disconnect()
  const records = await readTopic(names.output, ({ length }) => length >= sent)
  expect(await run.stop()).toBe(0)
  await server.close()
  const seen = records.map(({ value }) => JSON.parse(String(value)) as { number: number; threatweave: Annotation })
  expect(seen.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: sent }, (_, place) => place + 1),
  )
  expect(seen.filter(({ threatweave }) => threatweave.status !== 'complete')).toEqual([])
  expect(server.maxInFlight()).toBe(1)
  expect(new Set(server.asked).size).toBe(sent)
})
