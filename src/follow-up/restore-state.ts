// Reads what the sightings topic says about an assigned partition: when its task is opened, also if no event arrives, and until it succeeds or the
// task is closed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Claimed } from '../delivery/delivery.js'
import type { Task } from '../delivery/task.js'
import { failureOf } from '../kafka/failure.js'
import type { SharedReader } from '../kafka/shared-reader.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Emit } from '../telemetry/event.js'
import type { TopicOf } from './sightings-topic.js'

/** What can be read once the former owner of the partition can write nothing more. */
export type RestoreSource = Claimed & {
  readonly reader: TopicReader
  /** Calls with every record that its log in the sightings topic holds, in order. */
  readonly eachRecord: (use: (record: WireRecord) => void) => Promise<void>
  /** False once the partition is lost. */
  readonly isOurs: () => boolean
}

type RestoreOptions = {
  readonly topic: TopicOf
  readonly reader: SharedReader
  /** Called with what can be read, again if it fails. */
  readonly restore: (source: RestoreSource) => Promise<void>
  readonly emit: Emit
}

type Restoring = {
  readonly isRestored: () => boolean
  /** Resolves when it is, or when the partition is lost. */
  readonly restored: Promise<void>
}

/** Before a restore that failed is tried again. */
const againMs = 1_000

export const restoreState = (task: Task, { topic, reader, restore, emit }: RestoreOptions): Restoring => {
  let isRestored = false
  const isOurs = (): boolean => !task.signal.aborted
  const read = async (): Promise<void> => {
    while (isOurs())
      try {
        const claimed = await task.claim()
        const opened = await reader.open()
        const partition = task.partition % topic.partitions
        // Notes may be settled in transactions that are still open.
        const end = await opened.writtenEnd(topic.topic, partition)
        const eachRecord: RestoreSource['eachRecord'] = (use) =>
          reader.readUpTo({ topic: topic.topic, partition, end }, use, isOurs)
        await restore({ ...claimed, reader: opened, eachRecord, isOurs })
        if (isOurs()) isRestored = true
        return
      } catch (error) {
        reader.discard()
        if (!isOurs()) return
        emit({ event: 'kafka_client_warned', about: `sightings of ${task.name}`, message: failureOf(error).message })
        await sleep(againMs, undefined, { ref: false })
      }
  }
  return { isRestored: () => isRestored, restored: read() }
}
