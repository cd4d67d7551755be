// Promise: exactly once holds for events and their alerts when the program is killed at any instant, also for batches that are split.
import { afterEach, describe, expect, it } from 'vitest'
import { makeTopic, makeTopics, readAmongAborted, soak } from '../support/kafka.js'
import { killRepeatedly, partitions } from '../support/kill-repeatedly.js'
import { limitsEnv } from '../support/limits.js'
import { alertedOrigins, endWorkers, originsListed, startProgram } from '../support/worker.js'

afterEach(endWorkers)

describe('exactly once, killed again and again', () => {
  it(
    'shows every event and every alert once, events in sequence, to read_committed',
    { timeout: 900_000 },
    async () => {
      const kills = soak ? 30 : 2
      const made = await makeTopics({ partitions })
      const names = { ...made, alerts: `${made.output}-alerts` }
      await makeTopic(names.alerts, 2)
      const env = { ...limitsEnv({ kafka: { chunkEvents: 40 } }), THREATWEAVE_KAFKA_INPUT_BATCHES: 'split' }
      const found = await killRepeatedly(names, kills, 'partition_claimed', () => startProgram(names, env), true)
      expect(found).toMatchObject({ missing: 0, repeated: 0, outOfOrder: 0 })
      const expected = originsListed(names.input, partitions, found.count, true)
      const alerts = await readAmongAborted(names.alerts, (all) => all.length >= expected.length, { calmMs: 1_000 })
      expect(alertedOrigins(alerts)).toEqual(expected)
    },
  )
})
