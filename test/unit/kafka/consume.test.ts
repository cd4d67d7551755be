// A consumer whose group refuses it, with kafkajs's consumer replaced: every wait ends, so that kafkajs can join again.
import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EachBatchPayload, Kafka } from 'kafkajs'
import { describe, expect, it, vi } from 'vitest'
import { consume, type ConsumeOptions } from '../../../src/kafka/consume.js'
import type { Fetched, Assigned } from '../../../src/kafka/fetched.js'
import { kafkaLimits } from '../../../src/kafka/settings.js'

const never = new Promise<never>(() => undefined)

/** A delivery that ends when it is told to. */
const delivery = (): { readonly done: Promise<void>; readonly end: () => void } => {
  let end = (): void => undefined
  const done = new Promise<void>((resolve) => {
    end = resolve
  })
  return { done, end }
}

class Refused extends Error {
  constructor(readonly type: string) {
    super(type)
  }
}

type Group = {
  /** Joins, with partition 0 assigned. Heartbeats that are sent at once end as told. */
  readonly join: (beat?: () => Promise<void>) => void
  readonly crash: () => void
  readonly assigned: () => Assigned
  /** Begins a batch of one record; its heartbeats end as told. */
  readonly fetch: (beat: () => Promise<void>) => Promise<void>
  readonly answered: () => void
  /** Which ids topics have. */
  readonly told: readonly string[]
}

const open = async (
  handle: (fetched: Fetched) => Promise<void>,
  kind: 'exactly-once' | 'at-least-once' = 'exactly-once',
): Promise<Group> => {
  const emitter = new EventEmitter()
  const told: string[] = []
  let eachBatch: ((payload: EachBatchPayload) => Promise<void>) | undefined
  let assigned: readonly Assigned[] = []
  const consumer = {
    events: { REQUEST: 'request', HEARTBEAT: 'heartbeat', GROUP_JOIN: 'join', CRASH: 'crash' },
    on: (event: string, listener: (event: unknown) => void) => emitter.on(event, listener),
    connect: () => Promise.resolve(),
    subscribe: () => Promise.resolve(),
    run: (options: { eachBatch: typeof eachBatch }) => {
      ;({ eachBatch } = options)
      return Promise.resolve()
    },
  }
  consume({
    kafka: { consumer: () => consumer } as unknown as Kafka,
    settings: { delivery: kind, groupId: 'g', limits: { ...kafkaLimits, sessionTimeoutMs: 2_000 } },
    topics: ['fw'],
    handle,
    identity: { joined: () => undefined, recheck: () => undefined, current: () => Promise.resolve('topic-id') },
    health: { joined: () => undefined },
    brokers: { answered: () => undefined },
    topicIs: (topic: string, id: string) => void told.push(`${topic} is ${id}`),
    shared: { generation: 0, running: new Map(), resets: new Map() },
    joined: (now: readonly Assigned[]) => {
      assigned = now
    },
    emit: () => undefined,
    fail: (sentence: string) => expect.fail(sentence),
  } as unknown as ConsumeOptions)
  await sleep(1)
  let offset = 0
  return {
    told,
    join: (heartbeat = () => Promise.resolve()) =>
      emitter.emit('join', { payload: { memberId: 'm', memberAssignment: { fw: [0] }, duration: 1, heartbeat } }),
    crash: () => emitter.emit('crash', { payload: { error: new Error('crashed') } }),
    assigned: () => assigned[0] ?? expect.fail('nothing is assigned'),
    fetch: (beat) =>
      eachBatch!({
        batch: {
          topic: 'fw',
          partition: 0,
          messages: [{ offset: String(offset++), timestamp: '0', key: null, value: Buffer.from('x'), headers: {} }],
          offsetLag: () => '0',
          lastOffset: () => '0',
        },
        heartbeat: beat,
        isRunning: () => true,
        isStale: () => false,
        resolveOffset: () => undefined,
        commitOffsetsIfNecessary: () => Promise.resolve(),
      } as unknown as EachBatchPayload),
    answered: () => emitter.emit('heartbeat', {}),
  }
}

const refusing = (type: string) => (): Promise<void> => Promise.reject(new Refused(type))
const refusals = ['NOT_COORDINATOR_FOR_GROUP', 'UNKNOWN_MEMBER_ID', 'ILLEGAL_GENERATION', 'REBALANCE_IN_PROGRESS']

