// The counts of sightings, kept in the sightings topic: restored when a partition is assigned, while its events flow, and written as they
// change.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Admin, Kafka } from '../kafka/client.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { CountedPartitions } from './count-partitions.js'
import { accusedOf, type Delivered } from './sighting-counts.js'
import type { Emit } from '../telemetry/event.js'
import { keepCounts } from './write-counts.js'
import { failureOf } from '../kafka/failure.js'
import { openTopicReader, type TopicReader } from '../kafka/topic-reader.js'
import { restoreCounts } from './restore-counts.js'
import type { ClaimNow, Write } from '../delivery/delivery.js'
import type { TopicOf } from './sightings-topic.js'
import { nameOf, type Assigned } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import { accusedIn, beganAt } from './count-record.js'

export type KeptCountsOptions = {
  readonly topic: TopicOf
  readonly connect: () => Kafka
  readonly admin: Admin
  readonly groupId: string
  readonly pipeline: Pipeline
  readonly claim: ClaimNow
  readonly write: Write
  readonly counts: CountedPartitions
  /** Called when a partition's former counts are known again. */
  readonly restored: () => void
  readonly emit: Emit
  readonly now: () => number
  readonly reachableMs: () => number
}

type KeptCounts = {
  /** What is written with a chunk: what it accuses, and where counting began, if these are the first events since the join. */
  readonly records: (partition: string, events: readonly Delivered[]) => readonly Outgoing[]
  /** Whether what was counted before the join is known again. */
  readonly isRestored: (partition: string) => boolean
  readonly joined: (assigned: readonly Assigned[], isSameMember: boolean) => void
  /** Counts committed events, in order. */
  readonly count: (partition: string, events: readonly Delivered[]) => void
  /** Its offsets mean nothing any more: what the topic holds is of other events. */
  readonly recreated: (partition: string) => void
  readonly close: () => Promise<void>
}

/**
 * While a partition is restored its first events are put aside: under at-least-once the former owner may have counted them, which only its
 * counts can tell.
 */
type Restoring = { readonly assigned: Assigned; readonly aside: Delivered[]; isOfFormerTopic?: true }
const maxAside = 20_000
/** Rows that are taken in before the event loop may turn to something else. */
const sliceRows = 1_024
const againMs = 1_000
const none: readonly Outgoing[] = []

