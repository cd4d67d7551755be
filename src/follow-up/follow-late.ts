// What follows when an answer arrives after its event was delivered: the record is read again by its offset, annotated with what is known
// now, and what follows is written on behalf of its partition, together with the note that it was.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kafka } from '../kafka/client.js'
import { messageOf } from '../base/message-of.js'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import { createPending, type Block, type DueNote, type Pending, type PendingNote } from './pending.js'
import { mayStillCome, revisit, type RaiseLate } from './revisit.js'
import type { Emit, TelemetryEvent } from '../telemetry/event.js'
import { alertRecord, type AlertOut } from '../delivery/compose.js'
import { eventsOf } from '../delivery/chunks.js'
import { failureOf } from '../kafka/failure.js'
import { deliveredOf, type Delivered } from './sighting-counts.js'
import { readByOffset } from '../kafka/topic-reader.js'
import { shareReader, type SharedReader } from '../kafka/shared-reader.js'
import type { Task } from '../delivery/task.js'
import { blockRecord, type TopicOf } from './sightings-topic.js'
import type { InputPartition } from '../kafka/fetched.js'
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

/** What is followed up of one partition. */
type FollowUp = {
  /** Notes events of a chunk of this topic that are committed, and the id that their block is stored under. */
  readonly note: (topicId: string | undefined, notes: readonly PendingNote[], id?: string) => void
  /** Notes what a block from the sightings topic says. */
  readonly restore: (topicId: string | undefined, block: Block) => void
  /** Its offsets mean nothing any more: what was noted is deleted, from the topic too. With blocks: these, but for what is noted since. */
  readonly discard: (stored?: readonly Pick<Block, 'id'>[]) => void
  readonly close: () => Promise<void>
}

/** What is told about events that are annotated again with their answers. */
export type LateEvents = {
  /** What is written with what follows. */
  readonly records: (events: readonly Delivered[]) => readonly Outgoing[]
  /** Call when that is written. */
  readonly written: (events: readonly Delivered[]) => void
}

export type FollowLate = {
  /** Nothing is followed up before `isRestored`. `late`: who counts the events. */
  readonly open: (task: Task, isRestored: () => boolean, late: LateEvents | undefined) => FollowUp
  readonly close: () => void
}

/** At most so much is read again at once. */
const passLimits = { events: 2_000, bytes: 4_194_304 }
/** Answers come one by one: those of this time are followed up together. */
const gatherMs = 100
/** Between two passes, however long one takes. */
const maxPauseMs = 10_000
/** After a pass that could not be written. */
const againMs = 1_000

export const followLate = (options: FollowUpOptions): FollowLate => {
  const { connect, emit } = options
  const reader = shareReader(connect)
  const pending = createPending({ dropped: (notes) => tellDropped(notes, 'too_many', emit), max: options.max })
  return {
    open: (task, isRestored, late) => openFollowUp(task, isRestored, options, pending, reader, late),
    close: reader.discard,
  }
}

const tellDropped = (
  events: number,
  why: Extract<TelemetryEvent, { event: 'late_events_dropped' }>['why'],
  emit: Emit,
): void => {
  if (events > 0) emit({ event: 'late_events_dropped', events, why })
}

