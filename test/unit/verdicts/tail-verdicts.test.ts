// The tail of the verdicts topic: newest hours first, nothing left out, and no record or outage ends it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { FatalKafkaError } from '../../../src/kafka/failure.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { tailVerdicts } from '../../../src/verdicts/tail-verdicts.js'
import { writeVerdict } from '../../../src/verdicts/verdict-record.js'

const now = Date.parse('2026-11-17T12:00:00.000Z')
const hour = 3_600_000

/** A topic of one partition in memory: what was appended when, and ten records at most with each fetch. */
const topicOf = () => {
  const log: (WireRecord & { readonly at: number })[] = []
  const state = { id: 'first', isAway: false, unreadableAt: -1 }
  const append = (value: string, hoursAgo: number): void => {
    const at = now - hoursAgo * hour
    const record = writeVerdict(
      { topic: 'verdicts', partitions: 1, key: '' },
      {
        indicator: { type: 'ip', value },
        finding: { status: 'unknown', reason: 'not_found', at, operations: ['ip/malicious-info'] },
        by: '',
      },
    )!
    const place = { offset: String(log.length), isControlRecord: false, batchContext: {} as WireRecord['batchContext'] }
    log.push({ ...record, ...place, timestamp: String(at), at })
  }
  const one = (offset: number): Promise<ReadonlyMap<number, number>> => Promise.resolve(new Map([[0, offset]]))
  const openReader = () => {
    if (state.isAway) return Promise.reject(new Error('no broker'))
    return Promise.resolve({
      partitionsOf: () => Promise.resolve([0]),
      topicIdOf: () => Promise.resolve(state.id),
      offsetsAt: (_: string, at: 'earliest' | 'latest' | number) =>
        one(at === 'earliest' ? 0 : at === 'latest' ? log.length : log.findIndex((record) => record.at >= at)),
      fetch: async (_: string, partition: number, offset: number) => {
        await sleep(1)
        if (state.isAway) throw new Error('no broker')
        if (offset === state.unreadableAt)
          throw new FatalKafkaError(`verdicts/${partition}: the record batch cannot be read`)
        const records = log.slice(offset, offset + 10)
        return { records, next: offset + records.length, deleted: 0 }
      },
      close: () => Promise.resolve(),
    })
  }
  return { append, openReader, state }
}

const closings: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

const start = (topic: ReturnType<typeof topicOf>, maxEntries = Infinity) => {
  const learnt: string[] = []
  const live: string[] = []
  const events: TelemetryEvent[] = []
  const tail = tailVerdicts({
    openReader: topic.openReader,
    topic: 'verdicts',
    key: '',
    learn: ({ indicator: { value } }, isJustNow) => {
      learnt.push(value)
      if (isJustNow) live.push(value)
      return true
    },
    isFull: () => learnt.length >= maxEntries,
    now: () => now,
    emit: (event) => events.push(event),
  })
  closings.push(tail.close)
  return { ...tail, learnt, live, events }
}

const address = (n: number): string => `203.0.113.${n}`

describe('the tail of the verdicts topic', () => {
  it('reads the newest hours first, all of nine days, and each record once', async () => {
    const topic = topicOf()
    const hoursAgo = [300, 200, 100, 50, 30, 20, 10, 5, 2, 0.5, 0.1]
    for (const [n, hours] of hoursAgo.entries()) topic.append(address(n), hours)
    const tail = start(topic)
    await tail.started
    // Slices of one hour, six, a day, three and nine days; what is older is of no use.
    expect(tail.learnt).toEqual([9, 10, 7, 8, 5, 6, 3, 4, 1, 2].map(address))
    expect(tail.live).toEqual([])
    expect(tail.events).toMatchObject([{ event: 'verdicts_restored', verdicts: 10, isWhole: true }])
  })

  it('reads no more than is kept, and then what comes', async () => {
    const topic = topicOf()
    for (let n = 0; n < 60; n++) topic.append(address(n), 10 - n / 10)
    const tail = start(topic, 15)
    await tail.started
    expect(tail.learnt.length).toBeLessThan(30)
    expect(tail.events).toMatchObject([{ event: 'verdicts_restored', isWhole: false }])
    topic.append(address(99), 0)
    await expect.poll(() => tail.live, { timeout: 600_000 }).toEqual([address(99)])
  })

  it('does not hold up the start for longer than half a minute where no broker answers at all', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isStarted = false
    const tail = tailVerdicts({
      openReader: () => new Promise(() => undefined),
      topic: 'verdicts',
      key: '',
      learn: () => true,
      isFull: () => false,
      now: () => now,
      emit: () => undefined,
    })
    void tail.started.then(() => (isStarted = true))
    await vi.advanceTimersByTimeAsync(29_000)
    expect(isStarted).toBe(false)
    await vi.advanceTimersByTimeAsync(2_000)
    expect(isStarted).toBe(true)
  })

  it('goes on after a batch that cannot be read', async () => {
    const topic = topicOf()
    for (let n = 0; n < 5; n++) topic.append(address(n), 0.5)
    const tail = start(topic)
    await tail.started
    topic.state.unreadableAt = 5
    topic.append(address(5), 0)
    await expect
      .poll(() => tail.events, { timeout: 600_000 })
      .toContainEqual({ event: 'verdicts_refused', verdicts: 1, reason: 'malformed' })
    topic.append(address(6), 0)
    await expect.poll(() => tail.live, { timeout: 600_000 }).toEqual([address(6)])
  })

  it('does not hold up the start where the brokers are away, and reads on when they are back', async () => {
    const topic = topicOf()
    topic.append(address(1), 0.5)
    topic.state.isAway = true
    const tail = start(topic)
    await tail.started
    expect(tail.events).toEqual([{ event: 'verdicts_topic_failed', what: 'read', message: 'no broker' }])
    topic.state.isAway = false
    await expect.poll(() => tail.learnt, { timeout: 600_000 }).toEqual([address(1)])
    expect(tail.events).toContainEqual({ event: 'verdicts_topic_resumed', what: 'read' })
  })
})
