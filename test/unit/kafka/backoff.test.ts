import { expect, it } from 'vitest'
import { createBackoff } from '../../../src/kafka/broker-watch.js'

it('waits twice as long each time and at most 30 seconds, and briefly again after progress and when the brokers are back', () => {
  let since: number | undefined
  const backoff = createBackoff({ unreachableSince: () => since })
  expect([backoff(), backoff(), backoff(true), backoff()]).toEqual([500, 1_000, 500, 1_000])
  since = 0
  expect(Array.from({ length: 6 }, () => backoff())).toEqual([2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  since = undefined
  expect([backoff(), backoff()]).toEqual([500, 1_000])
})
