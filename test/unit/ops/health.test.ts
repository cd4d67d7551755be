import type { ConsumerHealth } from '../../../src/domain/consumer-health.js'
import { describe, expect, it } from 'vitest'
import { healthOf, readinessOf, measureEventLoopDelay } from '../../../src/ops/health.js'
import type { Clock } from '../../../src/base/clock.js'

const now = 1_000_000
const limits = { chunkMs: 120_000, loopMs: 5_000 }
const consumer = (over: Partial<ConsumerHealth> = {}): ConsumerHealth => ({
  state: 'running',
  joins: 1,
  restarts: 0,
  partitions: {},
  ...over,
})

describe('health', () => {
  it.each<[string, ConsumerHealth | undefined, number, readonly string[]]>([
    ['a running consumer', consumer(), 0, []],
    ['a consumer that starts while its broker is away', consumer({ state: 'starting', joins: 0 }), 0, []],
    ['a drain', consumer({ state: 'draining' }), 0, []],
    [
      'no progress for an hour with much to read, as in an outage of the brokers',
      consumer({ restarts: 3, partitions: { 'firewall/0': { lag: 90_000, progressAt: now - 3_600_000 } } }),
      0,
      [],
    ],
    [
      'a chunk within its deadline',
      consumer({ partitions: { 'firewall/0': { lag: 1, progressAt: 0, chunkSince: now - 119_000 } } }),
      0,
      [],
    ],
    [
      'a chunk past its deadline',
      consumer({ partitions: { 'firewall/0': { lag: 1, progressAt: 0, chunkSince: now - 130_000 } } }),
      0,
      ['firewall/0: a chunk has been in progress for 130 s'],
    ],
    ['a consumer that failed', consumer({ state: 'failed' }), 0, ['the consumer has stopped']],
    ['a blocked event loop', consumer(), 6_000, ['the event loop is blocked for 6 s at a time']],
    ['no consumer to speak of', undefined, 0, []],
  ])('judges %s', (_, view, blockedMs, problems) => {
    expect(healthOf(view, blockedMs, limits, now)).toEqual({ ok: problems.length === 0, problems })
  })

  it.each<[ConsumerHealth, readonly string[]]>([
    [consumer(), []],
    [consumer({ joins: 0 }), ['the consumer has not joined its group yet']],
    [consumer({ leftAt: now - 1_000 }), ['the consumer has not rejoined its group']],
    [consumer({ unreachableSince: now - 12_000 }), ['no broker has answered for 12 s']],
    [consumer({ state: 'starting' }), ['the consumer is starting']],
    [consumer({ state: 'draining' }), ['the consumer is draining']],
  ])('is ready only while it works: %j', (view, problems) => {
    expect(readinessOf(view, now)).toEqual({ ok: problems.length === 0, problems })
  })
})

describe('the event loop delay', () => {
  it('is that of every tick, not of one hiccup', () => {
    let time = 0
    let tick: () => void = () => undefined
    const clock: Clock = {
      now: () => time,
      after: (_, run) => {
        tick = run
        return () => undefined
      },
    }
    const watch = measureEventLoopDelay(clock)
    const after = (ms: number): number => {
      time += ms
      tick()
      return watch.blockedMs()
    }
    expect([after(1000), after(9000), after(1000)]).toEqual([0, 0, 0])
    expect([after(9000), after(8000), after(7000)]).toEqual([0, 0, 6000])
    expect(after(1000)).toBe(0)
  })
})
