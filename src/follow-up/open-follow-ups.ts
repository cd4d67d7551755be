// Connects the follow-ups to delivery: late answers, alert windows and sighting counts, depending on which topics are configured.
import type { Kafka } from '../kafka/client.js'
import type { Beside } from '../kafka/commit-metadata.js'
import type { BrokerWatch } from '../kafka/broker-watch.js'
import type { OutputTarget } from '../delivery/compose.js'
import type { AlertSource } from './task-alerts.js'
import { openAlertWindows, type TaskWindows } from './alert-windows.js'
import { createCorrect } from './correction.js'
import { countSightings, type Counting } from './count-sightings.js'
import type { OutputContext } from '../delivery/deliver-to.js'
import type { FollowUpOptions } from './follow-late.js'
import { openLateAnswers } from './late-answers.js'
import { shareReader } from '../kafka/shared-reader.js'
import type { TopicOf } from './state-record.js'
import { besideOf, openTaskState, type StatePlace } from './restore-state.js'
import type { Topics } from '../kafka/topics.js'
import type { PartitionState } from '../delivery/listener.js'
import type { Task } from '../delivery/task.js'

export type FollowUpParts = {
  /** Follow-up of answers that arrive after delivery of their event. */
  readonly late?: Pick<FollowUpOptions, 'pipeline'> | undefined
  /** The alerts raised by rules. */
  readonly alerts?: AlertSource | undefined
  /** Counts sightings for retro alerts. */
  readonly counting?: Counting | undefined
}

type FollowUps = {
  readonly open: (task: Task) => PartitionState
  /** Writes state that would otherwise be lost with the process. Call once delivery has stopped. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Undefined if no follow-up is possible, so that no notes are kept. */
export const openFollowUps = (
  {
    settings,
    late,
    counting,
    alerts,
    emit,
    now,
    reachableMs,
  }: FollowUpParts & Pick<OutputContext, 'settings' | 'emit' | 'now'> & Pick<BrokerWatch, 'reachableMs'>,
  { facts }: Topics,
  target: OutputTarget,
  connect: () => Kafka,
): FollowUps | undefined => {
  const { alertsTopic = '', sightingsTopic = '', correctionsTopic = '' } = settings
  const topicOf = (topic: string): TopicOf => ({ topic, partitions: facts.get(topic)?.partitions ?? 1 })
  const corrections = facts.get(correctionsTopic)
  if (!late || (alertsTopic === '' && !corrections)) return undefined
  const { pipeline } = late
  /** Shared by all kinds of state and all tasks, so that each partition of the state topic is read once. */
  const reader = shareReader(connect)
  const { groupId, verdictsKey = '' } = settings
  const place: StatePlace | undefined =
    sightingsTopic === ''
      ? undefined
      : { state: { ...topicOf(sightingsTopic), groupId, signingKey: verdictsKey }, reader }
  const followUps = openLateAnswers({
    pipeline,
    correct: corrections && createCorrect(target, correctionsTopic, corrections, now),
    max: settings.limits.pendingEvents,
    emit,
    now,
    reachableMs,
  })
  const windows =
    alerts && alertsTopic !== ''
      ? openAlertWindows({ alerts, alertsTopic: topicOf(alertsTopic), areKept: place !== undefined, emit, now })
      : undefined
  const counted =
    counting && alertsTopic !== ''
      ? countSightings({
          counting,
          alertsTopic: topicOf(alertsTopic),
          keep: place && { groupId, pipeline, reachableMs },
          emit,
          now,
        })
      : undefined
  return {
    open: (task) => {
      const state = place && openTaskState(task, { ...place, emit, now })
      const counts = counted?.open(task, state)
      const raised = windows?.open(task, state)
      const late = followUps.open(task, state, counts?.late, raised?.late)
      const beside = (): Beside => besideOf(late.isVersion2() && counts?.isKept() !== false, raised?.from() ?? now())
      return together(late, raised, counts, state && beside)
    },
    flush: async () => {
      await Promise.all([windows?.flush(), counted?.flush()])
    },
    close: async () => {
      await Promise.all([windows?.close(), counted?.close()])
      reader.discard()
    },
  }
}

/** Joins the kinds of state of one task, which observe the same events. */
const together = (
  late: ReturnType<ReturnType<typeof openLateAnswers>['open']>,
  raised: TaskWindows | undefined,
  counts: PartitionState | undefined,
  beside: (() => Beside) | undefined,
): PartitionState => ({
  chunk: (topicId) => {
    const [noted, alerted, counted] = [late.chunk(topicId), raised?.begin(topicId), counts?.chunk(topicId)]
    return {
      see: (offset, event) => {
        noted.see(offset, event)
        counted?.see(offset, event)
      },
      // Raise alerts first: the notes record the firings.
      records: (events) => [
        ...(alerted?.records(events, noted.fired) ?? []),
        ...noted.records(),
        ...(counted?.records(events) ?? []),
      ],
      ...(beside && { beside }),
      committed: () => {
        alerted?.commit()
        noted.committed()
        counted?.committed()
      },
      givenUp: () => alerted?.giveUp(),
    }
  },
  ready: raised?.ready,
  recreated: () => {
    raised?.recreated()
    late.recreated()
    counts?.recreated()
  },
  close: async () => {
    await Promise.all([late.close(), raised?.close(), counts?.close()])
  },
})
