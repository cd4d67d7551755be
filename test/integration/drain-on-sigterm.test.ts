// Promise: a stop finishes what is in the works, within its limit, and the next start repeats nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { committed, complete, fill, makeTopics, readTopic, report, settingsFor, soak, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

const partitions = 4
const stops = soak ? 10 : 1
/** More than any machine gets through before it is told to stop: each chunk of 50 takes a while, and four are in hand at a time. */
const count = soak ? 120_000 : 3_000
const delayMs = soak ? 30 : 200

// At least once, and at any other moment: test/simulation, which stops workers at every request.
describe('SIGTERM under load, exactly once', () => {
  it(
    'exits with 0 within the limit, and nothing is missing, repeated or out of order after the next start',
    { timeout: 900_000 * stops },
    async () => {
      const names = await makeTopics({ partitions })
      await fill(names.input, partitions, 0, count)
      const settings = settingsFor(names, { delivery: 'exactly-once', limits: { chunkEvents: 50 } })
      let slowestMs = 0
      for (let stop = 0; stop < stops; stop++) {
        const worker = startWorker(settings, { delayMs })
        await worker.said('partition_claimed')
        await sleep(200)
        const began = Date.now()
        worker.kill('SIGTERM')
        expect(await worker.exit).toBe(0)
        slowestMs = Math.max(slowestMs, Date.now() - began)
        const done = (await committed(names)).reduce((sum, offset) => sum + offset, 0)
        expect(done).toBeLessThan(partitions * count)
      }
      startWorker(settings)
      const records = await readTopic(names.output, complete(partitions, count), { calmMs: 1_000 })
      const found = tally(records, partitions, count)
      report('SIGTERM under load', { stops, slowestMs, events: partitions * count, ...found })
      expect(found).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    },
  )
})

describe('SIGTERM while a chunk hangs', () => {
  it('exits with 1 at the limit and says so', async () => {
    const names = await makeTopics({ partitions })
    await fill(names.input, partitions, 0, 10)
    const worker = startWorker(settingsFor(names, { limits: { drainMs: 500 } }), { holds: true })
    await worker.said('held')
    worker.kill('SIGTERM')
    expect(await worker.exit).toBe(1)
    expect(String(worker.events.at(-1)?.sentence)).toMatch(/within 500 ms of the stop/)
  })
})
