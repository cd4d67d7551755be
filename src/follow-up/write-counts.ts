// Writes changed sighting counts to the state topic every few seconds, followed by the offset up to which they hold.
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
  /** Offset up to which events are counted; undefined until the counts are restored. */
  readonly countedUpTo: () => number | undefined
  /** Tombstones for records that become obsolete once the counts hold up to this offset. */
  readonly outdated: (upTo: number) => readonly Outgoing[]
  /** The offset that the state topic holds. */
  writtenUpTo?: number
}

type KeepCountsOptions = {
  readonly partitions: () => Iterable<CountsToWrite>
  readonly emit: Emit
  /** Milliseconds that exclude outages. */
  readonly reachableMs: () => number
}

type Changed = Pick<SeenOnDay, 'day' | 'indicator'>

type KeepCounts = {
  /** Writes the present changes, within a few seconds, and ends. */
  readonly flush: () => Promise<void>
  readonly close: () => void
}

/**
 * Pause between rounds. It grows if a round takes more than a twentieth of the time, up to a limit, because the next owner must read the
 * gap again.
 */
const everyMs = 5_000
const maxPauseMs = 30_000
/** Records per write. */
const together = 2_000
const flushMs = 5_000

export const keepCounts = (options: KeepCountsOptions): KeepCounts => {
  const { partitions, emit, reachableMs } = options
  const closing = new AbortController()

  /** Each record is a whole value, so a repeat is harmless. False if the partition has another owner or its counts were restored again. */
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
    // Compose at write time: a retro alert may be written in between, and an older value would erase it.
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
