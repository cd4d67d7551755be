import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { root } from '../support/cli.js'
import { client, makeTopics } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { spawnRun } from '../support/spawn-run.js'

const collectAlerts = async (topic: string): Promise<{ seen: Alert[]; stop: () => Promise<void> }> => {
  const seen: Alert[] = []
  const consumer = client().consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: ({ message }) => {
      seen.push(JSON.parse(String(message.value)) as Alert)
      return Promise.resolve()
    },
  })
  return { seen, stop: () => consumer.disconnect() }
}

it.each(['at-least-once', 'exactly-once'] as const)(
  'alerts of known and of late indicators reach their topic, %s',
  async (delivery) => {
    // It answers long after the deadline: the event leaves as pending, its alert comes late.
    const server = await startLookupServer({ malicious: ['198.51.100.200'], delayMs: 1500 })
    const names = await makeTopics({ partitions: 1 })
    const alertsTopic = `alerts-${randomUUID().slice(0, 8)}`
    const admin = client().admin()
    await admin.connect()
    await admin.createTopics({ waitForLeaders: true, topics: [{ topic: alertsTopic, numPartitions: 1 }] })
    await admin.disconnect()
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const event = (ip: string): string =>
      JSON.stringify({ '@timestamp': '2026-11-15T08:00:00Z', src_ip: ip, dest_ip: '10.0.0.5', action: 'allowed' })
    await producer.send({
      topic: names.input,
      messages: ['198.51.100.60', '198.51.100.200', '10.0.0.9'].map((ip) => ({ partition: 0, value: event(ip) })),
    })
    await producer.disconnect()
    const run = spawnRun(names, {
      THREATWEAVE_ENRICH_DEADLINE_MS: '100',
      THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: join(root, 'examples/feeds/sample-feed.csv') }]),
      THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
      THREATWEAVE_KAFKA_DELIVERY: delivery,
      THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
    })
    const alerts = await collectAlerts(alertsTopic)
    const until = Date.now() + 45_000
    while (alerts.seen.length < 2 && Date.now() < until) await sleep(100)
    expect(await run.stop()).toBe(0)
    await alerts.stop()
    await server.close()
    const said = alerts.seen.map(({ rule, threatweave }) => [rule.name, threatweave.value, threatweave.late ?? false])
    expect(said).toEqual([
      ['Malicious Address Was Let In', '198.51.100.60', false],
      ['Malicious Address Was Let In', '198.51.100.200', true],
    ])
    expect(alerts.seen[1]?.threatweave.origins).toEqual([`${names.input}/0/1`])
  },
  90_000,
)
