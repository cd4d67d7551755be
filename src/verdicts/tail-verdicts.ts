// Follows the verdicts topic: applies new records within a second, even while older ones are still being read.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Indicator } from '../domain/indicator.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Fetch, TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Emit } from '../telemetry/event.js'
import type { VerdictRefusal } from '../telemetry/labels.js'
import { createReadOlder, type ReadOlder } from './read-older.js'
import { readVerdict, type SharedVerdict } from './verdict-record.js'

type Reader = Pick<TopicReader, 'partitionsOf' | 'topicIdOf' | 'offsetsAt' | 'fetch' | 'close'>

type TailOptions = {
  readonly openReader: () => Promise<Reader>
  readonly topic: string
  /** The signing key; empty: every writer is trusted. */
  readonly key: string
  /** Returns whether it was newer. `isJustNow`: written after the start of this process. */
  readonly learn: (verdict: SharedVerdict, isJustNow: boolean) => boolean
  /** Whether the memory is full, which ends the initial read. */
  readonly isFull: () => boolean
  /** Marks an entry as recently used, so that it is not evicted first. */
  readonly touch: (indicator: Indicator) => void
  readonly now: () => number
  readonly emit: Emit
}

type TailVerdicts = {
  /** Resolves when useful verdicts are read, after half a minute, or if the topic is unreadable. */
  readonly started: Promise<void>
  /** Resolves with the number of partitions. */
  readonly partitions: Promise<number>
  readonly close: () => Promise<void>
}

const startMs = 30_000
const againMs = 5_000
const askIdMs = 10_000
const followMs = 500
const maxPauseMs = 1_000

/** The read position in the topic with this id. */
type Position = {
  readonly id: string
  readonly began: number
  /** The next offset of each partition. */
  readonly next: Map<number, number>
  /** Absent when older records have been read. */
  older?: ReadOlder<Reader> | undefined
}

export const tailVerdicts = (options: TailOptions): TailVerdicts => {
  const { openReader, topic, learn, now, emit } = options
  const closed = new AbortController()
  const goesOn = (): boolean => !closed.signal.aborted
  const read = createRead(options)
  let startedNow = (): void => undefined
  const started = new Promise<void>((resolve) => {
    startedNow = resolve
  })
  // Unresponsive brokers must not delay the start for longer.
  const late = setTimeout(startedNow, startMs)
  void started.then(() => clearTimeout(late))
  let counted: (partitions: number) => void = () => undefined
  const partitions = new Promise<number>((resolve) => {
    counted = resolve
  })
  let isServing = false
  void started.then(() => (isServing = true))
  let position: Position | undefined
  let isFailing = false

  /** After an unreadable record batch it skips to the current end instead of stopping. */
  const fetch = async (
    reader: Reader,
    partition: number,
    from: number,
    { maxBytes, waitMs }: { readonly maxBytes?: number; readonly waitMs?: number },
  ): Promise<Fetch> => {
    try {
      return await reader.fetch(topic, partition, from, maxBytes, waitMs)
    } catch (error) {
      const message = error instanceof FatalKafkaError ? error.message : ''
      if (!message.startsWith(`${topic}/${partition}: `)) throw error
      emit({ event: 'verdicts_refused', verdicts: 1, reason: 'malformed' })
      const end = (await reader.offsetsAt(topic, 'latest')).get(partition) ?? from
      return { records: [], next: Math.max(end, from + 1), deleted: 0 }
    }
  }

  const take = (records: readonly WireRecord[]): void => {
    const last = records.at(-1)
    if (!last) return
    const verdicts = read(records).filter((verdict) => learn(verdict, true)).length
    emit({ event: 'verdicts_learnt', verdicts, delayMs: Math.max(0, now() - Number(last.timestamp)) })
  }

  const readOn = async (reader: Reader, position: Position): Promise<void> => {
    const { id, began, next } = position
    const waitMs = Math.max(50, Math.round(500 / Math.max(1, next.size)))
    let askedAt = now()
    let followedAt = -Infinity
    while (goesOn()) {
      const { older } = position
      const stepAt = now()
      if (older && (await older.step(reader))) {
        // Pauses for half of the time once events are being processed.
        if (isServing)
          await sleep(Math.max(0, Math.min(maxPauseMs, now() - stepAt)), undefined, { signal: closed.signal })
        // New records take turns with older ones.
        if (now() - followedAt < followMs) continue
      } else if (older) {
        position.older = undefined
        emit({ event: 'verdicts_restored', verdicts: older.learnt(), ms: now() - began, isWhole: older.isWhole() })
        startedNow()
      }
      for (const [partition, from] of next) {
        const fetched = await fetch(reader, partition, from, { waitMs: position.older ? 0 : waitMs })
        take(fetched.records)
        next.set(partition, fetched.next)
      }
      followedAt = now()
      if (now() - askedAt < askIdMs) continue
      askedAt = now()
      if ((await reader.topicIdOf(topic)) !== id) return
    }
  }

  const readAll = async (reader: Reader): Promise<void> => {
    const id = await reader.topicIdOf(topic)
    if (id === undefined) throw new Error(`topic ${topic} does not exist`)
    counted((await reader.partitionsOf(topic)).length)
    if (isFailing) emit({ event: 'verdicts_topic_resumed', what: 'read' })
    isFailing = false
    if (position?.id !== id) {
      const ends = await reader.offsetsAt(topic, 'latest')
      position = {
        id,
        began: now(),
        next: new Map(ends),
        older: createReadOlder<Reader>({ ...options, ends, fetch, read, learn: (verdict) => learn(verdict, false) }),
      }
    }
    await readOn(reader, position)
  }

  const run = async (): Promise<void> => {
    while (goesOn()) {
      let reader: Reader | undefined
      try {
        reader = await openReader()
        await readAll(reader)
      } catch (error) {
        if (!goesOn()) break
        const { message } = failureOf(error)
        if (!isFailing) emit({ event: 'verdicts_topic_failed', what: 'read', message })
        isFailing = true
        startedNow()
        // The end is before our position: the topic was recreated or truncated.
        if (message.includes('ends before offset')) position = undefined
        await sleep(againMs, undefined, { signal: closed.signal }).catch(() => undefined)
      } finally {
        await reader?.close().catch(() => undefined) // not used again, so errors do not matter
      }
    }
  }
  const running = run()
  return {
    started,
    partitions,
    close: async () => {
      closed.abort()
      startedNow()
      await Promise.race([running, sleep(1_000, undefined, { ref: false })])
    },
  }
}

/** Returns valid verdicts, and counts rejected records. */
const createRead =
  ({ topic, key, emit }: TailOptions) =>
  (records: readonly WireRecord[]): readonly SharedVerdict[] => {
    const believed: SharedVerdict[] = []
    const refused = new Map<VerdictRefusal, number>()
    for (const record of records) {
      const verdict = readVerdict({ topic, key }, record)
      if ('refused' in verdict) refused.set(verdict.refused, (refused.get(verdict.refused) ?? 0) + 1)
      else believed.push(verdict)
    }
    for (const [reason, verdicts] of refused) emit({ event: 'verdicts_refused', verdicts, reason })
    return believed
  }
