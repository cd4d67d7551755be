// Promise: a worker may be killed at any instant, and at least once nothing is lost.
import { afterEach, describe, expect, it } from 'vitest'
import { soak } from '../support/kafka.js'
import { killRepeatedly } from '../support/kill-repeatedly.js'
import { endWorkers } from '../support/worker.js'

afterEach(endWorkers)

describe('at least once, killed again and again', () => {
  it(
    'loses nothing, and first occurrences keep the order of their partition',
    { timeout: soak ? 600_000 : 90_000 },
    async () => {
      const kills = soak ? 30 : 5
      const { missing, outOfOrder, killedMidway } = await killRepeatedly('at-least-once', kills)
      expect({ missing, outOfOrder, killedMidway }).toEqual({ missing: 0, outOfOrder: 0, killedMidway: kills })
    },
  )
})
