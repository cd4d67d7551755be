// Who listens to what deliveries tell about events: by the topics that are set, late answers are followed up and sightings counted.
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
  /** What is done about answers that arrive after their event was delivered. */
  readonly late?: Pick<FollowUpOptions, 'pipeline'> | undefined
  /** The alerts that rules raise. */
  readonly alerts?: AlertSource | undefined
  /** Counts who has seen what, for retro alerts. */
  readonly counting?: Counting | undefined
}

type FollowUps = {
  readonly open: (task: Task) => PartitionState
  /** Writes what would be lost with the process: call when no event is delivered any more. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Nothing is noted if nothing can follow. */
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
  /** One for all kinds of state: what a partition's log says is read once for all of them, and for all tasks that need it. */
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

/** The kinds of state of one task, which are told about the same events. */
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
      // Notes say what has fired.
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
