// Promise: exactly once holds when a worker is killed at any instant.
import { afterEach, describe, expect, it } from 'vitest'
import { soak } from '../support/kafka.js'
import { killRepeatedly } from '../support/kill-repeatedly.js'
import { endWorkers } from '../support/worker.js'

afterEach(endWorkers)

describe('exactly once, killed again and again', () => {
  it('shows every event once and in sequence to read_committed', { timeout: soak ? 900_000 : 90_000 }, async () => {
    const kills = soak ? 30 : 5
    expect(await killRepeatedly('exactly-once', kills)).toEqual({
      missing: 0,
      repeated: 0,
      outOfOrder: 0,
      killedMidway: kills,
    })
  })
})
