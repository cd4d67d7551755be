import { describe, expect, it } from 'vitest'
import type { ControlRecord } from '../../../src/election/control-record.js'
import { openElection, type Election } from '../../../src/election/election.js'
import type { LeaderGroupEvents } from '../../../src/kafka/join-leader-group.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { createFakeClock, newYear } from '../../support/clock.js'

const sessionMs = 6_000
const callMs = 30_000
const nothing = { hour: { index: 0, count: 0 }, day: { index: 0, count: 0 } }

/** One control topic: each claim fences the one before. */
const createTopic = () => {
  let records: ControlRecord[] = []
  let epoch = 0
  return {
    records: () => records,
    put: (record: ControlRecord) => void (records = [...records, record]),
    claim: () => {
      const mine = ++epoch
      return Promise.resolve({
        former: records.at(-1),
        write: (record: ControlRecord) => {
          if (mine !== epoch) return Promise.reject(new Error('fenced'))
          records = [...records, record]
          return Promise.resolve()
        },
        close: () => Promise.resolve(),
      })
    },
  }
}

type Gateway = {
  readonly election: Election
  readonly events: LeaderGroupEvents
  readonly said: TelemetryEvent[]
  readonly isLeft: () => boolean
}

const start = (
  id: string,
  clock: ReturnType<typeof createFakeClock>,
  topic: ReturnType<typeof createTopic>,
  perDay = 0,
): Gateway => {
  const said: TelemetryEvent[] = []
  let events: LeaderGroupEvents | undefined
  let isLeft = false
  const election = openElection({
    id,
    join: (given) => {
      events = given
      return {
        close: () => {
          isLeft = true
          return Promise.resolve()
        },
      }
    },
    claim: topic.claim,
    addressOf: (word) => word.toString() || undefined,
    ageOf: ({ time }) => clock.now() - time,
    sessionMs,
    callMs,
    budget: { perHour: 0, perDay },
    clock,
    emit: (event) => void said.push(event),
  })
  if (!events) throw new Error('no group was joined')
  return { election, events, said, isLeft: () => isLeft }
}

const place = (generation: number, isLeader: boolean, memberId = 'a') => ({
  memberId,
  generation,
  isLeader,
  word: Buffer.from('http://10.0.0.7:8787'),
})

const setUp = (perDay = 0) => {
  const clock = createFakeClock()
  const topic = createTopic()
  const at = () => ({ elapsedMs: clock.now() - newYear, time: clock.now() })
  return { clock, topic, at, gateway: start('one', clock, topic, perDay) }
}

const passOf = ({ election }: Gateway, now: number): string => election.permit.check(now)?.pass ?? 'go'

describe('the one that calls', () => {
  it('calls at once where nobody has called before, and writes that down first', async () => {
    const { clock, topic, at, gateway } = setUp()
    expect(passOf(gateway, clock.now())).toBe('refuse')
    gateway.events.joined(place(1, true), at())
    expect(gateway.election.role()).toEqual({ kind: 'takes_over' })
    expect(passOf(gateway, clock.now())).toBe('refuse')
    await clock.advance(0)
    expect(topic.records()).toEqual([{ caller: 'one', reserved: nothing }])
    expect(gateway.election.role()).toEqual({ kind: 'calls' })
    expect(passOf(gateway, clock.now())).toBe('go')
  })

  it('waits a session and the time of a call where another one may have calls in flight', async () => {
    const { clock, topic, at, gateway } = setUp()
    topic.put({ caller: 'other', reserved: nothing })
    gateway.events.joined(place(1, true), at())
    await clock.advance(sessionMs + callMs - 1)
    expect(gateway.election.role()).toEqual({ kind: 'takes_over' })
    gateway.events.proved(at())
    await clock.advance(1)
    expect(passOf(gateway, clock.now())).toBe('go')
    expect(gateway.said).toContainEqual({ event: 'calling_began', waitedMs: sessionMs + callMs })
  })

  it('waits as long where its own record was written and its claim repeated, or its place lost meanwhile', async () => {
    const { clock, topic, at } = setUp()
    topic.put({ caller: 'other', reserved: nothing })
    let isFirst = true
    const gateway = start('one', clock, {
      ...topic,
      claim: async () => {
        const claim = await topic.claim()
        return {
          ...claim,
          write: async (record) => {
            await claim.write(record)
            if (isFirst) {
              isFirst = false
              throw new Error('the answer was lost')
            }
          },
        }
      },
    })
    gateway.events.joined(place(1, true), at())
    await clock.advance(3_000)
    expect(topic.records().at(-1)?.caller).toBe('one')
    gateway.events.lost()
    gateway.events.joined(place(3, true, 'b'), at())
    await clock.advance(sessionMs + callMs - 3_001)
    gateway.events.proved(at())
    expect(gateway.election.role()).toEqual({ kind: 'takes_over' })
    await clock.advance(1)
    expect(gateway.election.role()).toEqual({ kind: 'calls' })
  })

  it('does not wait where the one before has ended its calls', async () => {
    const { clock, topic, at, gateway } = setUp()
    topic.put({ reserved: nothing })
    gateway.events.joined(place(4, true), at())
    await clock.advance(0)
    expect(passOf(gateway, clock.now())).toBe('go')
  })

  it('sends nothing from the moment in which the brokers may have given its place away', async () => {
    const { clock, at, gateway } = setUp()
    gateway.events.joined(place(1, true), at())
    await clock.advance(sessionMs - 1)
    expect(passOf(gateway, clock.now())).toBe('go')
    await clock.advance(1)
    expect(passOf(gateway, clock.now())).toBe('wait')
    gateway.events.proved(at())
    expect(passOf(gateway, clock.now())).toBe('go')
  })

  it('goes on through a rebalance that leaves it the leader', async () => {
    const { clock, topic, at, gateway } = setUp()
    gateway.events.joined(place(1, true), at())
    await clock.advance(0)
    gateway.events.joined(place(2, true), at())
    expect(passOf(gateway, clock.now())).toBe('go')
    expect(topic.records()).toHaveLength(1)
  })

  it('refuses what is queued as soon as another one leads or its place is lost', async () => {
    const { clock, at, gateway } = setUp()
    const roles: string[] = []
    gateway.election.changed(() => roles.push(gateway.election.role().kind))
    gateway.events.joined(place(1, true), at())
    await clock.advance(0)
    gateway.events.joined(place(2, false), at())
    expect(gateway.election.permit.check(clock.now())).toEqual({
      pass: 'refuse',
      finding: { status: 'unknown', reason: 'pending' },
    })
    expect(gateway.election.role()).toEqual({ kind: 'passes_on', address: 'http://10.0.0.7:8787' })
    gateway.events.lost()
    expect(roles).toEqual(['takes_over', 'calls', 'passes_on', 'waits'])
  })

  it('takes the topic from nobody while its place is not proved', async () => {
    const { clock, topic, at, gateway } = setUp()
    const long = at()
    await clock.advance(sessionMs)
    gateway.events.joined(place(1, true), long)
    await clock.advance(sessionMs)
    expect(topic.records()).toEqual([])
    gateway.events.proved(at())
    await clock.advance(100)
    expect(topic.records()).toEqual([{ caller: 'one', reserved: nothing }])
  })

  it('does not call after its wait if another one was chosen meanwhile', async () => {
    const { clock, topic, at, gateway } = setUp()
    topic.put({ caller: 'other', reserved: nothing })
    gateway.events.joined(place(1, true), at())
    await clock.advance(1_000)
    gateway.events.joined(place(2, false), at())
    await clock.advance(sessionMs + callMs)
    expect(gateway.election.role().kind).toBe('passes_on')
    expect(passOf(gateway, clock.now())).toBe('refuse')
  })
})

