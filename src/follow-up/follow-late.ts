// What follows when an answer arrives after its event was delivered: the record is read again by its offset, annotated with what is known
// now, and what follows is written on behalf of its partition, together with the note that it was.
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from '../kafka/client.js'
import { messageOf } from '../base/message-of.js'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import { createPending, type Block, type DueNote, type PendingNote } from './pending.js'
import { mayStillCome, revisit, type RaiseLate } from './revisit.js'
import type { Emit, TelemetryEvent } from '../telemetry/event.js'
import { alertRecord, type AlertOut } from '../delivery/compose.js'
import { eventsOf } from '../delivery/chunks.js'
import { failureOf } from '../kafka/failure.js'
import { openTopicReader, type TopicReader, readByOffset } from '../kafka/topic-reader.js'
import type { Tasks } from '../delivery/tasks.js'
import { blockRecord, type TopicOf } from './sightings-topic.js'
import { nameOf, type InputPartition } from '../kafka/fetched.js'
import type { Incoming, Outgoing } from '../kafka/records.js'

export type FollowUpOptions = {
  readonly connect: () => Kafka
  /** Annotates with what is known now, without waiting. */
  readonly pipeline: Pipeline
  /** The alerts that follow, and where they go. */
  readonly alerts?: { readonly raise: RaiseLate<EventOut, AlertOut>; readonly topic: TopicOf } | undefined
  /** The records that correct what was written of one; undefined stands for one that is too large. */
  readonly correct?: ((record: Incoming, event: EventOut) => readonly (Outgoing | undefined)[]) | undefined
  /** Where notes are kept for the next owner of a partition; absent: only in memory. */
  readonly sightingsTopic?: TopicOf | undefined
  /** Events that are noted at most. */
  readonly max: number
  readonly write: Tasks['write']
  /** Whether the topic now is the one that is read here: it may have been deleted and created again. */
  readonly isStillRead: (partition: InputPartition) => Promise<boolean>
  /** Whether that is the topic with this id. */
  readonly isReadIn: (partition: InputPartition, topicId: string) => boolean
  readonly emit: Emit
  readonly now: () => number
  /** Milliseconds that do not count an outage. */
  readonly reachableMs: () => number
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

type FollowUp = {
  /** Notes events of a chunk of this topic that are committed, and the id that their block is stored under. */
  readonly note: (
    partition: InputPartition,
    topicId: string | undefined,
    notes: readonly PendingNote[],
    id?: string,
  ) => void
  /** Notes what a block from the sightings topic says. */
  readonly restore: (partition: InputPartition, topicId: string | undefined, block: Block) => void
  readonly lost: (partition: InputPartition) => void
  /** Its offsets mean nothing any more: what was noted is deleted, from the topic too. With blocks: these, but for what is noted since. */
  readonly discard: (partition: InputPartition, stored?: readonly Pick<Block, 'id'>[]) => void
  readonly close: () => Promise<void>
}

/** At most so much is read again at once. */
const passLimits = { events: 2_000, bytes: 4_194_304 }
/** Answers come one by one: those of this time are followed up together. */
const gatherMs = 100
/** Between two passes, however long one takes. */
const maxPauseMs = 10_000
/** After a pass that could not be written. */
const againMs = 1_000

/**
 * `unsure` is called when it is not known whether something was written, so that only the sightings topic can tell what is still open. What is
 * followed up before `isRestored` would be settled behind the reader's back, and followed up again.
 */
export const followLate = (
  options: FollowUpOptions,
  unsure: (partition: InputPartition) => void,
  isRestored: (partition: InputPartition) => boolean,
): FollowUp => {
  const {
    connect,
    pipeline,
    sightingsTopic,
    correct,
    write,
    isStillRead,
    isReadIn,
    emit,
    now,
    reachableMs,
    pause = sleepFor,
  } = options
  const raise = options.alerts?.raise ?? raiseNone
  const closed = new AbortController()
  // Every partition may be waiting.
  setMaxListeners(0, closed.signal)
  /** By name; another object after it was lost and assigned again. */
  const owned = new Map<string, InputPartition>()
  /** By name: of the topic that its noted offsets are in. */
  const topicIds = new Map<string, string>()
  const passing = new Map<string, Promise<void>>()
  let reader: Promise<TopicReader> | undefined

  const alertOf = (alert: AlertOut): Outgoing => {
    const { topic = '', partitions = 1 } = options.alerts?.topic ?? {}
    return alertRecord(topic, partitions, alert, now())
  }

  const notNoted = (firings: number): void => emit({ event: 'firings_not_noted', firings })

  const dropped = (events: number, why: Extract<TelemetryEvent, { event: 'late_events_dropped' }>['why']): void => {
    if (events > 0) emit({ event: 'late_events_dropped', events, why })
  }

  const pending = createPending({
    due: (name) => {
      if (passing.has(name) || closed.signal.aborted) return
      const failed = (error: unknown): void => {
        passing.delete(name)
        if (!closed.signal.aborted) emit({ event: 'follow_up_failed', what: 'late answers', cause: messageOf(error) })
      }
      passing.set(name, followAll(name).catch(failed))
    },
    dropped: (notes) => dropped(notes, 'too_many'),
    max: options.max,
  })

  const followAll = async (name: string): Promise<void> => {
    for (let pauseMs = gatherMs; ;) {
      await pause(pauseMs, closed.signal)
      const partition = owned.get(name)
      if (partition && !isRestored(partition)) {
        pauseMs = againMs
        continue
      }
      const notes = pending.take(name, passLimits.events)
      if (!partition || notes.length === 0) {
        passing.delete(name)
        return
      }
      const began = reachableMs()
      const isFollowed = await follow(partition, notes).catch((error: unknown) => {
        emit({ event: 'kafka_client_warned', about: `late answers of ${name}`, message: failureOf(error).message })
        discardReader()
        return false
      })
      if (!isFollowed && owned.get(name) === partition) pending.wait(name, notes.map(dueAgain))
      // At most a fifth of the time goes to late answers: events that arrive now have a deadline.
      pauseMs = isFollowed ? Math.min(maxPauseMs, Math.max(gatherMs, 4 * (reachableMs() - began))) : againMs
    }
  }

  const openReader = (): Promise<TopicReader> => (reader ??= openTopicReader(connect()))

  const discardReader = (): void => {
    const old = reader
    reader = undefined
    old?.then((open) => open.close()).catch(() => undefined) // it is not used again, however that ends
  }

  /** False if nothing was written and it should be tried again. */
  const follow = async (partition: InputPartition, notes: readonly DueNote[]): Promise<boolean> => {
    const name = nameOf(partition)
    const isOurs = (): boolean => owned.get(name) === partition
    const notedIn = topicIds.get(name)
    /** Another process may notice that first, and commit in the new topic before this one reads it. */
    const isOfFormerTopic = (): boolean => notedIn !== undefined && !isReadIn(partition, notedIn)
    const offsets = notes.map(({ offset }) => offset)
    const read = await readByOffset(await openReader(), partition, offsets, passLimits.bytes)
    // Other records have these offsets now. Whoever reads the partition notices that as well, and has the notes deleted.
    if (!(await isStillRead(partition))) return false
    if (isOfFormerTopic()) {
      discard(partition)
      return true
    }
    const noteOf = new Map(notes.map((note) => [note.offset, note]))
    const records = read.records.map((record) => ({ ...record, isFree: noteOf.get(Number(record.offset))?.isFree }))
    const events = (await eventsOf(records, pipeline)).flatMap((event, place) => {
      const note = noteOf.get(Number(records[place]?.offset))
      return event && note ? [{ event, note }] : []
    })
    const recordOf = new Map(records.map((record) => [Number(record.offset), record]))
    const { alerts, done, open, committed, notWritten } = revisit(events, raise)
    const unread = new Set(read.rest)
    const stays = new Set([...read.rest, ...open.map(({ offset }) => offset)])
    const settled = offsets.filter((offset) => !stays.has(offset))
    const corrected = done.flatMap(({ offset, event }) => {
      const record = recordOf.get(offset)
      return (record && correct?.(record, event)) ?? []
    })
    const corrections = corrected.filter((record) => record !== undefined)
    const follows = [...alerts.map(alertOf), ...corrections]
    if (sightingsTopic)
      for (const block of pending.blocksAfter(name, settled, open))
        follows.push(blockRecord(sightingsTopic, partition, block, now(), notNoted))
    let given: readonly Outgoing[] = []
    const isFollowedHere = (): boolean => isOurs() && !isOfFormerTopic()
    const written = await write(name, () => (given = isFollowedHere() ? follows : [])).catch((error: unknown) => {
      notWritten?.(isFollowedHere())
      throw error
    })
    if (given !== follows || written === 'not_written') notWritten?.(isFollowedHere())
    else {
      // Nobody can tell whether the alerts are there, so no event is suppressed for them. With the sightings topic they are raised again if not.
      if (written === 'unsure') notWritten?.(sightingsTopic !== undefined)
      if (written !== 'refused') committed?.()
    }
    if (!isOurs()) return true
    if (isOfFormerTopic()) {
      discard(partition)
      return true
    }
    if (written === 'not_written') return false
    if (written === 'unsure' && sightingsTopic) {
      unsure(partition)
      return true
    }
    pending.settle(name, settled)
    pending.wait(name, [...open, ...notes.filter(({ offset }) => unread.has(offset)).map(dueAgain)])
    const isLost = written !== 'written'
    if (corrections.length > 0 && !isLost) emit({ event: 'events_corrected', events: corrections.length })
    const uncorrected = isLost ? 0 : corrected.length - corrections.length
    // Nobody asks again.
    const unanswered = isLost ? 0 : done.filter(({ event }) => event.judged.some(mayStillCome)).length
    dropped(read.gone.length, 'record_gone')
    dropped(uncorrected, 'correction_too_large')
    dropped(unanswered, 'no_answer')
    if (isLost) dropped(settled.length - read.gone.length, 'refused')
    return true
  }

  /** The name of a partition of which something is to be noted. */
  const own = (partition: InputPartition, topicId: string | undefined): string => {
    const name = nameOf(partition)
    if (topicId !== undefined) {
      if ((topicIds.get(name) ?? topicId) !== topicId) discard(partition)
      topicIds.set(name, topicId)
    }
    if (!owned.has(name)) owned.set(name, partition)
    return name
  }

  const forget = (partition: InputPartition): void => {
    const name = nameOf(partition)
    owned.delete(name)
    topicIds.delete(name)
    pending.forget(name)
  }

  const discard: FollowUp['discard'] = (partition, stored) => {
    const name = nameOf(partition)
    const topic = sightingsTopic
    const noted = pending.blocks(name)
    const wrong = stored?.map(({ id }) => id).filter((id) => !noted.includes(id)) ?? noted
    const records = topic ? wrong.map((id) => blockRecord(topic, partition, { id, notes: [] }, now())) : []
    if (!stored) forget(partition)
    if (records.length > 0)
      write(name, () => records).catch((error: unknown) =>
        emit({ event: 'kafka_client_warned', about: `sightings of ${name}`, message: failureOf(error).message }),
      )
  }

  return {
    note: (partition, topicId, notes, id) => {
      // A chunk of a former topic may be the last to be delivered: nothing of it can be read again.
      const isGone = topicId !== undefined && !isReadIn(partition, topicId)
      if (notes.length > 0 && !isGone) pending.note(own(partition, topicId), notes, id)
    },
    restore: (partition, topicId, { id, notes }) => pending.restore(own(partition, topicId), notes.map(dueAgain), id),
    lost: forget,
    discard,
    close: async () => {
      closed.abort()
      await Promise.all(passing.values())
      discardReader()
    },
  }
}

const sleepFor = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal, ref: false })

const raiseNone: RaiseLate<EventOut, AlertOut> = (events) => ({ alerts: [], fired: events.map(({ fired }) => fired) })

const dueAgain = (note: DueNote): PendingNote => ({ ...note, awaited: [] })
