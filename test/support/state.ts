// Task state for tests: the contents of the state topic, and how to write them.
import { openTaskState, type TaskState } from '../../src/follow-up/restore-state.js'
import type { StateTopic } from '../../src/follow-up/state-record.js'
import type { Task } from '../../src/delivery/task.js'
import type { Outgoing } from '../../src/kafka/records.js'
import { shareReader } from '../../src/kafka/shared-reader.js'
import type { Emit } from '../../src/telemetry/event.js'
import { clientOfRecords } from './client-of-records.js'

export const stateTopic: StateTopic = { topic: 'sightings', partitions: 1, groupId: 'group', signingKey: '' }

type Given = Partial<StateTopic> & { readonly now?: () => number; readonly emit?: Emit }

export const testState = (
  task: Task,
  records: readonly Outgoing[] = [],
  { now = () => 0, emit = () => undefined, ...state }: Given = {},
): TaskState =>
  openTaskState(task, {
    state: { ...stateTopic, ...state },
    reader: shareReader(() => clientOfRecords(records)),
    emit,
    now,
  })
