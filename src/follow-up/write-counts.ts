// Keeps the counts of sightings in the state topic: what has changed every few seconds, and after it up to which offset the counts hold.
import { setTimeout as sleep } from 'node:timers/promises'
import { countId, countValue, offsetValue } from './count-record.js'
import type { SeenOnDay } from './seen.js'
import type { SightingCounts } from './sighting-counts.js'
import type { Emit } from '../telemetry/event.js'
import type { Task } from '../delivery/task.js'
import type { WriteState } from './state-record.js'
import type { Outgoing } from '../kafka/records.js'

/** The counts of one partition. */
export type CountsToWrite = {
  readonly task: Task
  readonly record: WriteState
  readonly counts: () => SightingCounts
  /** Up to which offset they are counted; undefined until they are restored. */
  readonly countedUpTo: () => number | undefined
  /** Records that are needed no longer once the counts hold up to this offset. */
  readonly outdated: (upTo: number) => readonly Outgoing[]
  /** What the topic says of how far they are counted. */
  writtenUpTo?: number
}

type KeepCountsOptions = {
  readonly partitions: () => Iterable<CountsToWrite>
  readonly emit: Emit
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
const flushMs = 5_000

export const keepCounts = (options: KeepCountsOptions): KeepCounts => {
  const { partitions, emit, reachableMs } = options
  const closing = new AbortController()

  /** Records are whole values, so a repeat does no harm. False if they are somebody else's or read anew. */
  const writeOwn = async (
    { task, counts, countedUpTo }: CountsToWrite,
    own: SightingCounts,
    compose: () => readonly Outgoing[],
  ): Promise<boolean> => {
    const isOurs = (): boolean => !task.signal.aborted && countedUpTo() !== undefined && counts() === own
    const written = await task.write(() => (isOurs() ? compose() : []))
    if (written === 'refused')
      emit({
        event: 'kafka_client_warned',
        about: `counts of ${task.name}`,
        message: 'the state topic refuses counts',
      })
    return written === 'written' && isOurs()
  }

  const keep = async (partition: CountsToWrite, upTo: number): Promise<void> => {
    const own = partition.counts()
    const { record } = partition
    // Their values are those of the moment in which they are written: a retro alert may be written in between, and must not be forgotten.
    const recordsOf = (changed: readonly Changed[]): readonly Outgoing[] =>
      changed.flatMap(({ day, indicator }) => {
        const seen = own.onDay(day, indicator)
        return seen ? [record('count', countId(seen), countValue(seen))] : []
      })
    let changed: Changed[] = []
    for (const one of own.takeChanged()) {
      changed.push(one)
      if (changed.length < together) continue
      const full = changed
      if (!(await writeOwn(partition, own, () => recordsOf(full)))) return
      changed = []
    }
    if (changed.length === 0 && partition.writtenUpTo === upTo) return
    const last = changed
    const counted = record('counted', '', offsetValue(upTo))
    const gone = partition.outdated(upTo)
    if (await writeOwn(partition, own, () => [...recordsOf(last), counted, ...gone])) partition.writtenUpTo = upTo
  }
  const keepAll = async (): Promise<void> => {
    for (const partition of [...partitions()]) {
      const upTo = partition.countedUpTo()
      if (upTo !== undefined) await keep(partition, upTo)
    }
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
