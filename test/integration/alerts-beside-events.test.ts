// Promise: alerts stand on their topic beside their events, those about one indicator on one partition, late ones too; every inside host is named.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { Alert } from '../../src/alerts/alert.js'
import { alertRecord } from '../../src/delivery/compose.js'
import { root } from '../support/cli.js'
import { client, makeTopic, makeTopics } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { startRun } from '../support/spawn-run.js'

type Seen = { readonly partition: number; readonly alert: Alert }

const collectAlerts = async (topic: string): Promise<{ seen: Seen[]; stop: () => Promise<void> }> => {
  const seen: Seen[] = []
  const consumer = client().consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 })
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    eachMessage: ({ partition, message }) => {
      seen.push({ partition, alert: JSON.parse(String(message.value)) as Alert })
      return Promise.resolve()
    },
  })
  return { seen, stop: () => consumer.disconnect() }
}

const partitions = 5

it('alerts of known and of late indicators reach their topic', async () => {
  // It answers long after the deadline: the event leaves as pending, its alert comes late.
  const server = await startLookupServer({ malicious: ['198.51.100.200'], delayMs: 1500 })
  const names = await makeTopics({ partitions: 1 })
  const alertsTopic = `alerts-${randomUUID().slice(0, 8)}`
  await makeTopic(alertsTopic, partitions)
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const event = (src_ip: string, dest_ip: string): string =>
    JSON.stringify({ '@timestamp': '2026-11-15T08:00:00Z', src_ip, dest_ip, action: 'allowed' })
  const known = event('198.51.100.60', '10.0.0.5')
  // One inside host has many events with the address, another has one: both must be named.
  const late = Array.from({ length: 21 }, (_, n) => event('198.51.100.200', n === 20 ? '10.0.0.2' : '10.0.0.1'))
  await producer.send({
    topic: names.input,
    messages: [known, ...late, event('10.0.0.9', '10.0.0.5')].map((value) => ({ partition: 0, value })),
  })
  await producer.disconnect()
  const run = startRun(names, {
    THREATWEAVE_ENRICH_DEADLINE_MS: '100',
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: join(root, 'examples/feeds/sample-feed.csv') }]),
    THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
  })
  const alerts = await collectAlerts(alertsTopic)
  const until = Date.now() + 150_000
  while (alerts.seen.length < 2 && Date.now() < until) await sleep(100)
  expect(await run.stop()).toBe(0)
  await alerts.stop()
  await server.close()
  // They stand on two partitions, which a reader may meet in either order.
  const isLate = ({ alert }: Seen): boolean => alert.threatweave.late === true
  const inOrder = alerts.seen.toSorted((a, b) => Number(isLate(a)) - Number(isLate(b)))
  const said = inOrder.map(({ partition, alert: { rule, threatweave } }) => [
    rule.name,
    threatweave.value,
    threatweave.late ?? false,
    threatweave.peer,
    threatweave.count,
    partition,
  ])
  const placeOf = (key: string): number =>
    alertRecord(alertsTopic, partitions, { key, value: Buffer.alloc(0) }, 0).partition
  expect(said).toEqual([
    ['Malicious Address Was Let In', '198.51.100.60', false, '10.0.0.5', 1, placeOf('198.51.100.60')],
    ['Listed Address Was Let In or May Have Been', '198.51.100.200', true, '10.0.0.1', 21, placeOf('198.51.100.200')],
  ])
  expect(placeOf('198.51.100.200')).toBeGreaterThan(0)
  expect(inOrder[1]?.alert.threatweave.origins).toHaveLength(16)
  expect(inOrder[1]?.alert.threatweave.peers).toEqual(['10.0.0.2'])
})
