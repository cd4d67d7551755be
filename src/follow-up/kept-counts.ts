// The counts of sightings, kept in the sightings topic: restored when a partition is assigned, while its events flow, and written as they
// change.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kafka } from '../kafka/client.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { CountedPartitions } from './count-partitions.js'
import { accusedOf, type Delivered } from './sighting-counts.js'
import type { Emit } from '../telemetry/event.js'
import { keepCounts } from './write-counts.js'
import type { TopicReader } from '../kafka/topic-reader.js'
import { restoreAssigned, type RestoreSource } from './restore-assigned.js'
import { restoreCounts } from './restore-counts.js'
import type { Tasks } from '../delivery/tasks.js'
import type { TopicOf } from './sightings-topic.js'
import { nameOf, type Assigned } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import { accusedIn, beganAt } from './count-record.js'

export type KeptCountsOptions = {
  readonly topic: TopicOf
  readonly connect: () => Kafka
  readonly groupId: string
  /** Annotates what waits for an answer: whoever waits hears of it too. */
  readonly pipeline: Pipeline
  /** Annotates with what is known, and asks nobody. */
  readonly known: Pipeline
  readonly claim: Tasks['claim']
  readonly write: Tasks['write']
  readonly counts: CountedPartitions
  /** Whether it is one of our own hosts. */
  readonly isInside: (host: string) => boolean
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
  /** Restores them once more: only the topic can tell which alerts were written. */
  readonly again: (partition: string) => void
  /** Counts committed events, in order. */
  readonly count: (partition: string, events: readonly Delivered[]) => void
  /** Its offsets mean nothing any more: what the topic holds is of other events. */
  readonly recreated: (partition: string) => void
  /** Writes what has changed, for the last time. */
  readonly flush: () => Promise<void>
  readonly close: () => void
}

/**
 * While a partition is restored its first events are put aside: under at-least-once the former owner may have counted them, which only its
 * counts can tell.
 */
type Restoring = { readonly aside: Delivered[]; isOfFormerTopic?: true }
const maxAside = 20_000
/** Rows that are taken in before the event loop may turn to something else. */
const sliceRows = 1_024
const none: readonly Outgoing[] = []

export const openKeptCounts = (options: KeptCountsOptions): KeptCounts => {
  const { topic, groupId, pipeline, known, counts, isInside, restored, emit, now } = options
  const unfinished = new Map<string, Restoring>()
  /** Up to which offset events were committed since the join. */
  const liveUpTo = new Map<string, number>()
  /** Partitions that are restored, and up to which offset they are counted. */
  const counted = new Map<string, number>()
  /** By first offset: chunks whose accusations are in the topic. */
  const accusing = new Map<string, Set<number>>()
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
    unfinished.delete(name)
  }

  const readCounts = async (
    assigned: Assigned,
    own: Restoring,
    { offset: claimed, reader, end, isOurs }: RestoreSource,
  ): Promise<void> => {
    const { aside } = own
    const name = nameOf(assigned)
    const past = counts.separate()
    const committed = async (): Promise<number> => {
      if (own.isOfFormerTopic) return 0
      const offset = Number.isFinite(claimed) ? claimed : await committedIn(reader, assigned)
      return Math.min(offset, aside[0]?.offset ?? offset)
    }
    const events = own.isOfFormerTopic
      ? 0
      : await restoreCounts({
          reader,
          topic,
          input: assigned,
          end,
          committed,
          pipeline,
          known,
          accusing: accusingIn(name),
          past,
          isInside,
          refused: (records) =>
            emit({
              event: 'kafka_client_warned',
              about: `sightings of ${name}`,
              message: `${records} records of ${topic.topic} are not what Threatweave writes, and not believed: see who may write to it`,
            }),
          goesOn: isOurs,
          now,
        })
    const before = await committed()
    if (!isOurs()) return
    // From here to the end of restoring without a pause: an event that is put aside in between would be lost.
    past.count(aside, now())
    const until = aside.at(-1)?.offset ?? before - 1
    unfinished.delete(name)
    const live = counts.of(name)
    past.addedTo(live)
    let indicators = 0
    for (const { seen, isChanged } of past.all()) {
      live.add(seen, isChanged)
      if (++indicators % sliceRows === 0) await nextTurn()
      if (!isOurs()) return
    }
    // Not before: what is written must be whole.
    counted.set(name, Math.max(until + 1, liveUpTo.get(name) ?? 0))
    emit({ event: 'counts_restored', topic: assigned.topic, partition: assigned.partition, indicators, events })
    restored()
  }

  const committedIn = async (reader: TopicReader, { topic: input, partition }: Assigned): Promise<number> =>
    (await reader.committed(groupId, input)).find((one) => one.partition === partition)?.offset ?? 0

  const restoring = restoreAssigned({
    ...options,
    restore: (assigned) => {
      const own: Restoring = { aside: [] }
      forget(nameOf(assigned))
      unfinished.set(nameOf(assigned), own)
      return (source) => readCounts(assigned, own, source)
    },
    lost: (assigned) => forget(nameOf(assigned)),
  })

  return {
    joined: restoring.joined,
    again: restoring.again,
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
      const aside = unfinished.get(name)?.aside
      if (aside && aside.length < maxAside) aside.push(...events)
      else counts.of(name).count(events, now())
      if (events.some((event) => accusedOf(event).length > 0)) accusingIn(name).add(events[0]?.offset ?? last.offset)
      liveUpTo.set(name, last.offset + 1)
      if (counted.has(name)) counted.set(name, last.offset + 1)
    },
    recreated: (name) => {
      const own = unfinished.get(name)
      if (own) own.isOfFormerTopic = true
    },
    flush: keeping.flush,
    close: () => {
      restoring.close()
      keeping.close()
    },
  }
}
