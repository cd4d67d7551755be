// Promise: a worker may be killed at any instant, and at least once nothing is lost.
import { afterEach, describe, expect, it } from 'vitest'
import { makeTopics, settingsFor, soak } from '../support/kafka.js'
import { killRepeatedly, partitions } from '../support/kill-repeatedly.js'
import { endWorkers, startWorker } from '../support/worker.js'

afterEach(endWorkers)

describe('at least once, killed again and again', () => {
  it(
    'loses nothing, and first occurrences keep the order of their partition',
    { timeout: soak ? 600_000 : 400_000 },
    async () => {
      const kills = soak ? 30 : 2
      const names = await makeTopics({ partitions })
      const settings = settingsFor(names, { limits: { chunkEvents: 40, sessionTimeoutMs: 1_500 } })
      const found = await killRepeatedly(names, kills, 'group_joined', (isLast) =>
        startWorker(settings, { delayMs: isLast ? 0 : 25 }),
      )
      expect(found).toMatchObject({ missing: 0, outOfOrder: 0 })
    },
  )
})
