// Reads what a topic holds now: all of it, or one partition up to an offset.
import { setTimeout as sleep } from 'node:timers/promises'
import type { TopicReader } from './topic-reader.js'
import type { WireRecord } from './wire/record.js'

type Reader = Pick<TopicReader, 'fetch' | 'offsetsAt'>

/** A fetch that brings nothing waits a tenth of a second: together longer than a transaction may be open. */
const maxEmptyFetches = 400

/** An open transaction may hold back the end for a while. */
export const readUpTo = async (
  { fetch, offsetsAt }: Reader,
  { topic, partition, end }: { readonly topic: string; readonly partition: number; readonly end: number },
  use: (record: WireRecord) => void,
  goesOn: () => boolean,
): Promise<void> => {
  let empty = 0
  for (let at = (await offsetsAt(topic, 'earliest')).get(partition) ?? 0; at < end && goesOn();) {
    const { records, next } = await fetch(topic, partition, at)
    for (const record of records) use(record)
    empty = next === at ? empty + 1 : 0
    if (empty > maxEmptyFetches) throw new Error(`${topic}/${partition} returns nothing from offset ${at} on`)
    if (empty > 0) await sleep(20)
    at = next
  }
}

export const readToEnd = async (
  reader: Reader,
  topic: string,
  use: (record: WireRecord) => void,
  goesOn: () => boolean,
): Promise<void> => {
  for (const [partition, end] of await reader.offsetsAt(topic, 'latest'))
    await readUpTo(reader, { topic, partition, end }, use, goesOn)
}
