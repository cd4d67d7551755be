// Promise: a group that is new begins where `start` says, and one that has lost its offsets at the oldest event. Every other test begins with the earliest.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { client, committed, fill, makeTopics, readTopic, settingsFor, withAdmin, type Read } from '../support/kafka.js'
import { makeTopics as makeWritten } from '../../src/kafka/topics.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterAll(endWorkers)

const partitions = 4
const old = 200
const fresh = 100

const numbers = (records: readonly Read[]): readonly (readonly number[])[] => {
  const found = Array.from({ length: partitions }, (): number[] => [])
  for (const { value } of records) {
    const { seq, partition } = JSON.parse(value!.toString()) as { seq: number; partition: number }
    found[partition]!.push(seq)
  }
  return found
}
const everyPartition = (from: number, to: number): readonly (readonly number[])[] =>
  Array.from({ length: partitions }, () => Array.from({ length: to - from }, (_, place) => from + place))

describe.concurrent.each(['at-least-once', 'exactly-once'] as const)('a new group, %s', (delivery) => {
  it('reads only what comes after it began with start: latest, also when several workers begin at once', async () => {
    const names = await makeTopics({ partitions })
    await fill(names.input, partitions, 0, old)
    const settings = settingsFor(names, { delivery, input: { start: 'latest' } })
    const workers = [1, 2, 3].map(() => startWorker(settings))
    await Promise.all(workers.map((worker) => worker.said('group_joined')))
    await fill(names.input, partitions, old, old + fresh)
    const records = await readTopic(names.output, (all) => all.length >= partitions * fresh, { calmMs: 1_500 })
    expect(numbers(records)).toEqual(everyPartition(old, old + fresh))
    expect(workers.filter((worker) => !worker.running())).toEqual([])
    const told = workers.flatMap(({ events }) => events.filter(({ event }) => event === 'group_is_new'))
    expect(told[0]).toMatchObject({ topics: [names.input], records: partitions * old })
  })

  it('goes on where it was with start: latest, and begins a partition that is added at its beginning', async () => {
    const names = await makeTopics({ partitions: partitions - 1 })
    await fill(names.input, partitions - 1, 0, old)
    const settings = settingsFor(names, { delivery, input: { start: 'latest' } })
    const first = startWorker(settings)
    await first.said('group_joined')
    await fill(names.input, partitions - 1, old, old + fresh)
    await readTopic(names.output, (all) => all.length >= (partitions - 1) * fresh)
    first.kill('SIGTERM')
    await first.exit
    // While nobody reads: what comes in meanwhile is not passed over, and neither is a new partition.
    await withAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic: names.input, count: partitions }] }))
    await sleep(500)
    await fill(names.input, partitions, old + fresh, old + 2 * fresh)
    startWorker(settings)
    const total = (partitions - 1) * 2 * fresh + fresh
    const records = await readTopic(names.output, (all) => all.length >= total, { calmMs: 500 })
    // The output has one partition less, and the new one shares the first.
    expect(numbers(records)).toEqual([
      ...everyPartition(old, old + 2 * fresh).slice(1),
      ...everyPartition(old + fresh, old + 2 * fresh).slice(0, 1),
    ])
    expect((await committed(names)).slice(0, partitions - 1)).toEqual(
      Array.from({ length: partitions - 1 }, () => old + 2 * fresh),
    )
  })

  it('that has lost its offsets starts at the oldest event with start: latest, and says so', async () => {
    const names = await makeTopics({ partitions })
    await fill(names.input, partitions, 0, old)
    const sightingsTopic = `state-${names.input}`
    const configEntries = [{ name: 'cleanup.policy', value: 'compact,delete' }]
    await withAdmin((admin) =>
      makeWritten(admin, [{ topic: sightingsTopic, numPartitions: 2, replicationFactor: 1, configEntries }]),
    )
    const producer = client().producer()
    await producer.connect()
    const used = ['another', names.groupId].map((group) => ({
      partition: 0,
      key: `used by group ${group}`,
      value: '{}',
    }))
    await producer.send({ topic: sightingsTopic, messages: used })
    await producer.disconnect()
    const worker = startWorker(settingsFor(names, { delivery, sightingsTopic, input: { start: 'latest' } }))
    expect(await worker.said('group_offsets_lost')).toMatchObject({ group: names.groupId, records: partitions * old })
    const records = await readTopic(names.output, (all) => all.length >= partitions * old, { calmMs: 500 })
    expect(numbers(records)).toEqual(everyPartition(0, old))
  })
})
