// Promise: a replay ends by itself, whatever stands at the end of its range, and does not disturb who reads the same topic.
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { afterEach, describe, expect, it } from 'vitest'
import { client, makeTopics, readTopic } from '../support/kafka.js'
import { bodyOf, endStarted, fillTimed, replayed, sequences, startCli, through } from '../support/replay.js'

afterEach(endStarted)

const start = Date.parse('2026-11-02T00:00:00Z')
const all = (topic: string): string[] => ['--topic', topic, '--from', 'earliest', '--to', 'now']

describe('a replay ends by position', () => {
  it('of a topic whose last records are markers and aborted events', async () => {
    const names = await makeTopics({ partitions: 1 })
    const producer = client().producer({
      transactionalId: `writer-${names.input}`,
      maxInFlightRequests: 1,
      idempotent: true,
      createPartitioner: Partitioners.DefaultPartitioner,
      retry: { initialRetryTime: 20, retries: 20 },
    })
    await producer.connect()
    for (const [from, outcome] of [
      [0, 'commit'],
      [5, 'abort'],
      [5, 'commit'],
      [10, 'abort'],
    ] as const) {
      const transaction = await producer.transaction()
      const messages = through(from, from + 5).map((seq) => ({ value: JSON.stringify({ seq, partition: 0 }) }))
      await transaction.send({ topic: names.input, messages })
      await transaction[outcome]()
    }
    await producer.disconnect()
    const summary = await replayed({ names }, all(names.input))
    expect(summary).toMatchObject({ complete: true, events: 10, partitions: [{ from: 0, to: 24, position: 24 }] })
    const records = await readTopic(summary.output, (found) => found.length >= 10)
    expect(sequences(records, 1)).toEqual([through(0, 10)])
  })

  it('of a compacted topic with gaps', async () => {
    const compacted = {
      'cleanup.policy': 'compact',
      'segment.ms': '100',
      'min.cleanable.dirty.ratio': '0.01',
      'max.compaction.lag.ms': '200',
    }
    const names = await makeTopics({ partitions: 1, config: { input: compacted } })
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const write = (key: string, seq: number): Promise<unknown> =>
      producer.send({ topic: names.input, messages: [{ key, value: JSON.stringify({ seq, partition: 0 }) }] })
    for (let seq = 0; seq < 30; seq++) await write(`k${seq % 3}`, seq)
    const left = async (): Promise<number> =>
      (await readTopic(names.input, (found) => found.length > 0, { calmMs: 300 })).length
    // A segment is closed when the next record comes, and only then compacted.
    let seq = 30
    for (; seq < 400 && (await left()) > 20; seq++) {
      await sleep(300)
      await write('k0', seq)
    }
    await producer.disconnect()
    const summary = await replayed({ names }, all(names.input))
    expect(summary).toMatchObject({ complete: true, partitions: [{ to: seq, position: seq }] })
    expect(summary.events).toBeLessThan(seq)
    const records = await readTopic(summary.output, (found) => found.length >= summary.events)
    const found = records.map((record) => bodyOf(record).seq)
    expect(found).toEqual(found.toSorted((a, b) => a - b))
    expect(found.at(-1)).toBe(seq - 1)
  })

  it('into a compacted topic, which refuses more events without a key than a unit may fail', async () => {
    const names = await makeTopics({ partitions: 1, config: { output: { 'cleanup.policy': 'compact' } } })
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    const messages = through(0, 15).map((seq) => ({
      key: seq % 5 === 0 ? `k${seq}` : null,
      value: JSON.stringify({ seq, partition: 0 }),
    }))
    await producer.send({ topic: names.input, messages })
    await producer.disconnect()
    const setting = { names, delivery: 'exactly-once' } as const
    const summary = await replayed(setting, [...all(names.input), '--output', names.output, '--into-live'])
    expect(summary).toMatchObject({ complete: true, events: 15, dead_letters: 12, partitions: [{ position: 15 }] })
    const records = await readTopic(names.output, (found) => found.length >= 3)
    expect(sequences(records, 1)).toEqual([[0, 5, 10]])
    expect(await readTopic(names.dead, (found) => found.length >= 12)).toHaveLength(12)
  })
})

describe('a replay beside the live service, both exactly once', () => {
  it('neither shuts out nor delays it', async () => {
    const partitions = 3
    const count = 1_000
    const forever = { 'retention.ms': '-1' }
    const names = await makeTopics({ partitions, config: { input: forever, output: forever } })
    await fillTimed(names.input, partitions, count, start, 1000)
    const setting = { names, delivery: 'exactly-once' } as const
    const live = startCli('run', setting)
    const summary = await replayed(setting, [...all(names.input), '--id', 'beside'])
    const written = await readTopic(names.output, (found) => found.length >= partitions * count, { calmMs: 500 })
    const replayedRecords = await readTopic(summary.output, (found) => found.length >= partitions * count)
    const expected = Array.from({ length: partitions }, () => through(0, count))
    expect(sequences(written, partitions)).toEqual(expected)
    expect(sequences(replayedRecords, partitions)).toEqual(expected)
    live.child.kill('SIGTERM')
    expect(await live.exit).toBe(0)
    expect(live.said()).not.toContain('producer_replaced')
  })
})
