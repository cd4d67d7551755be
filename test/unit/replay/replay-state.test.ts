// What a replayed partition counts, whatever becomes of what it writes.
import { expect, it } from 'vitest'
import { openReplayState, type ReplayAlerts } from '../../../src/replay/replay-state.js'
import type { Restored } from '../../../src/replay/restore.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { emptyTally } from '../../../src/replay/tally.js'
import type { EventOut } from '../../../src/pipeline/pipeline.js'

const record = (offset: number, former?: 'clean' | 'malicious'): Restored =>
  ({ readTo: String(offset), ...(former && { former: { level: former, decidedBy: 0 } }) }) as Restored
const event = (offset: number): EventOut =>
  ({ origin: `fw/0/${offset}`, verdict: 'malicious', judged: [], annotation: {} }) as unknown as EventOut

/** One alert for each event. */
const open = (raiseAll = false, told: string[] = []): ReturnType<typeof openReplayState> => {
  const begin = (): ReplayAlerts => ({
    raise: (events) => events.map(({ origin }) => ({ origin, key: origin, value: Buffer.from(origin) })),
    commit: () => void told.push('commit'),
    giveUp: () => void told.push('give up'),
  })
  const recordOf = ({ key }: { readonly key: string }): Outgoing => ({ key: Buffer.from(key) }) as unknown as Outgoing
  return openReplayState({ beginAlerts: begin, recordOf, raiseAll })
}

it.each([
  { raiseAll: false, alerts: ['fw/0/1', 'fw/0/3'] },
  { raiseAll: true, alerts: ['fw/0/1', 'fw/0/2', 'fw/0/3'] },
])('counts verdicts, changes and alerts, of all events: $raiseAll', ({ raiseAll, alerts }) => {
  const state = open(raiseAll)
  state.begin([record(1, 'clean'), record(2, 'malicious'), record(3)])
  const chunk = state.chunk()
  const events = [1, 2, 3].map(event)
  for (const [place, one] of events.entries()) chunk.see(place + 1, one)
  expect(chunk.records(events).map(({ key }) => String(key))).toEqual(alerts)
  chunk.beside?.([])
  chunk.committed()
  expect(state.read()).toEqual({
    ...emptyTally,
    events: 3,
    verdicts: { malicious: 3 },
    compared: 2,
    changes: { 'clean>malicious': 1 },
    alerts: alerts.length,
    alertsNew: 2,
  })
})

it('keeps nothing of alerts that are not written', () => {
  const told: string[] = []
  const state = open(false, told)
  state.begin([record(1)])
  for (const end of ['givenUp', 'committed'] as const) {
    const chunk = state.chunk()
    chunk.see(1, event(1))
    chunk.records([event(1)])
    chunk.beside?.([])
    chunk[end]?.()
  }
  expect(told).toEqual(['give up', 'commit'])
  expect(state.read()).toMatchObject({ events: 1, alerts: 1 })
})

it('counts once what the committed position has said before its commit is known to count', () => {
  const state = open()
  state.pass({ pointers: 2 })
  state.begin([record(1)])
  const chunk = state.chunk()
  chunk.see(1, event(1))
  const beside = chunk.beside?.([])
  expect(beside).toMatchObject({ events: 1, pointers: 2 })
  state.restore(beside as never)
  chunk.committed()
  expect(state.read()).toMatchObject({ events: 1, pointers: 2 })
})

it('counts nothing of what was given up', () => {
  const state = open()
  state.begin([record(1)])
  const lost = state.chunk()
  lost.see(1, event(1))
  lost.beside?.([])
  state.restore(emptyTally)
  lost.givenUp?.()
  state.begin([record(1)])
  const again = state.chunk()
  again.see(1, event(1))
  expect(again.beside?.([])).toMatchObject({ events: 1 })
  again.committed()
  expect(state.read()).toMatchObject({ events: 1 })
})
