// Promise: workers may come and go.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { complete, fill, makeTopics, readTopic, report, settingsFor, soak, tally } from '../support/kafka.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

const visits = soak ? 60 : 2
const deliveries = soak ? (['at-least-once', 'exactly-once'] as const) : (['exactly-once'] as const)

describe.each(deliveries)('workers that join and leave all the time, %s', (delivery) => {
  it('lose nothing and keep the order', { timeout: 180_000 + visits * 15_000 }, async () => {
    const partitions = 4
    const names = await makeTopics({ partitions })
    const settings = settingsFor(names, { delivery, limits: { chunkEvents: 50 } })
    let count = 0
    const ending = new AbortController()
    const flow = (async () => {
      while (!ending.signal.aborted) {
        await fill(names.input, partitions, count, count + 50)
        count += 50
        await sleep(150)
      }
    })()
    startWorker(settings, { delayMs: 10 })
    for (let visit = 0; visit < visits; visit++) {
      const guest = startWorker(settings, { delayMs: 10 })
      await guest.said('group_joined')
      await sleep(Math.random() * 1_500)
      guest.kill('SIGTERM')
      expect(await guest.exit).toBe(0)
    }
    ending.abort()
    await flow
    const records = await readTopic(names.output, complete(partitions, count), { calmMs: 1_000 })
    const { missing, repeated, outOfOrder } = tally(records, partitions, count)
    report(`${delivery}, joining and leaving`, { visits, events: partitions * count, missing, repeated, outOfOrder })
    expect({ missing, outOfOrder }).toEqual({ missing: 0, outOfOrder: 0 })
    if (delivery === 'exactly-once') expect(repeated).toBe(0)
  })
})
