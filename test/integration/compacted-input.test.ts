// Promise: a topic that the broker has compacted is read through: every record that survived once and in order, over holes and emptied batches.
import { setTimeout as sleep } from 'node:timers/promises'
import { Partitioners } from 'kafkajs'
import { afterAll, describe, expect, it } from 'vitest'
import { readWithJava } from '../support/java.js'
import { client, makeTopics, originsOf, readTopic, settingsFor, withAdmin, type Names } from '../support/kafka.js'
import { endWorkers, startWorker, times } from '../support/worker.js'

afterAll(endWorkers)

/** Each from a producer of its own, of whom the broker keeps the last batch even when all its records are gone. */
const write = async (topic: string, values: Readonly<Record<string, string>>): Promise<void> => {
  const producer = client().producer({
    idempotent: true,
    maxInFlightRequests: 1,
    createPartitioner: Partitioners.DefaultPartitioner,
  })
  await producer.connect()
  const messages = Object.entries(values).map(([key, value]) => ({ partition: 0, key, value }))
  await producer.send({ topic, messages })
  await producer.disconnect()
  await sleep(120) // past segment.ms: the next one opens a segment, and only closed ones are compacted
}

const keys = (from: number, to: number, round: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from({ length: to - from }, (_, place) => [`k${from + place}`, JSON.stringify({ round, key: from + place })]),
  )

const writeUpdates = async (topic: string): Promise<void> => {
  await write(topic, keys(0, 200, 'first')) // nothing survives
  await write(topic, keys(50, 150, 'second')) // every other key survives
  await write(topic, Object.fromEntries(Object.entries(keys(50, 150, 'third')).filter((_, at) => at % 2 === 0)))
  await write(topic, keys(0, 50, 'fourth')) // nothing survives, and what follows does not fit into the same fetch
  await write(topic, { large: JSON.stringify({ pad: 'x'.repeat(1_500_000) }) })
  await write(topic, keys(150, 200, 'fifth'))
  await write(topic, keys(0, 50, 'sixth'))
  await write(topic, { end: '{"key":"end"}' })
}
const holes = 200 + 50 + 50

const compacted = async ({ input }: Names): Promise<readonly string[]> => {
  for (;;) {
    const [records] = await readWithJava(input)
    const survivors = records.map(({ offset }) => offset)
    if (Number(survivors.at(-1)) + 1 - survivors.length >= holes) return survivors
    await sleep(700)
  }
}

const large = { 'max.message.bytes': '4000000' }

describe('a compacted input topic', () => {
  it('comes out as what survived, from the beginning and from a position in a hole', async () => {
    const names = await makeTopics({
      partitions: 1,
      config: {
        input: {
          'cleanup.policy': 'compact',
          'segment.ms': '100',
          'min.cleanable.dirty.ratio': '0.01',
          'min.compaction.lag.ms': '0',
          'max.compaction.lag.ms': '1000',
          'delete.retention.ms': '0',
          ...large,
        },
      },
    })
    await writeUpdates(names.input)
    const survivors = await compacted(names)
    const hole = '360' // in the batch that was left empty
    expect(survivors).not.toContain(hole)
    const cases = [
      { delivery: 'at-least-once', from: '0' },
      { delivery: 'exactly-once', from: '0' },
      { delivery: 'at-least-once', from: hole },
      { delivery: 'exactly-once', from: hole },
    ] as const
    await Promise.all(
      cases.map(async ({ delivery, from }) => {
        const own = { ...(await makeTopics({ partitions: 1, config: { output: large } })), input: names.input }
        const partitions = [{ partition: 0, offset: from }]
        await withAdmin((admin) => admin.setOffsets({ groupId: own.groupId, topic: own.input, partitions }))
        const worker = startWorker(settingsFor(own, { delivery }))
        const expected = survivors.filter((offset) => Number(offset) >= Number(from))
        const records = await readTopic(own.output, (all) => all.length >= expected.length, { calmMs: 700 })
        expect(originsOf(records)).toEqual(expected.map((offset) => `${names.input}/0/${offset}`))
        expect(times(worker, 'offsets_skipped')).toBe(0)
      }),
    )
  })
})
