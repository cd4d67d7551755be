// Writes what alerts did not say: matches that were suppressed, as an update when their window closes, also if no event follows.
import { setTimeout as sleep } from 'node:timers/promises'
import { alertRecord, type AlertOut } from '../delivery/compose.js'
import type { PartitionState } from '../delivery/listener.js'
import type { Task } from '../delivery/task.js'
import { messageOf } from '../base/message-of.js'
import type { Outgoing } from '../kafka/records.js'
import type { Emit } from '../telemetry/event.js'
import type { TopicOf } from './sightings-topic.js'

/** The matches that were suppressed. */
export type Suppressed = {
  /** The chunk with this event is committed. */
  readonly commit: (origin: string, firings: readonly string[]) => void
  /** It was not, and what it wrote is not there. */
  readonly giveUp: (origin: string, firings: readonly string[]) => void
  /** Updates about groups whose window is closed, or about all; each is returned once. */
  readonly takeDue: (all?: boolean) => readonly AlertOut[]
}

type AlertUpdatesOptions = {
  readonly suppressed: Suppressed
  readonly alertsTopic: TopicOf
  readonly emit: Emit
  readonly now: () => number
}

type AlertUpdates = {
  readonly open: (task: Task) => PartitionState
  /** Writes what is known now, for windows that are still open too. */
  readonly flush: () => Promise<void>
  readonly close: () => Promise<void>
}

const everyMs = 1_000
/** Written together. */
const together = 500
const flushMs = 5_000

export const openAlertUpdates = ({ suppressed, alertsTopic, emit, now }: AlertUpdatesOptions): AlertUpdates => {
  /** On whose behalf they are written: any partition of this process, since its matches are committed. */
  const tasks = new Set<Task>()
  let waiting: AlertOut[] = []
  let writing: Promise<void> = Promise.resolve()

  /** What could not be written is tried again; a repeat has the same id. */
  const writeDue = async (all: boolean): Promise<void> => {
    waiting.push(...suppressed.takeDue(all))
    while (waiting.length > 0) {
      const [task] = tasks
      if (!task) return
      const part = waiting.slice(0, together)
      const compose = (): readonly Outgoing[] =>
        part.map((update) => alertRecord(alertsTopic.topic, alertsTopic.partitions, update, now()))
      const written = await task.write(compose)
      if (written === 'closed') continue
      waiting = waiting.slice(part.length)
      if (written === 'written') emit({ event: 'alert_updates_written', updates: part.length })
    }
  }
  const enqueue = (all: boolean): Promise<void> =>
    (writing = writing
      .then(() => writeDue(all))
      .catch((error: unknown) => emit({ event: 'follow_up_failed', what: 'alert updates', cause: messageOf(error) })))

  let isBusy = false
  const look = (): void => {
    if (isBusy) return
    isBusy = true
    void enqueue(false).then(() => (isBusy = false))
  }
  const looks = setInterval(look, everyMs).unref()

  return {
    open: (task) => {
      tasks.add(task)
      return {
        chunk: () => {
          const fired: (readonly [origin: string, firings: readonly string[]])[] = []
          return {
            see: () => undefined,
            fired: ({ origin }, firings) => void fired.push([origin, firings]),
            records: () => [],
            committed: () => {
              for (const [origin, firings] of fired) suppressed.commit(origin, firings)
            },
            givenUp: () => {
              for (const [origin, firings] of fired) suppressed.giveUp(origin, firings)
            },
          }
        },
        recreated: () => undefined,
        close: () => {
          tasks.delete(task)
          return Promise.resolve()
        },
      }
    },
    flush: () => Promise.race([enqueue(true), sleep(flushMs, undefined, { ref: false })]),
    close: async () => {
      clearInterval(looks)
      await writing
      const updates = waiting.length + suppressed.takeDue(true).length
      if (updates > 0) emit({ event: 'alert_updates_dropped', updates })
    },
  }
}
