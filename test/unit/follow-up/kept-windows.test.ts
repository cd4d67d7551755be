// What the state topic holds of the windows of a partition is counted once, however often it was written.
import { expect, it } from 'vitest'
import { createSharedWindows } from '../../../src/alerts/shared-windows.js'
import type { Held, Window } from '../../../src/alerts/window.js'
import { createWindows } from '../../../src/alerts/windows.js'
import { keepWindows } from '../../../src/follow-up/kept-windows.js'
import { createWriteState } from '../../../src/follow-up/state-record.js'
import type { TaskAlerts } from '../../../src/follow-up/task-alerts.js'
import { matchesValue, windowId, windowValue } from '../../../src/follow-up/window-record.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { stateTopic, testState } from '../../support/state.js'
import { testTask } from '../../support/task.js'

const now = (): number => 36_000_000
const write = createWriteState(stateTopic, { topic: 'fw', partition: 0 }, now)
const opened: Window = {
  group: 'rule|203.0.113.7|10.0.0.5',
  windowMs: 3_600_000,
  number: 10,
  groupId: 'a'.repeat(32),
  rule: { id: 'rule', title: 'Malicious', level: 'high', tags: [] },
  value: '203.0.113.7',
  peer: '10.0.0.5',
  origin: 'fw/0/40',
  shown: { status: 'complete', verdict: 'malicious', direction: 'outbound', action: 'allowed', summary: '' },
  upTo: 40,
  matchedAt: now(),
}
const matchesOf = (count: number, first: number, last: number): Held => ({
  ...{ count, users: new Set(), sources: new Set(), peers: new Set(), peerDueAt: Infinity },
  first: { origin: `fw/0/${first}`, time: now() },
  last: { origin: `fw/0/${last}`, time: now() },
})
const [seven, two] = [matchesOf(7, 41, 52), matchesOf(2, 53, 60)]
const whole = (window: Window): Outgoing => write('window', windowId(window), windowValue(window, undefined))
const added = (id: string, more: Held): Outgoing =>
  write('matches', id, matchesValue([{ window: opened, more }], undefined))

it.each([
  ['is added to its window', [whole(opened), added('a', seven), added('b', two)], 9],
  ['counts once if its chunk was written twice', [whole(opened), added('a', seven), added('b', seven)], 7],
  [
    'counts once if it comes again after a later one',
    [whole(opened), added('a', seven), added('b', two), added('c', seven)],
    9,
  ],
  [
    'counts once if its window was written whole since',
    [whole(opened), added('a', seven), whole({ ...opened, upTo: 52, held: seven })],
    7,
  ],
  ['counts no more once its window was told', [added('a', seven), whole({ ...opened, upTo: 52 })], undefined],
])('what a chunk has added %s', async (_what, records, count) => {
  const windows = createWindows({ defaultMs: 3_600_000, hasUpdates: true, shared: createSharedWindows(), now })
  const task = testTask()
  const state = testState(task, records, { now })
  await keepWindows(task, windows as unknown as TaskAlerts, state, { emit: () => undefined, now }).ready
  expect(windows.has(opened)).toBe(true)
  expect(windows.begin().tell(9, true)[0]?.held.count).toBe(count)
  task.close()
})
