// Keeps the counts of sightings in the sightings topic: what has changed every few seconds, and after it up to which offset the counts hold.
import { setTimeout as sleep } from 'node:timers/promises'
import type { CountedPartitions } from './count-partitions.js'
import { countedUpTo, countRecord } from './count-record.js'
import type { SeenOnDay } from './seen.js'
import type { SightingCounts } from './sighting-counts.js'
import type { Emit } from '../telemetry/event.js'
import { failureOf } from '../kafka/failure.js'
import type { Written } from '../delivery/delivery.js'
import type { Tasks } from '../delivery/tasks.js'
import type { TopicOf } from './sightings-topic.js'
import type { Outgoing } from '../kafka/records.js'

type KeepCountsOptions = {
  readonly topic: TopicOf
  readonly counts: CountedPartitions
  readonly write: Tasks['write']
  /** The partitions that are kept, and up to which offset each is counted. */
  readonly countedOffsets: () => ReadonlyMap<string, number>
  /** Records that are needed no longer once the counts hold up to this offset. */
  readonly outdated: (partition: string, upTo: number) => readonly Outgoing[]
  readonly emit: Emit
  readonly now: () => number
  /** Milliseconds that do not count an outage. */
  readonly reachableMs: () => number
}

type Changed = Pick<SeenOnDay, 'day' | 'indicator'>

type KeepCounts = {
  /** Ends after what is known now is written, within a few seconds. */
  readonly flush: () => Promise<void>
  readonly close: () => void
}

/** Between two rounds; longer if a round takes more than a twentieth of the time, but not so long that the next owner cannot read the gap. */
const everyMs = 5_000
const maxPauseMs = 30_000
/** Records that are written together. */
const together = 2_000
const againMs = 1_000
const flushMs = 5_000

export const keepCounts = (options: KeepCountsOptions): KeepCounts => {
  const { topic, counts, write, countedOffsets, outdated, emit, now, reachableMs } = options
  const closing = new AbortController()
  const kept = new Map<string, number>()

  /** Until it is written, somebody else's or read anew: records are whole values, so a repeat does no harm. */
  const writeSurely = async (
    partition: string,
    own: SightingCounts,
    compose: () => readonly Outgoing[],
  ): Promise<boolean> => {
    const isOurs = (): boolean => countedOffsets().has(partition) && counts.of(partition) === own
    while (isOurs()) {
      const written = await write(partition, () => (isOurs() ? compose() : [])).catch((error: unknown): Written => {
        warn(partition, failureOf(error).message)
        return 'not_written'
      })
      if (written === 'written') return isOurs()
      if (written === 'refused') {
        warn(partition, 'the sightings topic refuses counts')
        return false
      }
      if (closing.signal.aborted) return false
      await sleep(againMs, undefined, { ref: false })
    }
    return false
  }
  const warn = (partition: string, message: string): void =>
    emit({ event: 'kafka_client_warned', about: `sightings of ${partition}`, message })

  const keep = async (partition: string, upTo: number): Promise<void> => {
    const own = counts.of(partition)
    // Their values are those of the moment in which they are written: a retro alert may be written in between, and must not be forgotten.
    const recordsOf = (changed: readonly Changed[]): readonly Outgoing[] =>
      changed.flatMap(({ day, indicator }) => {
        const seen = own.onDay(day, indicator)
        return seen ? [countRecord(topic, partition, seen, now())] : []
      })
    let changed: Changed[] = []
    for (const one of own.takeChanged()) {
      changed.push(one)
      if (changed.length < together) continue
      const full = changed
      if (!(await writeSurely(partition, own, () => recordsOf(full)))) return
      changed = []
    }
    if (changed.length === 0 && kept.get(partition) === upTo) return
    const last = changed
    const counted = countedUpTo(topic, partition, upTo, now())
    const gone = outdated(partition, upTo)
    if (await writeSurely(partition, own, () => [...recordsOf(last), counted, ...gone])) kept.set(partition, upTo)
  }
  const keepAll = async (): Promise<void> => {
    for (const [partition, upTo] of [...countedOffsets()]) await keep(partition, upTo)
  }

  const goOn = async (): Promise<void> => {
    for (let pauseMs = everyMs; !closing.signal.aborted;) {
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => undefined) // closing ends it early
      const began = reachableMs()
      await keepAll()
      pauseMs = Math.min(maxPauseMs, Math.max(everyMs, 19 * (reachableMs() - began)))
    }
  }
  const going = goOn()
  return {
    flush: async () => {
      closing.abort()
      await Promise.race([going, sleep(flushMs, undefined, { ref: false })])
    },
    close: () => closing.abort(),
  }
}
