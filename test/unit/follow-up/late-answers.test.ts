// The notes of a partition that was assigned; that they are followed up is shown on a broker.
import { expect, it, vi } from 'vitest'
import { openLateAnswers } from '../../../src/follow-up/late-answers.js'
import { blockRecord } from '../../../src/follow-up/sightings-topic.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import type { Outgoing } from '../../../src/kafka/records.js'
import { shareReader } from '../../../src/kafka/shared-reader.js'
import { clientOfRecords } from '../../support/client-of-records.js'
import { testTask } from '../../support/task.js'

const sightingsTopic = { topic: 'sightings', partitions: 1 }
const input = { topic: 'fw', partition: 0 }

it.each([
  ['are taken up by its next owner', false, Infinity, 2],
  ['are not taken up about what has yet to be delivered', false, 9, 1],
  ['are deleted if they are about events of a former topic of the same name', true, Infinity, 0],
])('the notes of a partition %s', async (_what, isOfFormerTopic, committed, pending) => {
  const notes = [5, 9].map((offset) => ({ offset, fired: [] }))
  const stored = blockRecord(sightingsTopic, input, { id: '5/0/a', notes }, 0)
  const told: TelemetryEvent[] = []
  const written: Outgoing[] = []
  const sightings = openLateAnswers({
    connect: () => clientOfRecords([stored]),
    reader: shareReader(() => clientOfRecords([stored])),
    pipeline: () => true,
    sightingsTopic,
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
  const state = sightings.open(task)
  await vi.waitFor(() => expect(told).toContainEqual(expect.objectContaining({ event: 'sightings_restored' })), {
    timeout: 600_000,
  })
  expect(told[0]).toMatchObject({ pending })
  task.close()
  await state.close()
  expect(written.map(({ key, value }) => [String(key), value])).toEqual(
    isOfFormerTopic ? [['fw/0/pending/5/0/a', null]] : [],
  )
})