describe('a membership that is refused', () => {
  it.each(refusals)('ends a batch that waits for something else, exactly once: %s', async (type) => {
    const group = await open(() => never)
    group.join()
    await expect(group.fetch(refusing(type))).rejects.toMatchObject({ type })
  })

  it.each(refusals)('ends a claim that waits for a heartbeat: %s', async (type) => {
    const group = await open(() => never)
    group.join()
    const proved = group.assigned().proveMembership()
    group.fetch(refusing(type)).catch(() => undefined) // shown above
    await expect(proved).rejects.toMatchObject({ type })
  })

  it('ends a batch at least once, and lets what is being sent end first while the group waits for it', async () => {
    const sent = delivery()
    const group = await open(() => sent.done, 'at-least-once')
    group.join()
    await expect(group.fetch(refusing('UNKNOWN_MEMBER_ID'))).rejects.toMatchObject({ type: 'UNKNOWN_MEMBER_ID' })

    const other = await open(() => sent.done, 'at-least-once')
    other.join()
    let beats = 0
    const ended: string[] = []
    const refuse = (): Promise<void> => {
      beats++
      return refusing('REBALANCE_IN_PROGRESS')()
    }
    const batch = other.fetch(refuse).catch((error: unknown) => ended.push((error as Error).message))
    await vi.waitFor(() => expect(beats).toBeGreaterThan(1), { timeout: 600_000 })
    expect(ended).toEqual([])
    sent.end()
    await batch
    expect(ended).toEqual(['REBALANCE_IN_PROGRESS'])
  })
})

describe('a batch of a former membership that is still being delivered', () => {
  it('keeps the next one of its partition waiting, with heartbeats, and not the group', async () => {
    const began: string[] = []
    const first = delivery()
    const group = await open(async ({ records: [record] }) => {
      began.push(record?.offset ?? '')
      if (record?.offset === '0') await first.done
    })
    group.join()
    await expect(group.fetch(refusing('UNKNOWN_MEMBER_ID'))).rejects.toThrow('UNKNOWN_MEMBER_ID')
    group.join()
    let beats = 0
    const second = group.fetch(() => {
      beats++
      return Promise.resolve()
    })
    await vi.waitFor(() => expect(beats).toBeGreaterThan(1), { timeout: 600_000 })
    expect(began).toEqual(['0'])
    first.end()
    await second
    expect(began).toEqual(['0', '1'])
  })

  it('ends without an error when the group was joined again meanwhile: another join would only repeat it', async () => {
    const group = await open(() => never)
    group.join()
    const batch = group.fetch(() => Promise.resolve())
    const proved = group.assigned().proveMembership()
    group.join()
    await batch
    await expect(proved).rejects.toThrow('joined again')
  })
})

describe('a claim', () => {
  it('is proved by heartbeats that are sent at once, and not by one that was on its way', async () => {
    const answers: (() => void)[] = []
    const group = await open(() => never)
    group.join(async () => {
      await new Promise<void>((resolve) => answers.push(resolve))
      group.answered()
    })
    let isProved = false
    const proved = group.assigned().proveMembership()
    proved.then(
      () => (isProved = true),
      () => undefined, // awaited below
    )
    await vi.waitFor(() => expect(answers).toHaveLength(1))
    answers[0]?.()
    await vi.waitFor(() => expect(answers).toHaveLength(2))
    expect(isProved).toBe(false)
    answers[1]?.()
    await proved
    expect(answers).toHaveLength(2)
  })

  it('is not proved by heartbeats that are refused, and waits for the next join', async () => {
    let beats = 0
    const group = await open(() => never)
    group.join(() => {
      beats++
      return refusing('UNKNOWN_MEMBER_ID')()
    })
    const proved = group.assigned().proveMembership()
    proved.catch(() => undefined) // awaited below
    await vi.waitFor(() => expect(beats).toBeGreaterThan(2))
    group.join()
    await expect(proved).rejects.toThrow('joined again')
  })

  it('waits while none can be sent, and is ended by a crash', async () => {
    const group = await open(() => never)
    group.join()
    const proved = group.assigned().proveMembership()
    await sleep(1)
    group.crash()
    await expect(proved).rejects.toThrow('crashed')
  })
})

it('the id of a topic is told before its batch is handled, and without events every five seconds', async () => {
  vi.useFakeTimers()
  try {
    const toldBefore: number[] = []
    const opening = open(() => {
      toldBefore.push(group.told.length)
      return Promise.resolve()
    })
    await vi.advanceTimersByTimeAsync(1)
    const group = await opening
    group.join()
    await group.fetch(() => Promise.resolve())
    expect([toldBefore, group.told]).toEqual([[1], ['fw is topic-id']])
    await vi.advanceTimersByTimeAsync(10_000)
    expect(group.told).toHaveLength(3)
    group.crash()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(group.told).toHaveLength(3)
  } finally {
    vi.useRealTimers()
  }
})