const openFollowUp = (
  task: Task,
  isRestored: () => boolean,
  options: FollowUpOptions,
  pending: Pick<Pending, 'open'>,
  reader: SharedReader,
  late: LateEvents | undefined,
): FollowUp => {
  const { pipeline, sightingsTopic, correct, isStillRead, isReadIn, emit, now, reachableMs } = options
  const { pause = sleepFor } = options
  const { name, signal } = task
  const raise = options.alerts?.raise ?? raiseNone
  /** Of the topic that the noted offsets are in. */
  let notedIn: string | undefined
  /** Another object once what was noted is forgotten. */
  let noted: object = {}
  let passing: Promise<void> | undefined

  const alertOf = (alert: AlertOut): Outgoing => {
    const { topic = '', partitions = 1 } = options.alerts?.topic ?? {}
    return alertRecord(topic, partitions, alert, now())
  }

  const notNoted = (firings: number): void => emit({ event: 'firings_not_noted', firings })

  const dropped = (events: number, why: Parameters<typeof tellDropped>[1]): void => tellDropped(events, why, emit)

  const notes = pending.open(() => {
    if (passing || signal.aborted) return
    passing = followAll().catch((error: unknown) => {
      passing = undefined
      if (!signal.aborted) emit({ event: 'follow_up_failed', what: 'late answers', cause: messageOf(error) })
    })
  })

  const followAll = async (): Promise<void> => {
    for (let pauseMs = gatherMs; ;) {
      await pause(pauseMs, signal)
      if (!isRestored()) {
        pauseMs = againMs
        continue
      }
      const due = notes.take(passLimits.events)
      if (due.length === 0) {
        passing = undefined
        return
      }
      const before = noted
      const began = reachableMs()
      const isFollowed = await follow(due).catch((error: unknown) => {
        emit({ event: 'kafka_client_warned', about: `late answers of ${name}`, message: failureOf(error).message })
        reader.discard()
        return false
      })
      if (!isFollowed && noted === before) notes.wait(due.map(dueAgain))
      // At most a fifth of the time goes to late answers: events that arrive now have a deadline.
      pauseMs = isFollowed ? Math.min(maxPauseMs, Math.max(gatherMs, 4 * (reachableMs() - began))) : againMs
    }
  }

  /** False if nothing was written and it should be tried again. */
  const follow = async (due: readonly DueNote[]): Promise<boolean> => {
    const [before, former] = [noted, notedIn]
    const isOurs = (): boolean => !signal.aborted && noted === before
    /** Another process may notice that first, and commit in the new topic before this one reads it. */
    const isOfFormerTopic = (): boolean => former !== undefined && !isReadIn(task, former)
    const offsets = due.map(({ offset }) => offset)
    const read = await readByOffset(await reader.open(), task, offsets, passLimits.bytes)
    // Other records have these offsets now. Whoever reads the partition notices that as well, and has the notes deleted.
    if (!(await isStillRead(task))) return false
    if (isOfFormerTopic()) {
      discard()
      return true
    }
    const noteOf = new Map(due.map((note) => [note.offset, note]))
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
    const answered = late ? events.map(({ event, note }) => deliveredOf(note.offset, event, now())) : []
    const isFollowedHere = (): boolean => isOurs() && !isOfFormerTopic()
    const attempt = { isLeft: false }
    const written = await task.write(() => {
      attempt.isLeft = !isFollowedHere()
      if (attempt.isLeft) return []
      const storeIn = sightingsTopic
      const stored = storeIn
        ? notes.blocksAfter(settled, open).map((block) => blockRecord(storeIn, task, block, now(), notNoted))
        : []
      return [...alerts.map(alertOf), ...corrections, ...stored, ...(late?.records(answered) ?? [])]
    })
    if (attempt.isLeft || written === 'closed') notWritten?.(isFollowedHere())
    else if (written === 'written') committed?.()
    if (!isOurs()) return true
    if (isOfFormerTopic()) {
      discard()
      return true
    }
    if (attempt.isLeft || written === 'closed') return false
    notes.settle(settled)
    late?.written(answered)
    notes.wait([...open, ...due.filter(({ offset }) => unread.has(offset)).map(dueAgain)])
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

  /** What is noted next is in the topic with this id. */
  const enter = (topicId: string | undefined): void => {
    if (topicId === undefined) return
    if ((notedIn ?? topicId) !== topicId) discard()
    notedIn = topicId
  }

  const forget = (): void => {
    notedIn = undefined
    noted = {}
    notes.clear()
  }

  const discard: FollowUp['discard'] = (stored) => {
    const topic = sightingsTopic
    const known = notes.blocks()
    const wrong = stored?.map(({ id }) => id).filter((id) => !known.includes(id)) ?? known
    const records = topic ? wrong.map((id) => blockRecord(topic, task, { id, notes: [] }, now())) : []
    if (!stored) forget()
    if (records.length > 0) void task.write(() => records)
  }

  return {
    note: (topicId, events, id) => {
      // A chunk of a former topic may be the last to be delivered: nothing of it can be read again.
      const isGone = topicId !== undefined && !isReadIn(task, topicId)
      if (events.length === 0 || isGone || signal.aborted) return
      enter(topicId)
      notes.note(events, id)
    },
    restore: (topicId, block) => {
      enter(topicId)
      notes.restore(block.notes.map(dueAgain), block.id)
    },
    discard,
    close: async () => {
      notes.clear()
      await passing
    },
  }
}

const sleepFor = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal, ref: false })

const raiseNone: RaiseLate<EventOut, AlertOut> = (events) => ({ alerts: [], fired: events.map(({ fired }) => fired) })

const dueAgain = (note: DueNote): PendingNote => ({ ...note, awaited: [] })
