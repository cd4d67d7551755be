// Counts what delivered events show, and writes retro alerts about what turns malicious later.
import type { Indicator } from '../domain/indicator.js'
import type { CountedPartitions, CountSize } from './count-partitions.js'
import type { Retro } from './retro.js'
import { deliveredOf, type Delivered } from './sighting-counts.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { alertRecord, type AlertOut } from '../delivery/compose.js'
import { failureOf } from '../kafka/failure.js'
import { openKeptCounts, type KeptCountsOptions } from './kept-counts.js'
import type { Written } from '../delivery/delivery.js'
import type { Tasks } from '../delivery/tasks.js'
import type { TopicOf } from './sightings-topic.js'
import { nameOf } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import { countRecord } from './count-record.js'
import type { DeliveryListener } from '../delivery/listener.js'

export type Counting = {
  readonly counts: CountedPartitions
  /** Annotates with what is known, and asks nobody. */
  readonly known: Pipeline
  /** Whether it is one of our own hosts. */
  readonly isInside: (host: string) => boolean
  readonly retro: Omit<Retro, 'start'>
  /** Starts the retro alerts, given how they are written. */
  readonly start: (write: WriteRetroAlerts) => void
}

/** Writes alerts about indicators on behalf of an input partition, and notes there that they were alerted on. */
export type WriteRetroAlerts = (
  partition: string,
  alerts: readonly AlertOut[],
  about: readonly Indicator[],
) => Promise<Written>

type CountSightingsOptions = {
  readonly counting: Counting
  readonly alertsTopic: TopicOf
  readonly write: Tasks['write']
  /** Where and how counts are kept for the next owner of a partition; absent: only in memory. */
  readonly keep?:
    Pick<KeptCountsOptions, 'topic' | 'connect' | 'groupId' | 'pipeline' | 'claim' | 'reachableMs'> | undefined
  readonly emit: Emit
  readonly now: () => number
}

/** How often it is logged what did not fit. */
const reportMs = 60_000

type CountSightings = DeliveryListener & {
  /** Writes the counts: call when no event is delivered any more. */
  readonly flush: () => Promise<void>
}

export const countSightings = (options: CountSightingsOptions): CountSightings => {
  const { counting, alertsTopic, write, keep, emit, now } = options
  const { counts, isInside, retro } = counting
  /** The alerts and the note that they were sent are one. */
  counting.start(async (partition, alerts, about) => {
    let takeBack: readonly (() => void)[] = []
    // What they are about was counted before another join: they are written when it is known again, or its note would be lost.
    const attempt = { isTooEarly: false }
    const compose = (): readonly Outgoing[] => {
      attempt.isTooEarly = kept?.isRestored(partition) === false
      if (attempt.isTooEarly) return []
      const own = counts.of(partition)
      takeBack = about.map(own.alerted)
      return [
        ...alerts.map((alert) => alertRecord(alertsTopic.topic, alertsTopic.partitions, alert, now())),
        ...(keep ? about.flatMap(own.days).map((seen) => countRecord(keep.topic, partition, seen, now())) : []),
      ]
    }
    const written = await write(partition, compose).catch((error: unknown): Written => {
      const { message } = failureOf(error)
      emit({ event: 'kafka_client_warned', about: `retro alerts of ${partition}`, message })
      return 'not_written'
    })
    if (attempt.isTooEarly) return 'not_written'
    if (written === 'not_written') for (const one of takeBack) one()
    if (written === 'unsure') kept?.again(partition)
    return written
  })
  const kept =
    keep &&
    openKeptCounts({ ...keep, counts, known: counting.known, isInside, write, restored: retro.restored, emit, now })

  let reported: Pick<CountSize, 'evicted' | 'uncounted'> = { evicted: 0, uncounted: 0 }
  const report = (): void => {
    const { evicted, uncounted } = counts.size()
    const more = { evicted: evicted - reported.evicted, uncounted: uncounted - reported.uncounted }
    reported = { evicted, uncounted }
    if (more.evicted + more.uncounted > 0) emit({ event: 'sightings_not_counted', ...more })
  }
  const reports = setInterval(report, reportMs).unref()

  return {
    chunk: (partition) => {
      const name = nameOf(partition)
      const events: Delivered[] = []
      let version: number | undefined
      return {
        see: (offset, event) => {
          version ??= retro.version()
          events.push(deliveredOf(offset, event, now()))
        },
        fired: () => undefined,
        records: () => {
          // Events that waited for an answer are annotated after the others.
          events.sort((one, other) => one.offset - other.offset)
          return kept?.records(name, events) ?? []
        },
        committed: () => {
          if (version === undefined) return
          if (kept) kept.count(name, events)
          else counts.of(name).count(events, now())
          retro.committed(version)
        },
      }
    },
    joined: (assigned, isSameMember) => {
      if (kept) kept.joined(assigned, isSameMember)
      const names = new Set(assigned.map(nameOf))
      for (const name of [...counts.all().keys()]) if (!names.has(name)) counts.forget(name)
    },
    recreated: (partition) => {
      counts.forget(nameOf(partition))
      kept?.recreated(nameOf(partition))
    },
    flush: () => kept?.flush() ?? Promise.resolve(),
    close: async () => {
      clearInterval(reports)
      kept?.close()
      await retro.close()
      report()
    },
  }
}