describe('its end', () => {
  it('waits for the calls in flight, says that there are none, and leaves', async () => {
    const { clock, topic, at, gateway } = setUp()
    gateway.events.joined(place(1, true), at())
    await clock.advance(0)
    const settle = gateway.election.permit.charge(clock.now())
    const closed = gateway.election.close()
    await clock.advance(1_000)
    expect(passOf(gateway, clock.now())).toBe('refuse')
    expect(topic.records()).toHaveLength(1)
    expect(gateway.isLeft()).toBe(false)
    settle(true)
    await closed
    expect(topic.records().at(-1)).toEqual({ reserved: nothing })
    expect(gateway.isLeft()).toBe(true)
  })

  it('does not wait for brokers that do not answer', async () => {
    const { clock, topic, at } = setUp()
    const isStuck = { value: false }
    const stuck = start('stuck', clock, {
      ...topic,
      claim: async () => {
        const claim = await topic.claim()
        return {
          ...claim,
          write: (record) => (isStuck.value ? new Promise<void>(() => undefined) : claim.write(record)),
        }
      },
    })
    stuck.events.joined(place(1, true), at())
    await clock.advance(0)
    isStuck.value = true
    const closed = stuck.election.close()
    await clock.advance(5_000)
    await closed
    expect(stuck.isLeft()).toBe(true)
  })

  it('says nothing where a call does not come back, or none was allowed yet', async () => {
    const { clock, topic, at, gateway } = setUp()
    gateway.events.joined(place(1, true), at())
    await clock.advance(0)
    gateway.election.permit.charge(clock.now())
    const closed = gateway.election.close()
    await clock.advance(callMs)
    await closed
    expect(topic.records().at(-1)).toEqual({ caller: 'one', reserved: nothing })

    const second = start('two', clock, topic)
    second.events.joined(place(2, true, 'b'), at())
    await clock.advance(1_000)
    await second.election.close()
    expect(topic.records().at(-1)).toEqual({ caller: 'two', reserved: nothing })
  })
})

describe('the budget', () => {
  it('goes from one to the next, with what was reserved', async () => {
    const { clock, topic, at, gateway } = setUp(500)
    gateway.events.joined(place(1, true), at())
    await clock.advance(0)
    expect(passOf(gateway, clock.now())).toBe('wait')
    await clock.advance(20)
    expect(passOf(gateway, clock.now())).toBe('go')
    expect(topic.records().at(-1)?.reserved.day.count).toBe(5)
    const second = start('two', clock, topic, 500)
    second.events.joined(place(2, true, 'b'), at())
    await clock.advance(sessionMs + callMs)
    second.events.proved(at())
    passOf(second, clock.now())
    await clock.advance(20)
    expect(topic.records().at(-1)).toMatchObject({ caller: 'two', reserved: { day: { count: 10 } } })
  })

  it('stops who was fenced before it spends another block', async () => {
    const { clock, topic, at, gateway } = setUp(500)
    gateway.events.joined(place(1, true), at())
    await clock.advance(0)
    await topic.claim()
    passOf(gateway, clock.now())
    await clock.advance(20)
    expect(gateway.said).toContainEqual({ event: 'election_failed', message: 'fenced' })
    expect(gateway.said).toContainEqual({ event: 'calling_ended', cause: 'the control topic cannot be written' })
  })
})
