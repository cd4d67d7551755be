// Promise: who has seen what survives a kill in the sightings topic, with exact counts, and `history` shows it. At whatever moment of a kill:
// test/simulation/checks.ts.
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Partitioners } from 'kafkajs'
import { inject, it, expect } from 'vitest'
import type { RetroAlert } from '../../src/alerts/retro-alert.js'
import { runLoaded } from '../support/loaded-program.js'
import { folder } from '../support/feed-files.js'
import {
  client,
  makeTopic,
  makeTopics,
  readAmongAborted,
  readTopic,
  withAdmin,
  type Names,
  type Read,
} from '../support/kafka.js'
import { spawnRun, startRun } from '../support/spawn-run.js'

const setUp = async (): Promise<{
  names: Names
  alertsTopic: string
  sightingsTopic: string
  feed: string
  env: Record<string, string>
}> => {
  const names = await makeTopics({ partitions: 2 })
  const id = randomUUID().slice(0, 8)
  const [alertsTopic, sightingsTopic] = [`alerts-${id}`, `sightings-${id}`]
  await makeTopic(alertsTopic, 1)
  await withAdmin((admin) =>
    admin.createTopics({
      topics: [
        {
          topic: sightingsTopic,
          numPartitions: 2,
          configEntries: [{ name: 'cleanup.policy', value: 'compact,delete' }],
        },
      ],
    }),
  )
  const feed = join(folder(), 'feed.txt')
  writeFileSync(feed, '198.51.100.1\n')
  const env = {
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'own', path: feed }]),
    THREATWEAVE_INTEL_SERVICE_API_KEY: '',
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
    THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: sightingsTopic,
    THREATWEAVE_KAFKA_LIMITS_SESSION_TIMEOUT_MS: '6000',
  }
  return { names, alertsTopic, sightingsTopic, feed, env }
}

type Told = {
  readonly indicators: readonly {
    readonly indicator: string
    readonly count: number
    readonly peers: readonly string[]
  }[]
  readonly alerts: readonly { readonly at: string; readonly rule: string; readonly peers: readonly string[] }[]
}

const history = async (alertsTopic: string, sightingsTopic: string, groupId: string): Promise<Told> => {
  const { stdout, stderr, code } = await runLoaded(['history', '203.0.113.0/24', '--json'], {
    env: {
      THREATWEAVE_KAFKA_GROUP_ID: groupId,
      THREATWEAVE_KAFKA_BROKERS: inject('broker').plain,
      THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
      THREATWEAVE_KAFKA_SIGHTINGS_TOPIC: sightingsTopic,
    },
  })
  expect(code, stderr).toBe(0)
  return JSON.parse(stdout) as Told
}

it('a feed that lists an address while nobody runs: the next owner of a quiet topic knows how often it was seen', async () => {
  const { names, alertsTopic, sightingsTopic, feed, env } = await setUp()
  const began = Date.now() - 3_600_000
  let sent = 0
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const send = (partition: number, from: string, count: number): Promise<unknown> =>
    producer.send({
      topic: names.input,
      messages: Array.from({ length: count }, () => ({
        partition,
        timestamp: String(began + 1000 * sent++),
        value: JSON.stringify({ src_ip: from, dest_ip: '203.0.113.7', action: 'allowed' }),
      })),
    })
  const delivered = (): Promise<unknown> => readTopic(names.output, (records) => records.length >= sent)
  await send(0, '10.0.0.1', 20)
  await send(1, '10.0.0.2', 10)
  const first = spawnRun(names, env)
  await delivered()
  const isKept = (records: readonly Read[]): boolean =>
    [0, 1].every((partition) =>
      records.some(({ key }) => String(key).endsWith(`/${names.input}/${partition}/counted/`)),
    )
  await readAmongAborted(sightingsTopic, isKept)
  // Written or not when it is killed: they are counted once.
  await send(0, '10.0.0.3', 5)
  await delivered()
  first.kill('SIGKILL')
  await first.ended
  writeFileSync(feed, '198.51.100.1\n203.0.113.7\n')

  const second = startRun(names, env)
  const alerts = await readAmongAborted(alertsTopic, (records) => records.length >= 2)
  expect(await second.stop()).toBe(0)
  const said = alerts
    .map(({ value }) => JSON.parse(String(value)) as RetroAlert)
    .map(({ threatweave: { origin, count, first_seen, last_seen, peers } }) => [
      origin,
      count,
      (Date.parse(first_seen) - began) / 1000,
      (Date.parse(last_seen) - began) / 1000,
      peers,
    ])
    .toSorted()
  expect(said).toEqual([
    [`${names.input}/0/0`, 25, 0, 34, ['10.0.0.1', '10.0.0.3']],
    [`${names.input}/1/0`, 10, 20, 29, ['10.0.0.2']],
  ])

  // Whoever was told is not told again, and an event that is malicious by now is told itself.
  const third = startRun(names, env)
  await send(1, '10.0.0.2', 1)
  const later = await readAmongAborted(alertsTopic, (records) => records.length >= 3)
  await readAmongAborted(sightingsTopic, (records) =>
    records.some(({ key, value }) => /1\/.*203/.test(String(key)) && String(value).includes('"count":11')),
  )
  expect(await third.stop()).toBe(0)
  expect(later).toHaveLength(3)
  await producer.disconnect()
  const { indicators, alerts: told } = await history(alertsTopic, sightingsTopic, names.groupId)
  expect(indicators).toMatchObject([{ indicator: '203.0.113.7', count: 36 }])
  expect(indicators[0]?.peers.toSorted()).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3'])
  expect(told.map(({ peers }) => peers.join()).toSorted()).toEqual(['10.0.0.1,10.0.0.3', '10.0.0.2', '10.0.0.2'])
  // When they were raised, by the clock that the sightings have.
  const raised = later.map(({ timestamp }) => new Date(Number(timestamp)).toISOString())
  expect(told.map(({ at }) => at)).toEqual(raised.toSorted())
})
