// Promise: an offset moves only after the brokers have acknowledged everything before it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import {
  client,
  committed,
  complete,
  fill,
  makeTopic,
  makeTopics,
  readTopic,
  settingsFor,
  tally,
} from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

const partitions = 2
const count = 200

describe('offsets', () => {
  it('never run ahead of what stands in the output', async () => {
    const names = await makeTopics({ partitions })
    const limits = { chunkEvents: 20, sessionTimeoutMs: 10_000 }
    const worker = startWorker(settingsFor(names, { limits }), { delayMs: 60 })
    await worker.said('group_joined')
    const admin = client().admin()
    await admin.connect()
    const seen = new Set<number>()
    for (let filled = 0, done = false; !done;) {
      // Bit by bit, each when the offsets have moved past the last, so that they are seen on their way on a machine of any speed.
      if (filled < count && (filled === 0 || seen.has(partitions * filled))) {
        await fill(names.input, partitions, filled, filled + 40)
        filled += 40
      }
      // The worker stands still, and the output is read before the offsets. With a worker that goes on, an output that catches up
      // before it is read hides an offset that was ahead of it; read in this order, one that goes on would be accused wrongly.
      worker.kill('SIGSTOP')
      const written = (await admin.fetchTopicOffsets(names.output)).toSorted((a, b) => a.partition - b.partition)
      const moved = await committed(names)
      worker.kill('SIGCONT')
      expect(moved.map((offset, partition) => offset <= Number(written[partition]!.high))).toEqual(
        moved.map(() => true),
      )
      done = moved.length > 0 && moved.every((offset) => offset === count)
      seen.add(moved.reduce((sum, offset) => sum + offset, 0))
      await sleep(20 + Math.random() * 40)
    }
    await admin.disconnect()
    expect(seen.size).toBeGreaterThan(3)
  })

  it('stay where they are while the output cannot be written, and move by themselves when it can', async () => {
    const names = await makeTopics({ partitions })
    const worker = startWorker(settingsFor(names))
    await worker.said('group_joined')
    const admin = client().admin()
    await admin.connect()
    await admin.deleteTopics({ topics: [names.output] })
    await fill(names.input, partitions, 0, count)
    await worker.said('producer_replaced')
    expect((await committed(names)).every((offset) => offset === 0)).toBe(true)
    await admin.disconnect()
    await makeTopic(names.output, partitions)
    const records = await readTopic(names.output, complete(partitions, count))
    expect(tally(records, partitions, count)).toMatchObject({ missing: 0, outOfOrder: 0 })
  })

  it('end the process with a sentence when a chunk does not get through before its deadline', async () => {
    const names = await makeTopics({ partitions })
    await fill(names.input, partitions, 0, 10)
    const worker = startWorker(settingsFor(names, { limits: { chunkDeadlineMs: 1_000 } }), { delayMs: 60_000 })
    expect(await worker.exit).toBe(1)
    expect(String((await Promise.resolve(worker.events.at(-1)))?.sentence)).toMatch(/was not finished within 1000 ms/)
    expect((await committed(names)).every((offset) => offset === 0)).toBe(true)
  })
})
