// A reader of topics that all partitions of this process share: opened when it is first needed, and replaced after a failure.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from './client.js'
import { openTopicReader, readUpTo, type TopicReader } from './topic-reader.js'
import type { WireRecord } from './wire/record.js'

export type SharedReader = {
  readonly open: () => Promise<TopicReader>
  /** As `readUpTo` reads: who wants the same partition at about the same time shares one read of it. */
  readonly readUpTo: ReadUpTo
  /** After a failure, and at the end. */
  readonly discard: () => void
}

type ReadUpTo = (
  /** `from`: 0 for all that there is. */
  place: { readonly topic: string; readonly partition: number; readonly from: number; readonly end: number },
  use: (record: WireRecord) => void,
  goesOn: () => boolean,
) => Promise<void>

/** A read that has not begun. */
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

/** So long a read waits for others that want the same. */
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
      // What is written behind the end of one is not what it has asked for.
      for (const one of wanting) if (offset >= one.from && offset < one.end && one.goesOn()) one.use(record)
    }
    await readUpTo(await open(), { topic, partition, from, end }, use, () => wanting.some((one) => one.goesOn()))
  }
  return {
    open,
    readUpTo: ({ topic, partition, from, end }, use, goesOn) => {
      // Who needs the end alone does not wait for all.
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
      old?.then((open) => open.close()).catch(() => undefined) // it is not used again, however that ends
    },
  }
}
