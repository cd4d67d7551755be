// Promise: a day of scans is a handful of alerts. Thousands of blocked scans and 20 that were let in, and a list that gains the scanners afterwards.
import { randomUUID } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Partitioners } from 'kafkajs'
import { expect, it } from 'vitest'
import { folder } from '../support/feed-files.js'
import { client, makeTopic, makeTopics, readTopic, soak, type Read } from '../support/kafka.js'
import { startRun } from '../support/spawn-run.js'

type Body = { readonly kind?: string; readonly level: string; readonly count: number }
const bodiesIn = (records: readonly Read[]): readonly Body[] =>
  records.map(({ value }) => (JSON.parse(String(value)) as { readonly threatweave: Body }).threatweave)

const tallied = (bodies: readonly Body[]): Readonly<Record<string, number>> => {
  const tally: Record<string, number> = {}
  for (const { kind = 'alert', level } of bodies) tally[`${level} ${kind}`] = (tally[`${level} ${kind}`] ?? 0) + 1
  return tally
}

const hour = 3_600_000
const blocked = soak ? 100_000 : 20_000
const listed = '198.51.100.1'
const scanners = Array.from({ length: 150 }, (_, n) => `203.0.113.${n + 1}`)

it(`${blocked} blocked scans and 20 that were let in are one alert to read, its update, and one summary`, async () => {
  const names = await makeTopics({ partitions: 1 })
  const alertsTopic = `alerts-${randomUUID().slice(0, 8)}`
  await makeTopic(alertsTopic, 1)
  const feeds = folder()
  const write = (lines: readonly string[]): void => {
    writeFileSync(
      join(feeds, 'list.new'),
      ['value,category', `${listed},c2`, ...lines.map((one) => `${one},`), ''].join('\n'),
    )
    renameSync(join(feeds, 'list.new'), join(feeds, 'list.csv'))
  }
  write([])
  const timestamp = String((Math.floor(Date.now() / hour) - 2) * hour)
  const message = (from: string, to: number, action: string): { value: string; timestamp: string } => ({
    timestamp,
    value: JSON.stringify({ src_ip: from, dest_ip: `10.0.0.${to}`, dest_port: 443, action }),
  })
  const letIn = [
    // One machine is visited six times.
    ...Array.from({ length: 16 }, (_, n) => message(listed, 1 + Math.max(0, n - 5), 'allowed')),
    ...scanners.slice(0, 4).map((from) => message(from, 99, 'allowed')),
  ]
  const scans = Array.from({ length: blocked }, (_, n) =>
    message(scanners[n % scanners.length] ?? '', 1 + (n % 200), 'blocked'),
  )
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const all = [...letIn, ...scans]
  for (let at = 0; at < all.length; at += 5_000)
    await producer.send({ topic: names.input, messages: all.slice(at, at + 5_000) })
  await producer.disconnect()

  const run = startRun(names, {
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'list', path: join(feeds, 'list.csv') }]),
    THREATWEAVE_INTEL_SERVICE_API_KEY: '',
    THREATWEAVE_KAFKA_ALERTS_TOPIC: alertsTopic,
  })
  await readTopic(names.output, (records) => records.length >= all.length)
  write(scanners)
  const isToldLater = (records: readonly Read[]): boolean =>
    bodiesIn(records).some(({ kind }) => kind === 'retro_summary')
  await readTopic(alertsTopic, isToldLater)
  expect(await run.stop()).toBe(0)

  const isAll = (records: readonly Read[]): boolean => isToldLater(records) && records.length >= 3
  const bodies = bodiesIn(await readTopic(alertsTopic, isAll))
  expect(tallied(bodies)).toEqual({ 'medium alert': 1, 'medium update': 1, 'low retro_summary': 1 })
  expect(bodies.find(({ kind }) => kind === 'update')?.count).toBe(15)
})
