// Reads what the sightings topic says about an assigned partition: when its task is opened, also if no event arrives, and until it succeeds or the
// task is closed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed } from '../delivery/delivery.js'
import type { Task } from '../delivery/task.js'
import { failureOf } from '../kafka/failure.js'
import type { SharedReader } from '../kafka/shared-reader.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import type { Emit } from '../telemetry/event.js'
import type { TopicOf } from './sightings-topic.js'

/** What can be read once the former owner of the partition can write nothing more. */
export type RestoreSource = Claimed & {
  readonly reader: TopicReader
  /** Of what is written to the log in the sightings topic: notes may be settled in transactions that are still open. */
  readonly end: number
  /** False once the partition is lost or read anew. */
  readonly isOurs: () => boolean
}

type RestoreOptions = {
  readonly topic: TopicOf
  readonly reader: SharedReader
  /** What is known is forgotten at once; then the result is called with what can be read, again if it fails. */
  readonly restore: () => (source: RestoreSource) => Promise<void>
  readonly emit: Emit
}

type Restoring = {
  readonly isRestored: () => boolean
  /** Reads it once more: only the topic can tell what was written. */
  readonly again: () => void
}

/** Before a restore that failed is tried again. */
const againMs = 1_000

export const restoreState = (task: Task, { topic, reader, restore, emit }: RestoreOptions): Restoring => {
  let current: object = {}
  let isRestored = false

  const attempt = async (read: (source: RestoreSource) => Promise<void>): Promise<void> => {
    const mine = (current = {})
    const isOurs = (): boolean => !task.signal.aborted && current === mine
    while (isOurs())
      try {
        const claimed = await task.claim()
        const opened = await reader.open()
        const end = await opened.writtenEnd(topic.topic, task.partition % topic.partitions)
        await read({ ...claimed, reader: opened, end, isOurs })
        if (isOurs()) isRestored = true
        return
      } catch (error) {
        reader.discard()
        if (!isOurs()) return
        emit({ event: 'kafka_client_warned', about: `sightings of ${task.name}`, message: failureOf(error).message })
        await sleep(againMs, undefined, { ref: false })
      }
  }

  const begin = (): void => {
    isRestored = false
    void attempt(restore())
  }
  begin()
  return { isRestored: () => isRestored, again: begin }
}
