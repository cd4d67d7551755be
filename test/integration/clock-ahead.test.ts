// Promise: where clocks are a day ahead of the brokers', every event, dead letter and alert is written, and the process goes on.
import { Partitioners, type Message } from 'kafkajs'
import { afterEach, expect, it } from 'vitest'
import { client, makeTopic, makeTopics, readTopic, type Read } from '../support/kafka.js'
import { endWorkers, listed, startProgram } from '../support/worker.js'

afterEach(endWorkers)

const dayMs = 86_400_000
const clockAhead = `const now = Date.now; Date.now = () => now() + ${dayMs}`
const wait = { limitMs: 60_000 }
/** Of each partition. */
const count = 20
const large = 5
const accused = 7

const value = (partition: number, seq: number): string => {
  const address = seq === accused ? listed : '192.0.2.20'
  return JSON.stringify({
    seq,
    partition,
    message: `from ${address}`,
    ...(seq === large && { more: 'x'.repeat(40_000) }),
  })
}

/** Those of the second partition have the time of a machine that is ahead as well. */
const messages = (): Message[] =>
  [0, 1].flatMap((partition) =>
    Array.from({ length: count }, (_, seq) => ({
      partition,
      key: `${partition}-${seq}`,
      value: value(partition, seq),
      timestamp: String(Date.now() + partition * dayMs),
    })),
  )

const keysOf = (records: readonly Read[]): readonly string[] => records.map(({ key }) => String(key)).toSorted()

it.each(['at-least-once', 'exactly-once'])('%s', async (delivery) => {
  const names = await makeTopics({
    partitions: 2,
    config: {
      input: { 'message.timestamp.after.max.ms': '9223372036854775807' },
      output: { 'max.message.bytes': '20000' },
    },
  })
  const alerts = `alerts-${names.output}`
  await makeTopic(alerts, 1)
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  await producer.send({ topic: names.input, messages: messages() })
  await producer.disconnect()

  const worker = startProgram(
    { ...names, alerts },
    {
      THREATWEAVE_KAFKA_DELIVERY: delivery,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clockAhead)}`,
    },
  )
  const output = await readTopic(names.output, (records) => records.length >= 2 * (count - 1), wait)
  const dead = await readTopic(names.dead, (records) => records.length >= 2, wait)
  const raised = await readTopic(alerts, (records) => records.length >= 2, wait)

  const inAll = [0, 1].flatMap((partition) => Array.from({ length: count }, (_, seq) => `${partition}-${seq}`))
  const tooLarge = [`0-${large}`, `1-${large}`]
  expect(keysOf(output)).toEqual(inAll.filter((key) => !tooLarge.includes(key)).toSorted())
  expect(keysOf(dead)).toEqual(tooLarge)
  expect(raised).toHaveLength(2)
  for (const { headers } of [...dead, ...raised]) expect(Number(headers['threatweave-timestamp'])).toBeGreaterThan(0)
  const ahead = output.find(({ key }) => String(key) === '1-0')
  expect(ahead?.timestamp).toBe('-1')
  expect(Number(ahead?.headers['threatweave-timestamp'])).toBeGreaterThan(Date.now())
  expect(output.find(({ key }) => String(key) === '0-0')?.headers).not.toHaveProperty('threatweave-timestamp')
  expect(worker.running()).toBe(true)
  expect(worker.events.map(({ event }) => event)).toContain('written_without_time')
})
