// Follows up answers that arrive after delivery of their event.
// The record is read again by its offset and annotated anew. Its alerts and corrections are written for its partition, together with the
// settled note.
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../base/message-of.js'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import { createPending, type Block, type DueNote, type Pending, type PendingNote } from './pending.js'
import { mayStillCome, revisit, type RaiseLate } from './revisit.js'
import type { Emit, TelemetryEvent } from '../telemetry/event.js'
import { eventsOf } from '../delivery/chunks.js'
import { failureOf } from '../kafka/failure.js'
import { deliveredOf, type Delivered } from './sighting-counts.js'
import type { Task } from '../delivery/task.js'
import { blockValue } from './sightings-topic.js'
import type { TaskState } from './restore-state.js'
import type { StateRecord } from './state-record.js'
import type { Incoming, Outgoing } from '../kafka/records.js'

export type FollowUpOptions = {
  /** Annotates with current knowledge, without waiting. */
  readonly pipeline: Pipeline
  /** Composes the corrections of a record; undefined stands for one that is too large. */
  readonly correct?: ((record: Incoming, event: EventOut) => readonly (Outgoing | undefined)[]) | undefined
  /** Limit on noted events. */
  readonly max: number
  readonly emit: Emit
  readonly now: () => number
  /** Milliseconds that exclude outages. */
  readonly reachableMs: () => number
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

/** The follow-up of one partition. */
type FollowUp = {
  /** Notes committed events of a chunk, stored as the block with this id. */
  readonly note: (notes: readonly PendingNote[], id?: string) => void
  /** Notes the events of a block from the sightings topic. */
  readonly restore: (block: Stored & Block) => void
  /** Whether no version 1 record holds a note. */
  readonly isVersion2: () => boolean
  /** Deletes blocks from the sightings topic whose offsets belong to a former topic. */
  readonly discard: (stored: readonly Stored[]) => void
  readonly close: () => Promise<void>
}

type Stored = Pick<Block, 'id'> & Pick<StateRecord, 'version'>

/** Observes events that are annotated again with their answers. */
export type LateEvents = {
  /** Records to write with the follow-up. */
  readonly records: (events: readonly Delivered[]) => readonly Outgoing[]
  /** Call once the follow-up is written. */
  readonly written: (events: readonly Delivered[]) => void
}

/** The late alerts of one partition. */
export type LateAlerts = {
  /** Whether the earlier alerts are restored. */
  readonly isReady: () => boolean
  readonly begin: () => LateDraft
}

/** The late alerts of one write. */
type LateDraft = {
  readonly raise: RaiseLate<EventOut, Outgoing>
  /** The window records to write with the alerts. */
  readonly windows: () => readonly Outgoing[]
  readonly commit: () => void
  readonly giveUp: () => void
}

export type FollowLate = {
  /**
   * Nothing is followed up before `isRestored`. `state` keeps notes for the next owner of the partition; without it they stay in memory.
   * `late` counts the events. `alerts` is absent if alerts are off.
   */
  readonly open: (
    task: Task,
    isRestored: () => boolean,
    state: TaskState | undefined,
    late: LateEvents | undefined,
    alerts?: LateAlerts,
  ) => FollowUp
}

/** Limits on the events and bytes read again in one pass. */
const passLimits = { events: 2_000, bytes: 4_194_304 }
/** Answers arrive one by one; those within this time are handled together. */
const gatherMs = 100
/** Longest pause between two passes. */
const maxPauseMs = 10_000
/** Delay after a pass that could not be written. */
const againMs = 1_000

export const followLate = (options: FollowUpOptions): FollowLate => {
  const { emit } = options
  const pending = createPending({ dropped: (notes) => tellDropped(notes, 'too_many', emit), max: options.max })
  return {
    open: (task, isRestored, state, late, alerts) =>
      openFollowUp(task, isRestored, state, options, pending, late, alerts),
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
  state: TaskState | undefined,
  options: FollowUpOptions,
  pending: Pick<Pending, 'open'>,
  late: LateEvents | undefined,
  lateAlerts: LateAlerts = withoutAlerts,
): FollowUp => {
  const { pipeline, correct, emit, now, reachableMs } = options
  const { pause = sleepFor } = options
  const { name, signal } = task
  let passing: Promise<void> | undefined
  /** Blocks still stored in version 1 records. */
  const former = new Set<string>()
  const recordsOf = (blocks: readonly Block[]): readonly Outgoing[] =>
    state
      ? blocks.flatMap((block) => [
          state.record('pending', block.id, blockValue(block, notNoted)),
          ...(former.has(block.id) ? [state.deleteFormer('pending', block.id)] : []),
        ])
      : []
  const rewritten = (blocks: readonly Pick<Block, 'id'>[]): void => {
    for (const { id } of blocks) former.delete(id)
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
      if (!isRestored() || !lateAlerts.isReady()) {
        pauseMs = againMs
        continue
      }
      const due = notes.take(passLimits.events)
      if (due.length === 0) {
        passing = undefined
        return
      }
      const began = reachableMs()
      const isFollowed = await follow(due).catch((error: unknown) => {
        emit({ event: 'kafka_client_warned', about: `late answers of ${name}`, message: failureOf(error).message })
        return false
      })
      if (!isFollowed) notes.wait(due.map(dueAgain))
      // Spend at most a fifth of the time on late answers, because live events have a deadline.
      pauseMs = isFollowed ? Math.min(maxPauseMs, Math.max(gatherMs, 4 * (reachableMs() - began))) : againMs
    }
  }

  /** False if the write failed and should be retried. */
  const follow = async (due: readonly DueNote[]): Promise<boolean> => {
    const offsets = due.map(({ offset }) => offset)
    const read = await task.readAgain(offsets, passLimits.bytes)
    const noteOf = new Map(due.map((note) => [note.offset, note]))
    const records = read.records.map((record) => ({ ...record, isFree: noteOf.get(Number(record.offset))?.isFree }))
    const events = (await eventsOf(records, pipeline)).flatMap((event, place) => {
      const note = noteOf.get(Number(records[place]?.offset))
      return event && note ? [{ event, note }] : []
    })
    const recordOf = new Map(records.map((record) => [Number(record.offset), record]))
    const unread = new Set(read.rest)
    const answered = late ? events.map(({ event, note }) => deliveredOf(note.offset, event, now())) : []
    /** Recomputed for each attempt, because the firings depend on writes in between. */
    let tried: Tried | undefined
    let stored: readonly Block[] = []
    const attempt = (): Tried => {
      const draft = lateAlerts.begin()
      const { alerts, done, open } = revisit(events, draft.raise)
      const stays = new Set([...read.rest, ...open.map(({ offset }) => offset)])
      const corrected = done.flatMap(({ offset, event }) => {
        const record = recordOf.get(offset)
        return (record && correct?.(record, event)) ?? []
      })
      const settled = offsets.filter((offset) => !stays.has(offset))
      return { draft, alerts, done, open, settled, corrected, corrections: corrected.filter(isThere) }
    }
    const written = await task.write(() => {
      tried?.draft.giveUp()
      tried = attempt()
      const { draft, alerts, open, settled, corrections } = tried
      stored = state ? notes.blocksAfter(settled, open) : []
      return [...alerts, ...corrections, ...draft.windows(), ...recordsOf(stored), ...(late?.records(answered) ?? [])]
    })
    // A refused write leaves no records, so the draft is undone.
    if (written === 'written') {
      tried?.draft.commit()
      rewritten(stored)
    } else tried?.draft.giveUp()
    if (signal.aborted) return true
    if (!tried || written === 'closed') return false
    const { done, open, settled, corrected, corrections } = tried
    notes.settle(settled)
    late?.written(answered)
    notes.wait([...open, ...due.filter(({ offset }) => unread.has(offset)).map(dueAgain)])
    const isLost = written !== 'written'
    if (corrections.length > 0 && !isLost) emit({ event: 'events_corrected', events: corrections.length })
    const uncorrected = isLost ? 0 : corrected.length - corrections.length
    // No lookup is left that could still answer.
    const unanswered = isLost ? 0 : done.filter(({ event }) => event.judged.some(mayStillCome)).length
    dropped(read.gone.length, 'record_gone')
    dropped(uncorrected, 'correction_too_large')
    dropped(unanswered, 'no_answer')
    if (isLost) dropped(settled.length - read.gone.length, 'refused')
    return true
  }

  return {
    note: (events, id) => {
      if (events.length > 0 && !signal.aborted) notes.note(events, id)
    },
    restore: (block) => {
      if (block.version === 1) former.add(block.id)
      notes.restore(block.notes.map(dueAgain), block.id)
    },
    isVersion2: () => former.size === 0,
    discard: (outdated) => {
      for (const { id, version } of outdated) if (version === 1) former.add(id)
      const blocks = outdated.map(({ id }) => ({ id, notes: [] }))
      void task
        .write(() => recordsOf(blocks))
        .then((written) => {
          if (written === 'written') rewritten(blocks)
        })
    },
    close: async () => {
      notes.clear()
      await passing
    },
  }
}

const sleepFor = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal, ref: false })

/** The records of one attempt, and the notes that it settles or keeps. */
type Tried = Pick<ReturnType<typeof revisit<EventOut, Outgoing>>, 'alerts' | 'done' | 'open'> & {
  readonly draft: LateDraft
  readonly settled: readonly number[]
  readonly corrected: readonly (Outgoing | undefined)[]
  readonly corrections: readonly Outgoing[]
}

const isThere = (record: Outgoing | undefined): record is Outgoing => record !== undefined

const nothing = (): void => undefined
const withoutAlerts: LateAlerts = {
  isReady: () => true,
  begin: () => ({
    raise: (events) => ({ alerts: [], fired: events.map(({ fired }) => fired) }),
    windows: () => [],
    commit: nothing,
    giveUp: nothing,
  }),
}

const dueAgain = (note: DueNote): PendingNote => ({ ...note, awaited: [] })
