// A topic reader shared by all partitions of this process: opened on first use, and replaced after a failure.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from './client.js'
import { openTopicReader, readUpTo, type TopicReader } from './topic-reader.js'
import type { WireRecord } from './wire/record.js'

export type SharedReader = {
  readonly open: () => Promise<TopicReader>
  /** Works like `readUpTo`, and merges requests for the same partition at about the same time into one read. */
  readonly readUpTo: ReadUpTo
  /** Call after a failure, and at the end. */
  readonly discard: () => void
}

type ReadUpTo = (
  /** `from` is 0 to read all records. */
  place: { readonly topic: string; readonly partition: number; readonly from: number; readonly end: number },
  use: (record: WireRecord) => void,
  goesOn: () => boolean,
) => Promise<void>

/** A read that has not started. */
type Shared = {
  readonly topic: string
  readonly partition: number
  readonly wanting: {
    readonly from: number
    readonly end: number
    readonly use: (record: WireRecord) => void
    readonly goesOn: () => boolean
  }[]
  done?: Promise<void>
}

/** How long a read waits for further requests. */
const gatherMs = 50

export const shareReader = (connect: () => Kafka): SharedReader => {
  let reader: Promise<TopicReader> | undefined
  const open = (): Promise<TopicReader> => (reader ??= openTopicReader(connect()))
  const starting = new Map<string, Shared>()
  const begin = async (name: string, shared: Shared): Promise<void> => {
    await sleep(gatherMs, undefined, { ref: false })
    starting.delete(name)
    const { topic, partition, wanting } = shared
    const from = Math.min(...wanting.map((one) => one.from))
    const end = Math.max(...wanting.map((one) => one.end))
    const use = (record: WireRecord): void => {
      const offset = Number(record.offset)
      // Each request gets only the records in its own range.
      for (const one of wanting) if (offset >= one.from && offset < one.end && one.goesOn()) one.use(record)
    }
    await readUpTo(await open(), { topic, partition, from, end }, use, () => wanting.some((one) => one.goesOn()))
  }
  return {
    open,
    readUpTo: ({ topic, partition, from, end }, use, goesOn) => {
      // A read from a later offset does not wait for a read of the whole partition.
      const name = `${topic}/${partition}/${from > 0 ? 'end' : 'all'}`
      const shared = starting.get(name) ?? { topic, partition, wanting: [] }
      shared.wanting.push({ from, end, use, goesOn })
      if (!shared.done) {
        starting.set(name, shared)
        shared.done = begin(name, shared)
      }
      return shared.done
    },
    discard: () => {
      const old = reader
      reader = undefined
      old?.then((open) => open.close()).catch(() => undefined) // not used again, so errors do not matter
    },
  }
}
