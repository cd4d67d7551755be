// Promise: at the head of the log, with a provider that has time, events leave with their answers.
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { client, makeTopics, readTopic } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

it('of events that trickle in with an address never seen each, 95 % are complete when the provider takes 50 ms', async () => {
  const server = await startLookupServer({ delayMs: 50 })
  const names = await makeTopics({ partitions: 2 })
  const run = spawnRun(names, { THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url })
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  let sent = 0
  const send = async (count: number): Promise<void> => {
    const messages = Array.from({ length: count }, () => {
      const number = ++sent
      const value = JSON.stringify({ number, src_ip: `2001:db8:7::${number.toString(16)}`, action: 'allowed' })
      return { partition: number % 2, value }
    })
    await producer.send({ topic: names.input, messages })
  }
  // The log has a head only when somebody stands at it: what comes before the first event is through would be a backlog.
  await send(1)
  await readTopic(names.output, ({ length }) => length >= 1, { calmMs: 0 })
  // One call at a time may be in flight, so ten a second keep the provider busy for half of the time: alone, and five at once.
  for (let round = 0; round < 60; round++) {
    await send(1)
    await sleep(100)
  }
  for (let round = 0; round < 12; round++) {
    await send(5)
    await sleep(500)
  }
  await producer.disconnect()
  const records = await readTopic(names.output, ({ length }) => length >= sent)
  expect(await run.stop()).toBe(0)
  await server.close()
  const seen = records.map(({ value }) => JSON.parse(String(value)) as { number: number; threatweave: Annotation })
  expect(seen.map(({ number }) => number).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: sent }, (_, place) => place + 1),
  )
  const others = seen.filter(({ threatweave }) => threatweave.status !== 'complete')
  expect(others.length / sent, `those that are not: ${JSON.stringify(others.slice(0, 5))}`).toBeLessThanOrEqual(0.05)
  expect(server.maxInFlight()).toBe(1)
  // Without an answer from the provider there is no complete one.
  expect(new Set(server.asked).size).toBe(sent)
}, 60_000)
