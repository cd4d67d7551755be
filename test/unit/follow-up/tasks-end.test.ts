// What is left of tasks that were opened and closed a thousand times: no timer, no counts, no notes, and none of the tasks.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { openAlerts } from '../../../src/alerts/open-alerts.js'
import type { AlertOut } from '../../../src/delivery/compose.js'
import type { Judged } from '../../../src/domain/verdict.js'
import { openAlertWindows } from '../../../src/follow-up/alert-windows.js'
import type { AlertSource } from '../../../src/follow-up/task-alerts.js'
import { countPartitions } from '../../../src/follow-up/count-partitions.js'
import { countSightings } from '../../../src/follow-up/count-sightings.js'
import { openLateAnswers } from '../../../src/follow-up/late-answers.js'
import type { EventOut, Pipeline } from '../../../src/pipeline/pipeline.js'
import { settle } from '../../support/clock.js'
import { testTask } from '../../support/task.js'

const now = (): number => 20_000 * 86_400_000
const indicator = { type: 'ip', value: '203.0.113.7' } as const
const judged: readonly Judged[] = [
  {
    sighting: { ...indicator, field: 'dest_ip', role: 'destination', evidence: 'field' },
    decision: { decision: 'lookup', ask: indicator },
    verdict: { level: 'unknown', reason: 'pending', flags: {}, because: '' },
    late: new Promise(() => undefined),
  },
]
const event = {
  origin: '',
  time: now(),
  judged,
  summary: { direction: 'outbound', action: 'allowed' },
} as unknown as EventOut
const pipeline: Pipeline = () => expect.fail('nothing is annotated')
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const handles = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

it('a thousand assignments and losses leave nothing behind', async () => {
  const counts = countPartitions({ seed: 1, judge: () => expect.fail('nothing is judged') })
  const alertsTopic = { topic: 'alerts', partitions: 1 }
  const emit = (): void => undefined
  let dropped = 0
  const late = openLateAnswers({
    pipeline,
    max: 10,
    emit: ({ event: name }) => {
      if (name === 'late_events_dropped') dropped++
    },
    now,
    reachableMs: now,
  })
  const rules = await openAlerts(
    { rules: [], bundled: true, suppressSeconds: 3600 },
    { key: 'threatweave', named: () => ({}), pollMs: 0 },
  )
  if ('problems' in rules) return expect.fail(JSON.stringify(rules.problems))
  const toRecord = (): readonly AlertOut[] => []
  const alerts: AlertSource = {
    open: () => {
      const windows = rules.open()
      return {
        ...windows,
        begin: () => ({
          ...windows.begin(),
          raise: toRecord,
          raiseLate: () => ({ alerts: [], fired: [] }),
          updates: toRecord,
        }),
      }
    },
    takeContext: () => [],
  }
  const updates = openAlertWindows({ alerts, alertsTopic, areKept: false, emit, now })
  const retro = {
    ...{ version: () => 0, committed: emit, feedsChanged: emit, restored: emit, answered: emit },
    ...{ idle: () => Promise.resolve(), close: () => Promise.resolve() },
  }
  const counting = { counts, known: pipeline, isInside: () => true, retro, start: emit }
  const sightings = countSightings({ counting, alertsTopic, emit, now })
  const before = handles()
  const tasks: WeakRef<object>[] = []
  for (let cycle = 0; cycle < 1_000; cycle++) {
    const task = testTask({ partition: cycle % 3 })
    tasks.push(new WeakRef(task))
    const raised = updates.open(task, undefined)
    const states = [late.open(task), sightings.open(task, undefined)]
    const draft = raised.begin()
    draft.records([event], () => undefined)
    draft.commit()
    for (const { chunk } of states) {
      const told = chunk()
      told.see(cycle, event)
      told.records([])
      told.committed()
    }
    expect(counts.all().size).toBe(1)
    task.close()
    await Promise.all([...states, raised].map(({ close }) => close()))
  }
  await settle()
  expect([counts.all().size, counts.size().rows, Math.max(0, handles() - before)]).toEqual([0, 0, 0])
  // The notes of all tasks together have a limit: those that ended count no longer.
  expect(dropped).toBe(0)
  collectGarbage()
  expect(tasks.filter((task) => task.deref()).length).toBeLessThan(3)
  await Promise.all([updates.close(), sightings.close(), rules.close()])
})
