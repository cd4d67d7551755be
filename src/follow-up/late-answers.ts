// Listens to what deliveries tell about events and follows up those that left before their answers; a partition's former notes come from
// the sightings topic when it is assigned, also if no event arrives.
import { awaitedBy, firingsOfMember, isLeftByBudget, mayStillCome } from './revisit.js'
import type { PendingNote } from './pending.js'
import { followLate, type FollowLate, type FollowUpOptions, type LateEvents } from './follow-late.js'
import { restoreState, type RestoreSource } from './restore-state.js'
import { blockId, blockRecord, isAbout, readBlocks, splitNotes, type TopicOf } from './sightings-topic.js'
import { shareReader, type SharedReader } from '../kafka/shared-reader.js'
import type { PartitionState } from '../delivery/listener.js'
import type { Task } from '../delivery/task.js'

type LateAnswers = {
  readonly open: (task: Task, late?: LateEvents) => PartitionState
  readonly close: () => void
}

export const openLateAnswers = (options: FollowUpOptions): LateAnswers => {
  const following = followLate(options)
  const reader = shareReader(options.connect)
  return {
    open: (task, late) => lateAnswersOf(task, options, following, reader, late),
    close: () => {
      reader.discard()
      following.close()
    },
  }
}

const lateAnswersOf = (
  task: Task,
  options: FollowUpOptions,
  following: Pick<FollowLate, 'open'>,
  reader: SharedReader,
  late: LateEvents | undefined,
): PartitionState => {
  const { sightingsTopic, emit, now } = options
  const { topic, partition } = task
  // What is followed up before would be settled behind the reader's back, and followed up again.
  const followUp = following.open(task, () => restoring?.isRestored() ?? true, late)
  const notNoted = (firings: number): void => emit({ event: 'firings_not_noted', firings })
  const bounds = {
    max: options.max,
    dropped: (events: number): void => emit({ event: 'late_events_dropped', events, why: 'too_many' }),
  }
  const readNotes = async (
    stored: TopicOf,
    { offset, topicId, reader: opened, end, isOurs }: RestoreSource,
  ): Promise<void> => {
    const blocks = await readBlocks(opened, stored, task, end, isOurs, bounds)
    const isSameTopic = (await task.claim()).topicId === topicId
    if (!isOurs()) return
    if (!isSameTopic) throw new Error(`topic ${topic} was created again`)
    const others = blocks.filter((block) => !isAbout(block, topicId))
    if (others.length > 0) followUp.discard(others)
    // What is not committed at the claim was noted by ourselves since.
    const former = blocks
      .filter((block) => isAbout(block, topicId))
      .map(({ id, notes }) => ({ id, notes: notes.filter((note) => note.offset < offset) }))
      .filter(({ notes }) => notes.length > 0)
    for (const block of former) followUp.restore(topicId, block)
    const pending = former.reduce((sum, { notes }) => sum + notes.length, 0)
    emit({ event: 'sightings_restored', topic, partition, pending })
  }

  const restoring =
    sightingsTopic &&
    restoreState(task, {
      topic: sightingsTopic,
      reader,
      restore: (source) => readNotes(sightingsTopic, source),
      emit,
    })

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
          return sightingsTopic ? blocks.map((block) => blockRecord(sightingsTopic, task, block, now(), notNoted)) : []
        },
        committed: () => {
          for (const { id, notes: some } of blocks) followUp.note(topicId, some, id)
          if (unawaited > 0) emit({ event: 'late_events_dropped', events: unawaited, why: 'no_answer' })
        },
      }
    },
    recreated: () => {
      // What is not restored yet is discarded then, by the id of its topic.
      if (restoring?.isRestored() ?? true) followUp.discard()
    },
    close: followUp.close,
  }
}
