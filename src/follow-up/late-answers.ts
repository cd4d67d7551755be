// Notes the events that were delivered before their answers, and follows them up.
// When a partition is assigned, earlier notes are restored from the sightings topic, even if no event arrives.
import { awaitedBy, firingsOfMember, isLeftByBudget, mayStillCome } from './revisit.js'
import type { PendingNote } from './pending.js'
import { followLate, type FollowLate, type FollowUpOptions, type LateAlerts, type LateEvents } from './follow-late.js'
import type { StateFold, TaskState } from './restore-state.js'
import { blockId, blockValue, createBlocks, isAbout, splitNotes } from './sightings-topic.js'
import type { ChunkListener, PartitionState } from '../delivery/listener.js'
import type { Outgoing } from '../kafka/records.js'
import type { Task } from '../delivery/task.js'

type LateAnswers = {
  /** `state` is absent if no state is kept. */
  readonly open: (task: Task, state?: TaskState, late?: LateEvents, alerts?: LateAlerts) => NotedPartition
}

type NotedPartition = Omit<PartitionState, 'chunk'> & {
  readonly chunk: (topicId?: string) => NotedChunk
  /** Whether no version 1 record holds a note. */
  readonly isVersion2: () => boolean
}

type NotedChunk = Omit<ChunkListener, 'records' | 'givenUp'> & {
  /** Call with the rules that fired for an event, each with its indicator, once all events of the chunk were seen. */
  readonly fired: (event: { readonly origin: string }, firings: readonly string[]) => void
  /** Call once after that. Returns the notes to write with the chunk. */
  readonly records: () => readonly Outgoing[]
}

export const openLateAnswers = (options: FollowUpOptions): LateAnswers => {
  const following = followLate(options)
  return {
    open: (task, state, late, alerts) => lateAnswersOf(task, state, options, following, late, alerts),
  }
}

const lateAnswersOf = (
  task: Task,
  state: TaskState | undefined,
  options: FollowUpOptions,
  following: Pick<FollowLate, 'open'>,
  late: LateEvents | undefined,
  alerts: LateAlerts | undefined,
): NotedPartition => {
  const { emit, now } = options
  const { topic, partition } = task
  // Wait for the restore: a note settled earlier would be restored once more, and followed up twice.
  const followUp = following.open(task, () => restoring?.isRestored() ?? true, state, late, alerts)
  const notNoted = (firings: number): void => emit({ event: 'firings_not_noted', firings })
  const bounds = {
    max: options.max,
    dropped: (events: number): void => emit({ event: 'late_events_dropped', events, why: 'too_many' }),
  }
  const beginReading: StateFold['begin'] = (source) => {
    const blocks = createBlocks(bounds)
    return Promise.resolve({ apply: blocks.apply, end: () => takeUp(blocks.all(), source) })
  }
  const takeUp = (
    blocks: ReturnType<ReturnType<typeof createBlocks>['all']>,
    { offset, topicId, isOurs }: Parameters<StateFold['begin']>[0],
  ): void => {
    if (!isOurs()) return
    const others = blocks.filter((block) => !isAbout(block, topicId))
    if (others.length > 0) followUp.discard(others)
    // Offsets at or beyond the claimed one were noted by this process.
    const former = blocks
      .filter((block) => isAbout(block, topicId))
      .map((block) => ({ ...block, notes: block.notes.filter((note) => note.offset < offset) }))
      .filter(({ notes }) => notes.length > 0)
    for (const block of former) followUp.restore(block)
    const pending = former.reduce((sum, { notes }) => sum + notes.length, 0)
    emit({ event: 'sightings_restored', topic, partition, pending })
  }

  const restoring = state?.restore({ kinds: ['pending'], isFirst: false, begin: beginReading })

  return {
    chunk: (topicId) => {
      let notes: PendingNote[] = []
      let blocks: readonly { readonly id: string; readonly notes: readonly PendingNote[] }[] = []
      let unawaited = 0
      const firedBy = new Map<string, readonly string[]>()
      return {
        see: (offset, event) => {
          const awaited = awaitedBy(event)
          if (awaited.length > 0) notes.push({ offset, fired: [], awaited, isFree: isLeftByBudget(event) })
          else if (event.status !== 'complete' && event.judged.some(mayStillCome)) unawaited++
        },
        fired: ({ origin }, firings) => {
          if (notes.length === 0) return
          const [record = origin, member] = origin.split('#')
          const before = firedBy.get(record) ?? []
          firedBy.set(record, member === undefined ? firings : [...before, ...firingsOfMember(Number(member), firings)])
        },
        records: () => {
          if (notes.length === 0) return []
          // Answers arrive in any order, and so do the events that waited for them.
          notes = notes
            .map((note) => ({ ...note, fired: firedBy.get(`${topic}/${partition}/${note.offset}`) ?? note.fired }))
            .sort((a, b) => a.offset - b.offset)
          blocks = splitNotes(notes).map((some) => ({ id: blockId(some, now(), topicId), notes: some }))
          return state ? blocks.map((block) => state.record('pending', block.id, blockValue(block, notNoted))) : []
        },
        committed: () => {
          for (const { id, notes: some } of blocks) followUp.note(some, id)
          if (unawaited > 0) emit({ event: 'late_events_dropped', events: unawaited, why: 'no_answer' })
        },
      }
    },
    // The restore deletes notes of a former topic, which it knows by their topic id.
    recreated: () => undefined,
    isVersion2: () => (restoring?.isRestored() ?? true) && followUp.isVersion2(),
    close: followUp.close,
  }
}
