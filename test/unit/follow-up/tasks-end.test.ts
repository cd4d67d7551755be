// What is left of tasks that were opened and closed a thousand times: no timer, no counts, no notes.
import { expect, it } from 'vitest'
import type { Judged } from '../../../src/domain/verdict.js'
import { openAlertUpdates } from '../../../src/follow-up/alert-updates.js'
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
const handles = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

it('a thousand assignments and losses leave nothing behind', async () => {
  const counts = countPartitions({ seed: 1, judge: () => expect.fail('nothing is judged') })
  const alertsTopic = { topic: 'alerts', partitions: 1 }
  const emit = (): void => undefined
  const late = openLateAnswers({
    connect: () => expect.fail('nothing is read'),
    pipeline,
    max: 10,
    isStillRead: () => Promise.resolve(true),
    isReadIn: () => true,
    emit,
    now,
    reachableMs: now,
  })
  const suppressed = { commit: emit, giveUp: emit, takeDue: () => [] }
  const updates = openAlertUpdates({ suppressed, alertsTopic, emit, now })
  const retro = {
    ...{ version: () => 0, committed: emit, feedsChanged: emit, restored: emit, answered: emit },
    ...{ idle: () => Promise.resolve(), close: () => Promise.resolve() },
  }
  const counting = { counts, known: pipeline, isInside: () => true, retro, start: emit }
  const sightings = countSightings({ counting, alertsTopic, emit, now })
  const before = handles()
  for (let cycle = 0; cycle < 1_000; cycle++) {
    const task = testTask({ partition: cycle % 3 })
    const states = [late.open(task), updates.open(task), sightings.open(task)]
    for (const { chunk } of states) {
      const told = chunk()
      told.see(cycle, event)
      told.records()
      told.committed()
    }
    expect(counts.all().size).toBe(1)
    task.close()
    await Promise.all(states.map(({ close }) => close()))
  }
  await settle()
  expect([counts.all().size, counts.size().rows, Math.max(0, handles() - before)]).toEqual([0, 0, 0])
  late.close()
  await Promise.all([updates.close(), sightings.close()])
})
