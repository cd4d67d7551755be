// The tail of the verdicts topic: newest first, nothing left out, what comes meanwhile at once, and no record or outage ends it.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { keyOf, type Indicator } from '../../../src/domain/indicator.js'
import { FatalKafkaError } from '../../../src/kafka/failure.js'
import type { WireRecord } from '../../../src/kafka/wire/record.js'
import { createMemory } from '../../../src/lookup/memory/memory.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { tailVerdicts } from '../../../src/verdicts/tail-verdicts.js'
import { writeVerdict, type SharedVerdict } from '../../../src/verdicts/verdict-record.js'

const now = Date.parse('2026-11-17T12:00:00.000Z')
const hour = 3_600_000

/** A topic of one partition in memory: what was appended when, and ten records at most with each fetch. */
const topicOf = (perFetch = 10) => {
  const log: (WireRecord & { readonly at: number })[] = []
  const state = { id: 'first', isAway: false, unreadableAt: -1, fetches: [] as number[], awayAt: -1 }
  const append = (value: string, hoursAgo: number, operation = 'ip/malicious-info'): void => {
    const at = now - hoursAgo * hour
    const record = writeVerdict(
      { topic: 'verdicts', partitions: 1, key: '' },
      {
        indicator: { type: 'ip', value },
        finding: { status: 'unknown', reason: 'not_found', at, operations: [operation] },
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
        state.fetches.push(offset)
        if (offset === state.awayAt) state.isAway = true
        if (state.isAway) throw new Error('no broker')
        if (offset === state.unreadableAt)
          throw new FatalKafkaError(`verdicts/${partition}: the record batch cannot be read`)
        const records = log.slice(offset, offset + perFetch)
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

/** Its clock goes on by a tenth of a second whenever it is read. */
const ticking = (): (() => number) => {
  let reads = 0
  return () => now + reads++ * 100
}

type Kept = {
  readonly learn: (verdict: SharedVerdict, isJustNow: boolean) => boolean
  readonly isFull: () => boolean
  readonly touch: (indicator: Indicator) => void
}
const keepsAll: Kept = { learn: () => true, isFull: () => false, touch: () => undefined }

const start = (topic: ReturnType<typeof topicOf>, kept = keepsAll, clock = () => now) => {
  const learnt: string[] = []
  const live: string[] = []
  const events: TelemetryEvent[] = []
  const tail = tailVerdicts({
    openReader: topic.openReader,
    topic: 'verdicts',
    key: '',
    learn: (verdict, isJustNow) => {
      const { value } = verdict.indicator
      learnt.push(value)
      if (isJustNow) live.push(value)
      return kept.learn(verdict, isJustNow)
    },
    isFull: kept.isFull,
    touch: kept.touch,
    now: clock,
    emit: (event) => events.push(event),
  })
  closings.push(tail.close)
  return { ...tail, learnt, live, events }
}

const address = (n: number): string => (n < 256 ? `203.0.113.${n}` : `2001:db8::${n.toString(16)}`)

const memoryOf = (maxEntries: number) => {
  const day = 86_400
  const memory = createMemory<Indicator>(
    {
      maxEntries,
      freshSeconds: { malicious: day, suspicious: day, clean: day, noVerdict: day, notFound: day },
      staleSeconds: 0,
      jitter: 0,
      refreshAhead: 0.1,
    },
    keyOf,
    () => 'unknown',
  )
  return {
    learn: ({ indicator, finding }: SharedVerdict, isJustNow: boolean) =>
      memory.learn(indicator, finding, now, isJustNow),
    isFull: () => memory.size() >= maxEntries,
    touch: (indicator: Indicator) => void memory.get(keyOf(indicator)),
    findingOf: (n: number) => memory.get(keyOf({ type: 'ip', value: address(n) }))?.finding,
  }
}

describe('the tail of the verdicts topic', () => {
  it('reads the newest hours first, all of nine days, and each record once', async () => {
    const topic = topicOf()
    const hoursAgo = [300, 200, 100, 50, 30, 20, 10, 5, 2, 0.5, 0.1]
    for (const [n, hours] of hoursAgo.entries()) topic.append(address(n), hours)
    const tail = start(topic)
    await tail.started
    // Slices of one hour, six, a day, three and nine days; what is older is of no use.
    expect(tail.learnt).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map(address))
    expect(tail.live).toEqual([])
    expect(tail.events.at(-1)).toMatchObject({ event: 'verdicts_restored', verdicts: 10, isWhole: true })
    const counted = tail.events.map((event) => (event.event === 'verdicts_learnt' ? event.verdicts : 0))
    expect(counted.reduce((sum, verdicts) => sum + verdicts, 0)).toBe(10)
  })

  it('fills the memory with what is newest, and reads no more', async () => {
    const topic = topicOf()
    for (let n = 0; n < 60; n++) topic.append(address(n), 10 - n / 10)
    const memory = memoryOf(15)
    const tail = start(topic, memory)
    await tail.started
    expect(tail.events.at(-1)).toMatchObject({ event: 'verdicts_restored', verdicts: 15, isWhole: false })
    const known = Array.from({ length: 60 }, (_, n) => n).filter((n) => memory.findingOf(n))
    expect(known).toEqual(Array.from({ length: 15 }, (_, n) => 45 + n))
  })

  it('forgets what is oldest when more comes into a full memory', async () => {
    const topic = topicOf()
    for (let n = 0; n < 60; n++) topic.append(address(n), 10 - n / 10)
    const memory = memoryOf(15)
    const tail = start(topic, memory)
    await tail.started
    for (let n = 60; n < 70; n++) topic.append(address(n), 0)
    await expect.poll(() => tail.live, { timeout: 600_000 }).toHaveLength(10)
    const known = Array.from({ length: 70 }, (_, n) => n).filter((n) => memory.findingOf(n))
    expect(known).toEqual(Array.from({ length: 15 }, (_, n) => 55 + n))
  })

  it('takes the later of two records of the same time, however they are read', async () => {
    // Each in another range of offsets, and the later range is read first.
    const topic = topicOf(1_000)
    topic.append(address(1), 2, 'ip/malicious-info')
    for (let n = 0; n < 6_000; n++) topic.append(address(1_000 + n), 2)
    topic.append(address(1), 2, 'ip/suspicious_info')
    const memory = memoryOf(10_000)
    const tail = start(topic, memory)
    await tail.started
    expect(tail.learnt).toHaveLength(6_002)
    expect(memory.findingOf(1)).toMatchObject({ operations: ['ip/suspicious_info'] })
    topic.append(address(1), 2, 'ip/malicious-info')
    await expect.poll(() => tail.live, { timeout: 600_000 }).toEqual([address(1)])
    expect(memory.findingOf(1)).toMatchObject({ operations: ['ip/malicious-info'] })
  })

  it('learns what comes while it is still reading what was there', async () => {
    const topic = topicOf()
    for (let n = 0; n < 300; n++) topic.append(address(300 + n), 10)
    const tail = start(topic, keepsAll, ticking())
    await expect.poll(() => topic.state.fetches.length, { timeout: 600_000, interval: 1 }).toBeGreaterThan(0)
    topic.append(address(1), 0)
    await tail.started
    expect(tail.live).toEqual([address(1)])
    expect(tail.learnt.indexOf(address(1))).toBe(0)
    expect(tail.learnt).toHaveLength(301)
  })

  it('learns a hundred at a time, so that nobody waits for thousands', async () => {
    const topic = topicOf(5_000)
    for (let n = 0; n < 5_000; n++) topic.append(address(300 + n), 10)
    let turn = 0
    let isOver = false
    const count = (): void => {
      turn++
      if (!isOver) setImmediate(count)
    }
    count()
    const perTurn = new Map<number, number>()
    const learn = (): boolean => perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1).size > 0
    const tail = start(topic, { ...keepsAll, learn })
    await tail.started
    isOver = true
    expect(tail.learnt).toHaveLength(5_000)
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(100)
  })

  it('reads on where it was when brokers were away in the middle of what was there', async () => {
    const topic = topicOf()
    for (let n = 0; n < 300; n++) topic.append(address(300 + n), 10)
    topic.state.awayAt = 150
    const tail = start(topic)
    await tail.started
    expect(tail.learnt).toEqual([])
    topic.append(address(1), 0)
    topic.state.awayAt = -1
    topic.state.isAway = false
    await expect.poll(() => tail.learnt, { timeout: 600_000 }).toHaveLength(301)
    expect(tail.live).toEqual([address(1)])
    expect(topic.state.fetches.filter((offset) => offset < 150)).toHaveLength(15)
    // Said a little after the last of them is learnt.
    await expect
      .poll(() => tail.events, { timeout: 600_000 })
      .toContainEqual(expect.objectContaining({ event: 'verdicts_restored', verdicts: 300, isWhole: true }))
  })

  it('does not hold up the start for longer than half a minute where no broker answers at all', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let isStarted = false
    const tail = tailVerdicts({
      openReader: () => new Promise(() => undefined),
      topic: 'verdicts',
      key: '',
      ...keepsAll,
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
