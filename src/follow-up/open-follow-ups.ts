// Who listens to what deliveries tell about events: by the topics that are set, late answers are followed up and sightings counted.
import type { Kafka } from '../kafka/client.js'
import type { BrokerWatch } from '../kafka/broker-watch.js'
import type { OutputTarget } from '../delivery/compose.js'
import { openAlertUpdates, type Suppressed } from './alert-updates.js'
import { createCorrect } from './correction.js'
import { countSightings, type Counting } from './count-sightings.js'
import type { OutputContext } from '../delivery/deliver-to.js'
import type { FollowUpOptions } from './follow-late.js'
import { openLateAnswers } from './late-answers.js'
import type { TopicOf } from './sightings-topic.js'
import type { Topics } from '../kafka/topics.js'
import type { PartitionState } from '../delivery/listener.js'
import type { Task } from '../delivery/task.js'

export type FollowUpParts = {
  /** What is done about answers that arrive after their event was delivered. */
  readonly late?: Late | undefined
  /** Matches without an alert of their own, which updates tell. */
  readonly suppressed?: Suppressed | undefined
  /** Counts who has seen what, for retro alerts. */
  readonly counting?: Counting | undefined
}

type Late = Pick<FollowUpOptions, 'pipeline'> & {
  readonly raise?: NonNullable<FollowUpOptions['alerts']>['raise'] | undefined
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
    suppressed,
    emit,
    now,
    reachableMs,
    isStillRead,
    isReadIn,
  }: FollowUpParts &
    Pick<OutputContext, 'settings' | 'emit' | 'now'> &
    Pick<BrokerWatch, 'reachableMs'> &
    Pick<FollowUpOptions, 'isStillRead' | 'isReadIn'>,
  { facts }: Topics,
  target: OutputTarget,
  connect: () => Kafka,
): FollowUps | undefined => {
  const { alertsTopic = '', sightingsTopic = '', correctionsTopic = '' } = settings
  const topicOf = (topic: string): TopicOf => ({ topic, partitions: facts.get(topic)?.partitions ?? 1 })
  const corrections = facts.get(correctionsTopic)
  if (!late || (alertsTopic === '' && !corrections)) return undefined
  const { pipeline, raise } = late
  const followUps = openLateAnswers({
    connect,
    pipeline,
    alerts: raise && alertsTopic !== '' ? { raise, topic: topicOf(alertsTopic) } : undefined,
    correct: corrections && createCorrect(target, correctionsTopic, corrections, now),
    sightingsTopic: sightingsTopic === '' ? undefined : topicOf(sightingsTopic),
    max: settings.limits.pendingEvents,
    isStillRead,
    isReadIn,
    emit,
    now,
    reachableMs,
  })
  const updates =
    suppressed && alertsTopic !== ''
      ? openAlertUpdates({ suppressed, alertsTopic: topicOf(alertsTopic), emit, now })
      : undefined
  const { groupId } = settings
  const keep =
    sightingsTopic === '' ? undefined : { topic: topicOf(sightingsTopic), connect, groupId, pipeline, reachableMs }
  const counted =
    counting && alertsTopic !== ''
      ? countSightings({ counting, alertsTopic: topicOf(alertsTopic), keep, emit, now })
      : undefined
  return {
    open: (task) => {
      const counts = counted?.open(task)
      const states = [followUps.open(task, counts?.late), updates?.open(task), counts]
      return together(states.filter((state) => state !== undefined))
    },
    flush: async () => {
      await Promise.all([updates?.flush(), counted?.flush()])
    },
    close: async () => {
      followUps.close()
      await Promise.all([updates?.close(), counted?.close()])
    },
  }
}

/** Several kinds of state of one task, which are told about the same events. */
const together = (all: readonly PartitionState[]): PartitionState => ({
  chunk: (topicId) => {
    const chunks = all.map(({ chunk }) => chunk(topicId))
    return {
      see: (offset, event) => {
        for (const { see } of chunks) see(offset, event)
      },
      fired: (event, firings) => {
        for (const { fired } of chunks) fired(event, firings)
      },
      records: () => chunks.flatMap(({ records }) => records()),
      committed: () => {
        for (const { committed } of chunks) committed()
      },
      givenUp: () => {
        for (const { givenUp } of chunks) givenUp?.()
      },
    }
  },
  recreated: () => {
    for (const { recreated } of all) recreated()
  },
  close: async () => {
    await Promise.all(all.map(({ close }) => close()))
  },
})
