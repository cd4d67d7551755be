// The notes of a partition that was assigned; that they are followed up is shown on a broker.
import { expect, it, vi } from 'vitest'
import { openLateAnswers } from '../../../src/follow-up/late-answers.js'
import { blockValue } from '../../../src/follow-up/sightings-topic.js'
import { createWriteState } from '../../../src/follow-up/state-record.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { stateTopic, testState } from '../../support/state.js'
import { testTask } from '../../support/task.js'

const input = { topic: 'fw', partition: 0 }

it.each([
  ['are taken up by its next owner', false, Infinity, 2],
  ['are taken up if version 1 has written them', false, Infinity, 2, 1],
  ['are deleted as version 1 has written them if they are about a former topic', true, Infinity, 0, 1],
  ['are not taken up about what has yet to be delivered', false, 9, 1],
  ['are deleted if they are about events of a former topic of the same name', true, Infinity, 0],
])('the notes of a partition %s', async (_what, isOfFormerTopic, committed, pending, version = 2) => {
  const notes = [5, 9].map((offset) => ({ offset, fired: [] }))
  const block = { id: '5/0/a', notes }
  const stored = createWriteState(stateTopic, input, () => 0)('pending', block.id, blockValue(block))
  const written1 = { ...stored, key: Buffer.from('fw/0/pending/5/0/a') }
  const told: TelemetryEvent[] = []
  const written: Outgoing[] = []
  const sightings = openLateAnswers({
    pipeline: () => true,
    max: 10,
    emit: (event) => void told.push(event),
    now: () => 0,
    reachableMs: () => 0,
    // Nothing is followed up before the task is closed, however slow this machine is.
    pause: (_ms, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('closed')))),
  })
  const task = testTask({
    claim: () => Promise.resolve({ offset: committed, topicId: isOfFormerTopic ? 'b' : 'a', isFormer: false }),
    write: (compose) => {
      written.push(...compose())
      return Promise.resolve('written')
    },
  })
  const state = sightings.open(task, testState(task, [version === 1 ? written1 : stored]))
  await vi.waitFor(() => expect(told).toContainEqual(expect.objectContaining({ event: 'sightings_restored' })), {
    timeout: 600_000,
  })
  expect(told[0]).toMatchObject({ pending })
  task.close()
  await state.close()
  expect(written.map(({ key, value }) => [String(key), value])).toEqual(
    isOfFormerTopic
      ? [['v2/group/fw/0/pending/5/0/a', null], ...(version === 1 ? [['fw/0/pending/5/0/a', null]] : [])]
      : [],
  )
})