export const openKeptCounts = (options: KeptCountsOptions): KeptCounts => {
  const { topic, connect, admin, groupId, pipeline, claim, counts, restored, emit, now } = options
  let partitions = new Map<string, Assigned>()
  const restoring = new Map<string, Restoring>()
  /** Up to which offset events were committed since the join. */
  const liveUpTo = new Map<string, number>()
  /** Partitions that are restored, and up to which offset they are counted. */
  const counted = new Map<string, number>()
  /** By first offset: chunks whose accusations are in the topic. */
  const accusing = new Map<string, Set<number>>()
  let reader: Promise<TopicReader> | undefined
  let isClosed = false
  const keeping = keepCounts({
    ...options,
    countedOffsets: () => counted,
    outdated: (name, upTo) => {
      const firsts = [...accusingIn(name)].filter((first) => first < upTo)
      for (const first of firsts) accusingIn(name).delete(first)
      return firsts.map((first) => accusedIn(topic, name, first, [], now()))
    },
  })

  const accusingIn = (name: string): Set<number> => {
    const known = accusing.get(name) ?? new Set()
    accusing.set(name, known)
    return known
  }

  const forget = (name: string): void => {
    counts.forget(name)
    counted.delete(name)
    accusing.delete(name)
    liveUpTo.delete(name)
    restoring.delete(name)
  }

  const restore = async (assigned: Assigned): Promise<void> => {
    const name = nameOf(assigned)
    forget(name)
    const own: Restoring = { assigned, aside: [] }
    restoring.set(name, own)
    const goesOn = (): boolean => !isClosed && restoring.get(name) === own
    while (goesOn())
      try {
        await restoreOnce(name, own, goesOn)
      } catch (error) {
        if (!goesOn()) return
        emit({ event: 'kafka_client_warned', about: `sightings of ${name}`, message: failureOf(error).message })
        discardReader()
        await sleep(againMs, undefined, { ref: false })
      }
  }

  const discardReader = (): void => {
    const old = reader
    reader = undefined
    old?.then((open) => open.close()).catch(() => undefined) // it is not used again, however that ends
  }

  const restoreOnce = async (name: string, own: Restoring, goesOn: () => boolean): Promise<void> => {
    const { assigned, aside } = own
    const { offset: claimed } = await claim(assigned)
    const open = await (reader ??= openTopicReader(connect()))
    const ends = await admin.fetchTopicOffsets(topic.topic)
    const place = assigned.partition % topic.partitions
    const past = counts.separate()
    const committed = async (): Promise<number> => {
      if (own.isOfFormerTopic) return 0
      const offset = Number.isFinite(claimed) ? claimed : await committedIn(open, assigned)
      return Math.min(offset, aside[0]?.offset ?? offset)
    }
    const events = own.isOfFormerTopic
      ? 0
      : await restoreCounts({
          reader: open,
          topic,
          input: assigned,
          end: Number(ends.find(({ partition }) => partition === place)?.high ?? 0),
          committed,
          pipeline,
          accusing: accusingIn(name),
          past,
          goesOn,
          now,
        })
    const before = await committed()
    if (!goesOn()) return
    // From here to the end of restoring without a pause: an event that is put aside in between would be lost.
    past.count(aside, now())
    const until = aside.at(-1)?.offset ?? before - 1
    restoring.delete(name)
    const live = counts.of(name)
    let indicators = 0
    for (const { seen, isChanged } of past.all()) {
      live.add(seen, isChanged)
      if (++indicators % sliceRows === 0) await nextTurn()
      if (partitions.get(name) !== assigned) return
    }
    // Not before: what is written must be whole.
    counted.set(name, Math.max(until + 1, liveUpTo.get(name) ?? 0))
    emit({ event: 'counts_restored', topic: assigned.topic, partition: assigned.partition, indicators, events })
    restored()
  }

  const committedIn = async (open: TopicReader, { topic: input, partition }: Assigned): Promise<number> =>
    (await open.committed(groupId, input)).find((one) => one.partition === partition)?.offset ?? 0

  return {
    joined: (assigned, isSameMember) => {
      const former = partitions
      partitions = new Map(assigned.map((one) => [nameOf(one), one]))
      for (const name of former.keys()) if (!partitions.has(name)) forget(name)
      for (const [name, one] of partitions) if (!isSameMember || !counted.has(name)) void restore(one)
    },
    isRestored: (name) => counted.has(name),
    records: (name, events) => {
      const [first] = events
      if (!first) return none
      const accused = events.flatMap(accusedOf)
      const records = accused.length > 0 ? [accusedIn(topic, name, first.offset, accused, now())] : []
      return liveUpTo.has(name) ? records : [...records, beganAt(topic, name, first.offset, now())]
    },
    count: (name, events) => {
      const last = events.at(-1)
      if (!last) return
      const aside = restoring.get(name)?.aside
      if (aside && aside.length < maxAside) aside.push(...events)
      else counts.of(name).count(events, now())
      if (events.some((event) => accusedOf(event).length > 0)) accusingIn(name).add(events[0]?.offset ?? last.offset)
      liveUpTo.set(name, last.offset + 1)
      if (counted.has(name)) counted.set(name, last.offset + 1)
    },
    recreated: (name) => {
      const own = restoring.get(name)
      if (own) own.isOfFormerTopic = true
    },
    close: async () => {
      isClosed = true
      await keeping.close()
      await reader?.then((open) => open.close()).catch(() => undefined) // nothing is read any more
    },
  }
}
