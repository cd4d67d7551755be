// Reads what the sightings topic says about the partitions that are assigned: each when it is assigned, also if no event arrives, and until it
// succeeds or the partition is lost.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from '../kafka/client.js'
import type { Claimed } from '../delivery/delivery.js'
import type { Tasks } from '../delivery/tasks.js'
import { failureOf } from '../kafka/failure.js'
import { nameOf, type Assigned, type InputPartition } from '../kafka/fetched.js'
import { openTopicReader, type TopicReader } from '../kafka/topic-reader.js'
import type { Emit } from '../telemetry/event.js'
import type { TopicOf } from './sightings-topic.js'

/** What can be read once the former owner of a partition can write nothing more. */
export type RestoreSource = Claimed & {
  readonly reader: TopicReader
  /** Of what is written to the log in the sightings topic: notes may be settled in transactions that are still open. */
  readonly end: number
  /** False once the partition is lost or read anew. */
  readonly isOurs: () => boolean
}

type RestoreOptions = {
  /** Absent: nothing is kept, and so nothing is read. */
  readonly topic: TopicOf | undefined
  readonly connect: () => Kafka
  readonly claim: Tasks['claim']
  /** What is known of a partition is forgotten at once; then the result is called with what can be read, again if it fails. */
  readonly restore: (assigned: Assigned) => (source: RestoreSource) => Promise<void>
  readonly lost: (assigned: Assigned) => void
  readonly emit: Emit
}

type RestoreAssigned = {
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
  readonly isRestored: (partition: InputPartition) => boolean
  /** Reads it once more: only the topic can tell what was written. */
  readonly again: (partition: string) => void
  readonly close: () => void
}

/** Before a restore that failed is tried again. */
const againMs = 1_000

export const restoreAssigned = (options: RestoreOptions): RestoreAssigned => {
  const { topic, connect, claim, restore, lost, emit } = options
  let partitions = new Map<string, Assigned>()
  const restored = new Set<string>()
  let reader: Promise<TopicReader> | undefined
  let isClosed = false

  const begin = (assigned: Assigned): void => {
    if (!topic) return
    const name = nameOf(assigned)
    restored.delete(name)
    partitions.set(name, assigned)
    void attempt(topic, assigned, restore(assigned))
  }

  const attempt = async (
    from: TopicOf,
    assigned: Assigned,
    read: (source: RestoreSource) => Promise<void>,
  ): Promise<void> => {
    const name = nameOf(assigned)
    const isOurs = (): boolean => !isClosed && partitions.get(name) === assigned
    while (isOurs())
      try {
        const claimed = await claim(assigned)
        const opened = await (reader ??= openTopicReader(connect()))
        const end = await opened.writtenEnd(from.topic, assigned.partition % from.partitions)
        await read({ ...claimed, reader: opened, end, isOurs })
        if (isOurs()) restored.add(name)
        return
      } catch (error) {
        discardReader()
        if (!isOurs()) return
        emit({ event: 'kafka_client_warned', about: `sightings of ${name}`, message: failureOf(error).message })
        await sleep(againMs, undefined, { ref: false })
      }
  }

  const discardReader = (): void => {
    const old = reader
    reader = undefined
    old?.then((open) => open.close()).catch(() => undefined) // it is not used again, however that ends
  }

  return {
    joined: (assigned, isSameMember) => {
      const former = partitions
      partitions = new Map(assigned.map((one) => [nameOf(one), one]))
      for (const [name, one] of former) {
        if (partitions.has(name)) continue
        restored.delete(name)
        lost(one)
      }
      for (const [name, one] of partitions) if (!isSameMember || !restored.has(name)) begin(one)
    },
    isRestored: (partition) => restored.has(nameOf(partition)),
    again: (partition) => {
      const assigned = partitions.get(partition)
      if (assigned) begin({ ...assigned })
    },
    close: () => {
      isClosed = true
      discardReader()
    },
  }
}
