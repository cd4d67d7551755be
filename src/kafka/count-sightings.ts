// Counts what delivered events show, and has whoever saw something told when its verdict turns malicious.
import type { CountedPartitions, CountSize } from '../sightings/count-partitions.js'
import type { Retro } from '../sightings/retro.js'
import type { Delivered } from '../sightings/sighting-counts.js'
import type { Emit } from '../telemetry/event.js'
import type { AlertOut } from './alert-record.js'
import { nameOf, type Sightings, type Written } from './sightings.js'

export type Counting = { readonly counts: CountedPartitions; readonly retro: Retro }

/** Makes the counting, given how alerts are written on behalf of an input partition. */
export type OpenCounting = (write: (partition: string, alerts: readonly AlertOut[]) => Promise<Written>) => Counting

/** How often it is logged what did not fit. */
const reportMs = 60_000

export const countSightings = (
  { counts, retro }: Counting,
  { emit, now }: { readonly emit: Emit; readonly now: () => number },
): Sightings => {
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
      const events: Delivered[] = []
      let version: number | undefined
      return {
        see: (offset, event) => {
          version ??= retro.version()
          events.push({ offset, time: event.time ?? now(), judged: event.judged })
        },
        fired: () => undefined,
        records: () => [],
        committed: () => {
          if (version === undefined) return
          // Events that waited for an answer are annotated after the others.
          events.sort((one, other) => one.offset - other.offset)
          counts.of(nameOf(partition)).note(events, now())
          retro.committed(version)
        },
      }
    },
    joined: (assigned) => {
      const names = new Set(assigned.map(nameOf))
      for (const name of [...counts.all().keys()]) if (!names.has(name)) counts.forget(name)
    },
    recreated: (topic) => {
      for (const name of [...counts.all().keys()])
        if (name.slice(0, name.lastIndexOf('/')) === topic) counts.forget(name)
    },
    close: async () => {
      clearInterval(reports)
      await retro.close()
      report()
    },
  }
}

/** Tells several about the same events. */
export const tellAll = (all: readonly Sightings[]): Sightings => ({
  chunk: (partition) => {
    const chunks = all.map(({ chunk }) => chunk(partition))
    return {
      see: (offset, event) => {
        for (const { see } of chunks) see(offset, event)
      },
      fired: (event, ruleIds) => {
        for (const { fired } of chunks) fired(event, ruleIds)
      },
      records: () => chunks.flatMap(({ records }) => records()),
      committed: () => {
        for (const { committed } of chunks) committed()
      },
    }
  },
  joined: (assigned, isSameMember) => {
    for (const { joined } of all) joined(assigned, isSameMember)
  },
  recreated: (topic) => {
    for (const { recreated } of all) recreated(topic)
  },
  close: async () => {
    await Promise.all(all.map(({ close }) => close()))
  },
})
