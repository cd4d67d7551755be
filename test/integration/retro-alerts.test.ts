// Promise: when a feed or the provider turns malicious on what was delivered as clean or unknown, whoever has seen it is told, once.
import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import type { RetroAlert } from '../../src/alerts/retro-alert.js'
import { folder } from '../support/feed-files.js'
import { client, makeTopic, makeTopics, readAmongAborted, readTopic, type Read } from '../support/kafka.js'
import { startLookupServer } from '../support/lookup-server.js'
import { startRun } from '../support/spawn-run.js'

type Line = { readonly partition: number; readonly from: string; readonly to: string; readonly name?: string }

it('retro alerts name who has seen an address, a range or a name that a feed gains, and an address that the provider accuses at refresh', async () => {
  const accused: string[] = []
  const server = await startLookupServer({ malicious: accused })
  const names = await makeTopics({ partitions: 2 })
  const alertsTopic = `alerts-${randomUUID().slice(0, 8)}`
  await makeTopic(alertsTopic, 3)
  const feeds = folder()
  const write = (name: string, lines: readonly string[]): void => {
    writeFileSync(join(feeds, `${name}.new`), lines.join('\n'))
    renameSync(join(feeds, `${name}.new`), join(feeds, `${name}.txt`))
  }
  write('first', ['198.51.100.9'])
  write('second', ['198.51.100.1'])
  const many = Array.from({ length: 300 }, (_, n) => `2001:db8::${(n + 1).toString(16)}`)
  const began = Date.now() - 7_200_000
  let sent = 0
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const send = (lines: readonly Line[]): Promise<unknown> =>
    producer.send({
      topic: names.input,
      messages: lines.map(({ partition, from, to, name }) => ({
        partition,
        timestamp: String(began + 1000 * sent++),
        value: JSON.stringify({
          src_ip: from,
          dest_ip: to,
          action: 'allowed',
          ...(name && { dns: { question: { name } } }),
        }),
      })),
    })
  const several = (count: number, line: Line): Line[] => Array.from({ length: count }, () => line)
  // In seconds since the first: the address 0 to 4 and 5 to 6, the range 7 to 10, the name 11 to 12.
  await send([
    ...several(4, { partition: 0, from: '10.0.0.1', to: '203.0.113.7' }),
    { partition: 0, from: '10.0.0.2', to: '203.0.113.7' },
    ...several(2, { partition: 1, from: '10.0.0.3', to: '203.0.113.7' }),
    ...several(4, { partition: 0, from: '10.0.0.1', to: '192.0.2.130' }),
    ...several(2, { partition: 1, from: '10.0.0.4', to: '192.0.2.10', name: 'c2.evil.example.com' }),
    // Another feed lists it already.
    ...several(2, { partition: 0, from: '10.0.0.1', to: '198.51.100.9' }),
    ...several(3, { partition: 0, from: '10.0.0.5', to: '203.0.113.200' }),
    // Many more than may have an alert of their own.
    ...many.map((to) => ({ partition: 1, from: '10.0.0.6', to })),
  ])
  const run = startRun(names, {
    THREATWEAVE_ENRICH_DEADLINE_MS: '60000',
    THREATWEAVE_FEEDS: JSON.stringify(['first', 'second'].map((name) => ({ name, path: join(feeds, `${name}.txt`) }))),
    THREATWEAVE_INTEL_SERVICE_BASE_URL: server.url,
    THREATWEAVE_KAFKA_DELIVERY: 'exactly-once',
    THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
    THREATWEAVE_MEMORY_FRESH_SECONDS_CLEAN: '5',
  })
  const retrosIn = (records: readonly Read[]): RetroAlert[] =>
    records
      .map(({ value }) => JSON.parse(String(value)) as RetroAlert)
      // Updates have a kind too.
      .filter(({ threatweave }) => ['retro', 'retro_summary'].includes(threatweave.kind))
  const byFeed = (records: readonly Read[]): RetroAlert[] =>
    retrosIn(records).filter(({ threatweave }) => threatweave.value !== '203.0.113.200')
  await readTopic(names.output, (records) => records.length === sent)

  accused.push('203.0.113.200')
  // Asked again by the other partition once what is remembered has passed its life.
  const asking = setInterval(() => void send([{ partition: 1, from: '10.0.0.7', to: '203.0.113.200' }]), 1000)
  const isOfFirst = ({ threatweave: { origin } }: RetroAlert): boolean => origin.startsWith(`${names.input}/0/`)
  const byProvider = await readAmongAborted(alertsTopic, (records) => retrosIn(records).some(isOfFirst))
  clearInterval(asking)
  expect(retrosIn(byProvider).filter(isOfFirst)).toHaveLength(1)
  expect(retrosIn(byProvider).find(isOfFirst)?.threatweave).toMatchObject({
    value: '203.0.113.200',
    count: 3,
    peers: ['10.0.0.5'],
  })

  write('second', ['198.51.100.1', '198.51.100.9', '203.0.113.7', '192.0.2.128/28', 'evil.example.com', ...many])
  const isDone = (records: readonly Read[]): boolean => byFeed(records).length >= 101
  await readAmongAborted(alertsTopic, isDone)
  expect(await run.stop()).toBe(0)
  await producer.disconnect()
  await server.close()

  const all = byFeed(await readAmongAborted(alertsTopic, isDone))
  expect(all).toHaveLength(101)
  expect(new Set(all.map(({ event }) => event.id)).size).toBe(101)
  const second = (seconds: number): string => new Date(began + 1000 * seconds).toISOString()
  const about = (value: string): unknown[] =>
    all
      .filter(({ threatweave }) => threatweave.value === value)
      .map(({ threatweave: { origin, count, first_seen, last_seen, peers } }) => [
        origin.split('/')[1],
        count,
        first_seen,
        last_seen,
        peers,
      ])
      .toSorted()
  expect(about('203.0.113.7')).toEqual([
    ['0', 5, second(0), second(4), ['10.0.0.1', '10.0.0.2']],
    ['1', 2, second(5), second(6), ['10.0.0.3']],
  ])
  expect(about('192.0.2.130')).toEqual([['0', 4, second(7), second(10), ['10.0.0.1']]])
  expect(about('c2.evil.example.com')).toEqual([['1', 2, second(11), second(12), ['10.0.0.4']]])
  expect(about('198.51.100.9')).toEqual([])
  const groups = new Set(
    all.filter(({ threatweave: { value } }) => value === '203.0.113.7').map((one) => one.threatweave.group_id),
  )
  expect(groups.size).toBe(1)
  const replays = all
    .filter(({ threatweave: { value } }) => value === '192.0.2.130')
    .map((one) => one.threatweave.replay)
  expect(replays).toEqual([`threatweave replay --topic ${names.input} --partition 0 --from 5 --to 9`])
  const [summary] = all.filter(({ threatweave }) => threatweave.kind === 'retro_summary')
  expect(summary?.threatweave).toMatchObject({ count: 204, peers: ['10.0.0.6'], indicators_omitted: 154 })
  expect(summary?.threatweave.indicators).toHaveLength(50)
})
