// Observations at the brokers during an execution: acknowledged records with times, premature commits, and lost positions.
import type { Cluster } from '../broker/cluster.js'
import { readTopic, type OutputRecord } from '../broker/read-topic.js'
import type { ReadRecord } from '../checks.js'
import { numbersIn, numbersOf } from '../event-numbers.js'
import { readRecords } from '../wire.js'
import type { World } from '../world.js'
import type { Input } from './input.js'
import { group, watchedTopics } from './worker-config.js'

export type Observations = {
  /** Numbers of the events in any output. */
  readonly acknowledged: ReadonlySet<string>
  readonly prematureCommits: readonly string[]
  readonly areOffsetsLost: () => boolean
  /** The records of a read_committed reader, with their append times. */
  readonly read: (topic: string) => Promise<readonly ReadRecord[]>
}

type Parts = { readonly world: World; readonly cluster: Cluster; readonly input: Input }

export const observe = (parts: Parts): Observations => {
  const { cluster } = parts
  const appended = watchAppends(parts)
  const prematureCommits = watchCommits(parts, appended.acknowledged)
  /** Brokers remove the offsets of a deleted topic by name, possibly so late that they remove those of its successor. */
  let areOffsetsLost = false
  cluster.onRemoval(({ groupId, topic, metadata }) => {
    const topicId = topicIdIn(metadata)
    areOffsetsLost ||=
      groupId === group && topic === 'input' && topicId !== undefined && topicId === cluster.topicId('input')
  })
  return {
    acknowledged: appended.acknowledged,
    prematureCommits,
    areOffsetsLost: () => areOffsetsLost,
    read: createReader(cluster, appended.ms),
  }
}

const topicIdIn = (metadata: string | null): string | undefined =>
  (JSON.parse(metadata || '{}') as { readonly topic_id?: string }).topic_id

type Appended = {
  /** Append time by topic, partition and offset. */
  readonly ms: ReadonlyMap<string, number>
  readonly acknowledged: ReadonlySet<string>
}

const watchAppends = ({ world, cluster }: Parts): Appended => {
  const ms = new Map<string, number>()
  const acknowledged = new Set<string>()
  cluster.onAppend(({ topic, partition, batch }) => {
    if (!watchedTopics.includes(topic) || batch.marker) return
    for (let offset = batch.base; offset <= batch.last; offset++) ms.set(`${topic}/${partition}/${offset}`, world.ms)
    if (world.isTraced)
      for (const [nth, { key, value }] of readRecords(batch.bytes).entries())
        world.note(() => `${topic}/${partition}/${batch.base + nth}: ${String(key)} ${String(value)}`)
    if (topic !== 'output' && topic !== 'dead') return
    for (const n of numbersIn(batch.bytes)) acknowledged.add(n)
  })
  return { ms, acknowledged }
}

/** Commits that passed a record before any output acknowledged it. */
const watchCommits = ({ world, cluster, input }: Parts, acknowledged: ReadonlySet<string>): readonly string[] => {
  const premature: string[] = []
  cluster.onCommit(({ groupId, topic, partition, offset, metadata }) => {
    if (groupId !== group || topic !== 'input') return
    // Metadata identifies a position in a former topic, which is not used.
    const topicId = topicIdIn(metadata)
    if (topicId !== undefined && topicId !== cluster.topicId('input')) return
    for (const placed of input.records) {
      if (placed.partition !== partition || placed.offset >= offset || !input.isLeft(placed)) continue
      const missing = numbersOf(placed).find((n) => !acknowledged.has(n))
      if (missing !== undefined && premature.length < 5)
        premature.push(
          `${world.ms} ms: ${offset} was committed for partition ${partition}, but ${missing} at ${placed.offset} was not written`,
        )
    }
  })
  return premature
}

const createReader = (cluster: Cluster, appendedMs: ReadonlyMap<string, number>): Observations['read'] => {
  const seen = new Map<OutputRecord, ReadRecord>()
  return async (topic) =>
    (await readTopic(cluster, topic)).map((record) => {
      const { partition, offset, key, value } = record
      const before = seen.get(record)
      if (before) return before
      const atMs = appendedMs.get(`${topic}/${partition}/${offset}`) ?? 0
      const now = { partition, offset, key: key?.toString(), value: value?.toString(), atMs }
      seen.set(record, now)
      return now
    })
}
