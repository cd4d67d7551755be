// What follows when an answer arrives after its event was delivered: the record is read again by its offset, annotated with what is known
// now, and the alerts that follow are written on behalf of its partition.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import { backgroundClock } from '../domain/clock.js'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import { createPending, type DueNote, type PendingNote } from '../sightings/pending.js'
import { createRetryLater } from '../sightings/retry-later.js'
import { revisit, type RaiseLate } from '../sightings/revisit.js'
import type { Emit } from '../telemetry/event.js'
import { alertRecord, type AlertOut } from './alert-record.js'
import { eventsOf } from './chunks.js'
import { failureOf } from './failure.js'
import { readByOffset } from './read-by-offset.js'
import { openTopicReader, type TopicReader } from './replay/topic-reader.js'
import { nameOf, type InputPartition, type Write } from './sightings.js'

export type FollowUpOptions = {
  readonly connect: () => Kafka
  /** Annotates with what is known now, without waiting. */
  readonly pipeline: Pipeline
  readonly raise: RaiseLate<EventOut, AlertOut>
  readonly alertsTopic: { readonly topic: string; readonly partitions: number }
  readonly write: Write
  readonly emit: Emit
  readonly now: () => number
}

export type FollowUp = {
  readonly note: (partition: InputPartition, notes: readonly PendingNote[]) => void
  readonly lost: (partition: InputPartition) => void
  readonly close: () => Promise<void>
}

/** At most so much is read again at once. */
const passLimits = { events: 500, bytes: 4_194_304 }
/** Answers come one by one: those of this time are followed up together. */
const gatherMs = 100
/** After a pass that could not be written. */
const againMs = 1_000

export const openFollowUp = (options: FollowUpOptions): FollowUp => {
  const { connect, pipeline, raise, alertsTopic, write, emit, now } = options
  const closed = new AbortController()
  const retryLater = createRetryLater(backgroundClock)
  /** By name; another object after it was lost and assigned again. */
  const owned = new Map<string, InputPartition>()
  const passing = new Map<string, Promise<void>>()
  let reader: Promise<TopicReader> | undefined

  const dropped = (events: number): void => {
    if (events > 0) emit({ event: 'late_events_dropped', events })
  }

  const pending = createPending({
    due: (name) => {
      if (passing.has(name) || closed.signal.aborted) return
      passing.set(
        name,
        followAll(name).catch(() => undefined), // only closing ends it this way
      )
    },
    dropped,
  })

  const followAll = async (name: string): Promise<void> => {
    for (let pauseMs = gatherMs; ;) {
      await sleep(pauseMs, undefined, { signal: closed.signal, ref: false })
      const partition = owned.get(name)
      const notes = pending.take(name, passLimits.events)
      if (!partition || notes.length === 0) {
        passing.delete(name)
        return
      }
      const began = now()
      const isWritten = await follow(partition, notes).catch((error: unknown) => {
        emit({ event: 'kafka_client_warned', about: `late answers of ${name}`, message: failureOf(error).message })
        discardReader()
        return false
      })
      if (!isWritten && owned.get(name) === partition) pending.note(name, notes.map(dueAgain))
      // At most a fifth of the time goes to late answers: events that arrive now have a deadline.
      pauseMs = isWritten ? Math.max(gatherMs, 4 * (now() - began)) : againMs
    }
  }

  const discardReader = (): void => {
    const old = reader
    reader = undefined
    old?.then((open) => open.close()).catch(() => undefined) // it is not used again, however that ends
  }

  /** False if nothing was written and it should be tried again. */
  const follow = async (partition: InputPartition, notes: readonly DueNote[]): Promise<boolean> => {
    const name = nameOf(partition)
    const offsets = notes.map(({ offset }) => offset)
    reader ??= openTopicReader(connect())
    const { topic } = partition
    const { records, gone, rest } = await readByOffset(
      await reader,
      topic,
      partition.partition,
      offsets,
      passLimits.bytes,
    )
    const noteOf = new Map(notes.map((note) => [String(note.offset), note]))
    const events = (await eventsOf(records, pipeline)).flatMap((event, place) => {
      const note = noteOf.get(records[place]?.offset ?? '')
      return event && note ? [{ event, note }] : []
    })
    const { alerts, open } = revisit(events, raise, retryLater)
    // Its new owner knows what it has to know; if not, there was nobody who could tell it.
    if (owned.get(name) !== partition) return true
    const out = alerts.map((alert) => alertRecord(alertsTopic.topic, alertsTopic.partitions, alert, now()))
    const written = out.length === 0 ? 'written' : await write(name, out)
    if (written === 'not_written') return false
    if (owned.get(name) !== partition) return true
    const unread = new Set(rest)
    const stays = new Set([...rest, ...open.map(({ offset }) => offset)])
    pending.settle(
      name,
      offsets.filter((offset) => !stays.has(offset)),
    )
    pending.note(name, [...open, ...notes.filter(({ offset }) => unread.has(offset)).map(dueAgain)])
    dropped(gone.length + (written === 'written' ? 0 : alerts.length))
    return true
  }

  return {
    note: (partition, notes) => {
      if (notes.length === 0) return
      const name = nameOf(partition)
      if (!owned.has(name)) owned.set(name, partition)
      pending.note(name, notes)
    },
    lost: (partition) => {
      const name = nameOf(partition)
      owned.delete(name)
      pending.forget(name)
    },
    close: async () => {
      closed.abort()
      await Promise.all(passing.values())
      await reader?.then((open) => open.close()).catch(() => undefined) // nothing is read any more
    },
  }
}

const dueAgain = (note: DueNote): PendingNote => ({ ...note, awaited: [] })
