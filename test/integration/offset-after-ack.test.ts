// Promise: an offset moves only after the brokers have acknowledged everything before it. At every moment: test/simulation/checks.ts.
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
})
