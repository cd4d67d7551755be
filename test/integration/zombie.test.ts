// Promise: a worker that slept past its session and wakes up changes nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { complete, fill, makeTopics, readTopic, settingsFor, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

describe('a worker that was stopped in the middle of a transaction and continued after its session', () => {
  it('shows nothing to read_committed and does not shut out the new owner', async () => {
    const partitions = 2
    const count = 6_000
    const names = await makeTopics({ partitions })
    const settings = settingsFor(names, {
      delivery: 'exactly-once',
      limits: { chunkEvents: 50, sessionTimeoutMs: 1_500 },
    })
    await fill(names.input, partitions, 0, count / 2)
    const zombie = startWorker(settings, { delayMs: 20 })
    await zombie.said('partition_claimed')
    await sleep(150)
    zombie.kill('SIGSTOP')
    const owner = startWorker(settings, { delayMs: 20 })
    await owner.said('partition_claimed', 30_000)
    await fill(names.input, partitions, count / 2, count)
    const before = owner.events.filter(({ event }) => event === 'producer_replaced').length
    zombie.kill('SIGCONT')
    const records = await readTopic(names.output, complete(partitions, count), { calmMs: 2_000 })
    expect(tally(records, partitions, count)).toEqual({ missing: 0, repeated: 0, outOfOrder: 0 })
    const fenced = owner.events.filter(
      ({ event, cause }) => event === 'producer_replaced' && /EPOCH|FENCED|UNKNOWN_ERROR_CODE/.test(String(cause)),
    )
    expect(fenced.length - before).toBeLessThanOrEqual(0)
  })
})
