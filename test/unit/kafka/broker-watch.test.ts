import { describe, expect, it, onTestFinished } from 'vitest'
import { watchBrokers, type BrokerWatch } from '../../../src/kafka/broker-watch.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

type Stage = {
  readonly watch: BrokerWatch
  readonly told: TelemetryEvent[]
  readonly pass: (ms: number) => void
  /** From now on the brokers answer, or do not; resolves when they were asked. */
  readonly turn: (answers: boolean) => Promise<void>
}

const stage = (): Stage => {
  let time = 1_000_000
  let answers = true
  let asked = 0
  const told: TelemetryEvent[] = []
  const watch = watchBrokers({
    ask: () => {
      asked++
      return answers ? Promise.resolve() : Promise.reject(new Error('connection refused'))
    },
    everyMs: 1,
    quietMs: 10_000,
    now: () => time,
    emit: (event) => told.push(event),
  })
  onTestFinished(watch.close)
  return {
    watch,
    told,
    pass: (ms) => {
      time += ms
    },
    turn: async (next) => {
      answers = next
      const before = asked
      await expect.poll(() => asked, { interval: 1 }).toBeGreaterThan(before + 1)
    },
  }
}

describe('the watch of the brokers', () => {
  it('says that they are unreachable some seconds after their last answer, and when they answer again', async () => {
    const { watch, told, pass, turn } = stage()
    await turn(false)
    pass(9_000)
    expect(watch.unreachableSince()).toBeUndefined()
    await turn(false)
    expect(told).toEqual([])
    pass(3_000)
    expect(watch.unreachableSince()).toBe(1_000_000)
    await turn(false)
    expect(told).toEqual([{ event: 'brokers_unreachable', forMs: 12_000, cause: 'connection refused' }])
    pass(48_000)
    await turn(true)
    expect(watch.unreachableSince()).toBeUndefined()
    expect(told.slice(1)).toEqual([{ event: 'brokers_reachable', afterMs: 60_000 }])
  })

  it('takes an answer to anybody for one', async () => {
    const { watch, told, pass, turn } = stage()
    await turn(false)
    for (let second = 0; second < 60; second += 5) {
      pass(5_000)
      watch.answered()
    }
    expect(watch.unreachableSince()).toBeUndefined()
    expect(told).toEqual([])
  })

  it('has a clock that stands still from the last answer to the next one, when that was too long', async () => {
    const { watch, pass, turn } = stage()
    pass(4_000)
    watch.answered()
    await turn(false)
    pass(8_000)
    expect(watch.reachableMs()).toBe(12_000)
    pass(60_000)
    expect(watch.reachableMs()).toBe(4_000)
    await turn(true)
    expect(watch.reachableMs()).toBe(4_000)
    pass(5_000)
    expect(watch.reachableMs()).toBe(9_000)
  })

  it('ends a pause when the brokers answer again, and when it is stopped', async () => {
    const { watch, turn } = stage()
    await turn(false)
    const stop = new AbortController()
    const woken = watch.pause(600_000, stop.signal)
    await turn(true)
    await woken
    const stopped = watch.pause(600_000, stop.signal)
    stop.abort()
    await stopped
    await watch.pause(600_000, stop.signal)
  })
})
