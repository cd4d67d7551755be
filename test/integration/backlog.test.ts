// Promise: a backlog comes out annotated, for a bounded price in waiting.
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Annotation } from '../../src/domain/annotation.js'
import { client, makeTopics, readTopic, type Names, type Read } from '../support/kafka.js'
import { limitsEnv } from '../support/limits.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

const partitions = 4
const count = 8_000
const distinct = 400

const fill = async ({ input }: Names): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let from = 0; from < count; from += 1000) {
    const messages = Array.from({ length: 1000 }, (_, place) => {
      const number = from + place
      const value = JSON.stringify({
        number,
        src_ip: `2001:db8:9::${(number % distinct).toString(16)}`,
        action: 'allowed',
      })
      return { partition: number % partitions, value }
    })
    await producer.send({ topic: input, messages })
  }
  await producer.disconnect()
}

type Out = { readonly number: number; readonly threatweave: Annotation }
const read = (records: readonly Read[]): Out[] => records.map(({ value }) => JSON.parse(String(value)) as Out)

/** All of them once, in the order of their partitions. */
const expectAllInOrder = (records: readonly Read[]): void => {
  expect(records).toHaveLength(count)
  const last = Array.from({ length: partitions }, (_, partition) => partition - partitions)
  for (const { number } of read(records)) {
    expect(number).toBe(last[number % partitions]! + partitions)
    last[number % partitions] = number
  }
}

it('a cold backlog comes out whole with two workers, and each address is asked for once at most, no more at a time than allowed', async () => {
  const server = await startLookupServer({ delayMs: 100 })
  const names = await makeTopics({ partitions })
  await fill(names)
  const run = spawnRun(
    names,
    {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
      THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
      // However slow the machine is: what is promised of time is measured by the bench.
      THREATWEAVE_ENRICH_CATCH_UP_SHARE: '0.9',
      ...limitsEnv({ kafka: { behindEvents: 500 } }),
    },
    ['--workers', '2'],
  )
  const records = await readTopic(names.output, ({ length }) => length >= count)
  expect(await run.stop()).toBe(0)
  await server.close()
  expectAllInOrder(records)
  const others = read(records).filter(({ threatweave: { status } }) => status !== 'complete')
  // How many depends on the machine, and is measured by `npm run bench -- backlog`.
  for (const { threatweave } of others) expect(['pending', 'deadline']).toContain(threatweave.reason)
  expect(server.asked).toHaveLength(new Set(server.asked).size)
  expect(server.maxInFlight()).toBeLessThanOrEqual(32)
})

it('a provider that hangs is not waited for, and every event says that its answer is pending', async () => {
  const server = await startLookupServer({ hang: true })
  const names = await makeTopics({ partitions })
  await fill(names)
  const began = Date.now()
  const run = spawnRun(names, {
    THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '32',
    THREATWEAVE_ENRICH_CATCH_UP_SHARE: '0.05',
    ...limitsEnv({ kafka: { behindEvents: 500 } }),
    THREATWEAVE_OPS_ENABLED: 'true',
    THREATWEAVE_LOG_LEVEL: 'info',
  })
  const records = await readTopic(names.output, ({ length }) => length >= count)
  const metrics = await (await fetch(`${await run.opsUrl}/metrics`)).text()
  expect(await run.stop()).toBe(0)
  await server.close()
  expectAllInOrder(records)
  const reasons = new Set(read(records).map(({ threatweave }) => threatweave.reason))
  expect([...reasons].filter((reason) => reason !== 'pending' && reason !== 'deadline')).toEqual([])
  const waited = Number(/^threatweave_wait_seconds_total (\S+)$/m.exec(metrics)?.[1])
  // What is allowed at once, and its share of the time that this machine took.
  expect(waited).toBeLessThan(2.5 + (0.05 * (Date.now() - began)) / 1000)
})
