// Reads the verdicts topic: at the start backwards in slices of time, so that what is newest is known first, and then what comes.
import { setTimeout as sleep } from 'node:timers/promises'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { Fetch, TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Emit } from '../telemetry/event.js'
import type { VerdictRefusal } from '../telemetry/labels.js'
import { readVerdict, type SharedVerdict } from './verdict-record.js'

type Reader = Pick<TopicReader, 'partitionsOf' | 'topicIdOf' | 'offsetsAt' | 'fetch' | 'close'>

type TailOptions = {
  readonly openReader: () => Promise<Reader>
  readonly topic: string
  /** Signs the records; empty: every record is believed. */
  readonly key: string
  /** Whether it was news. `isJustNow`: it was not there already when this process started. */
  readonly learn: (verdict: SharedVerdict, isJustNow: boolean) => boolean
  /** No more than what is kept is read at the start. */
  readonly isFull: () => boolean
  readonly now: () => number
  readonly emit: Emit
}

type TailVerdicts = {
  /** Resolves when what is of use is known, or half a minute has passed, or the topic cannot be read. */
  readonly started: Promise<void>
  /** Resolves when it is known how many partitions the topic has. */
  readonly partitions: Promise<number>
  readonly close: () => Promise<void>
}

const hourMs = 3_600_000
/** Nothing is served for longer than nine days after it was obtained. */
const slicesMs = [1, 6, 24, 72, 216].map((hours) => hours * hourMs)
const startMs = 30_000
const againMs = 5_000
const askIdMs = 10_000

/** Where the next fetch of each partition begins, in the topic with this id. */
type Position = { readonly id: string | undefined; readonly next: Map<number, number> }

export const tailVerdicts = (options: TailOptions): TailVerdicts => {
  const { openReader, topic, now, emit, isFull } = options
  const closed = new AbortController()
  const goesOn = (): boolean => !closed.signal.aborted
  const take = createTake(options)
  let startedNow = (): void => undefined
  const started = new Promise<void>((resolve) => {
    startedNow = resolve
  })
  // Brokers that do not answer at all must not hold up the start either.
  const late = setTimeout(startedNow, startMs)
  void started.then(() => clearTimeout(late))
  let counted: (partitions: number) => void = () => undefined
  const partitions = new Promise<number>((resolve) => {
    counted = resolve
  })
  let position: Position | undefined
  let isFailing = false

  /** A record batch that cannot be read must not end the tail: what follows it up to now is passed over. */
  const fetch = async (reader: Reader, partition: number, from: number, waitMs?: number): Promise<Fetch> => {
    try {
      return await reader.fetch(topic, partition, from, undefined, waitMs)
    } catch (error) {
      const message = error instanceof FatalKafkaError ? error.message : ''
      if (!message.startsWith(`${topic}/${partition}: `)) throw error
      emit({ event: 'verdicts_refused', verdicts: 1, reason: 'malformed' })
      const end = (await reader.offsetsAt(topic, 'latest')).get(partition) ?? from
      return { records: [], next: Math.max(end, from + 1), deleted: 0 }
    }
  }

  /** True when nothing is left out that is still of use. */
  const readBack = async (reader: Reader, ends: ReadonlyMap<number, number>): Promise<boolean> => {
    const time = now()
    const first = await reader.offsetsAt(topic, 'earliest')
    let upper = ends
    for (const sliceMs of slicesMs) {
      const found = await reader.offsetsAt(topic, time - sliceMs)
      // A time after which there is nothing has no offset.
      const startOf = (partition: number, end: number): number => {
        const offset = found.get(partition) ?? -1
        return Math.max(first.get(partition) ?? 0, offset < 0 ? end : Math.min(offset, end))
      }
      const lower = new Map([...upper].map(([partition, end]) => [partition, startOf(partition, end)]))
      for (const [partition, end] of upper)
        for (let from = lower.get(partition) ?? end; from < end;) {
          if (isFull()) return false
          if (!goesOn()) return true
          const { records, next } = await fetch(reader, partition, from)
          const inside = records.filter(({ offset }) => Number(offset) < end)
          take(inside, false)
          if (next === from) break
          from = next
        }
      upper = lower
    }
    return true
  }

  const follow = async (reader: Reader, { id, next }: Position): Promise<void> => {
    const waitMs = Math.max(50, Math.round(500 / Math.max(1, next.size)))
    let askedAt = now()
    while (goesOn()) {
      for (const [partition, from] of next) {
        const fetched = await fetch(reader, partition, from, waitMs)
        take(fetched.records, true)
        next.set(partition, fetched.next)
      }
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
      const began = now()
      const before = take.learnt()
      const isWhole = await readBack(reader, ends)
      emit({ event: 'verdicts_restored', verdicts: take.learnt() - before, ms: now() - began, isWhole })
      startedNow()
      position = { id, next: new Map(ends) }
    }
    await follow(reader, position)
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
        // Its end is before where it was read to: it is another topic, or has lost its end.
        if (message.includes('ends before offset')) position = undefined
        await sleep(againMs, undefined, { signal: closed.signal }).catch(() => undefined)
      } finally {
        await reader?.close().catch(() => undefined) // it is not used again, however that ends
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

const createTake = ({ topic, key, learn, now, emit }: TailOptions) => {
  let learnt = 0
  const take = (records: readonly WireRecord[], isLive: boolean): void => {
    const refused = new Map<VerdictRefusal, number>()
    let news = 0
    for (const record of records) {
      const verdict = readVerdict({ topic, key }, record)
      if ('refused' in verdict) refused.set(verdict.refused, (refused.get(verdict.refused) ?? 0) + 1)
      else if (learn(verdict, isLive)) news++
    }
    learnt += news
    for (const [reason, verdicts] of refused) emit({ event: 'verdicts_refused', verdicts, reason })
    const last = records.at(-1)
    if (isLive && last)
      emit({ event: 'verdicts_learnt', verdicts: news, delayMs: Math.max(0, now() - Number(last.timestamp)) })
  }
  return Object.assign(take, { learnt: () => learnt })
}
