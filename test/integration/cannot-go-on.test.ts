// Promise: what cannot be mended ends the process with 1 and a sentence, and moves no offset past what was not delivered.
import { CompressionTypes, Partitioners } from 'kafkajs'
import { afterAll, describe, expect, it } from 'vitest'
import {
  client,
  committed,
  complete,
  fill,
  makeTopics,
  readTopic,
  settingsFor,
  soak,
  withAdmin,
} from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterAll(endWorkers)

describe('a worker that cannot go on', () => {
  it('because a record batch unpacks to more than 256 MiB', async () => {
    const names = await makeTopics({ partitions: 1, config: { input: { 'max.message.bytes': '4000000' } } })
    await fill(names.input, 1, 0, 50)
    const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    await producer.send({
      topic: names.input,
      compression: CompressionTypes.GZIP,
      messages: [{ partition: 0, value: Buffer.alloc(269_000_000, ' ') }],
    })
    await producer.disconnect()
    const worker = startWorker(settingsFor(names, { delivery: 'exactly-once' }))
    expect(await worker.exit).toBe(1)
    expect(worker.events.at(-1)?.sentence).toMatch(/^in-.*\/0: the record batch at offset 50 .*268435456/)
    expect(Math.max(0, ...(await committed(names)))).toBeLessThanOrEqual(50)
  })

  if (!soak) return
  // Half a minute: the topic is waited for before the consumer is started again.
  it.each(['at-least-once', 'exactly-once'] as const)(
    'because its input topic is gone and stays away, %s',
    async (delivery) => {
      const names = await makeTopics({ partitions: 2 })
      await fill(names.input, 2, 0, 100)
      const worker = startWorker(settingsFor(names, { delivery }))
      await readTopic(names.output, complete(2, 100))
      await withAdmin((admin) => admin.deleteTopics({ topics: [names.input] }))
      expect(await worker.exit).toBe(1)
      expect(worker.events.at(-1)?.sentence).toMatch(
        /crashed 4 times without an offset moving: UNKNOWN_TOPIC_OR_PARTITION/,
      )
    },
  )
})
