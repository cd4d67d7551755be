// Listens to what deliveries tell about events and follows up those that left before their answers; a partition's former notes come from
// the sightings topic when it is assigned, also if no event arrives.
import { awaitedBy, firingsOfMember, isLeftByBudget, mayStillCome } from './revisit.js'
import type { PendingNote } from './pending.js'
import { followLate, type FollowUpOptions } from './follow-late.js'
import { restoreAssigned, type RestoreSource } from './restore-assigned.js'
import type { Tasks } from '../delivery/tasks.js'
import { blockId, blockRecord, isAbout, readBlocks, splitNotes } from './sightings-topic.js'
import { nameOf, type Assigned } from '../kafka/fetched.js'
import type { DeliveryListener } from '../delivery/listener.js'

export type LateAnswersOptions = FollowUpOptions & { readonly claim: Tasks['claim'] }

export const openLateAnswers = (options: LateAnswersOptions): DeliveryListener => {
  const { claim, sightingsTopic, emit, now } = options
  const followUp = followLate(
    options,
    (partition) => restoring.again(nameOf(partition)),
    (partition) => !sightingsTopic || restoring.isRestored(partition),
  )

  const notNoted = (firings: number): void => emit({ event: 'firings_not_noted', firings })
  const bounds = {
    max: options.max,
    dropped: (events: number): void => emit({ event: 'late_events_dropped', events, why: 'too_many' }),
  }
  const readNotes = async (
    assigned: Assigned,
    { offset, topicId, reader, end, isOurs }: RestoreSource,
  ): Promise<void> => {
    const blocks = sightingsTopic ? await readBlocks(reader, sightingsTopic, assigned, end, isOurs, bounds) : []
    const isSameTopic = (await claim(assigned)).topicId === topicId
    if (!isOurs()) return
    if (!isSameTopic) throw new Error(`topic ${assigned.topic} was created again`)
    const others = blocks.filter((block) => !isAbout(block, topicId))
    if (others.length > 0) followUp.discard(assigned, others)
    // What is not committed at the claim was noted by ourselves since.
    const former = blocks
      .filter((block) => isAbout(block, topicId))
      .map(({ id, notes }) => ({ id, notes: notes.filter((note) => note.offset < offset) }))
      .filter(({ notes }) => notes.length > 0)
    for (const block of former) followUp.restore(assigned, topicId, block)
    const pending = former.reduce((sum, { notes }) => sum + notes.length, 0)
    emit({ event: 'sightings_restored', topic: assigned.topic, partition: assigned.partition, pending })
  }

  const restoring = restoreAssigned({
    ...options,
    topic: sightingsTopic,
    restore: (assigned) => {
      followUp.lost(assigned)
      return (source) => readNotes(assigned, source)
    },
    lost: followUp.lost,
  })

  return {
    chunk: ({ topic, partition }, topicId) => {
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
          return sightingsTopic
            ? blocks.map((block) => blockRecord(sightingsTopic, { topic, partition }, block, now(), notNoted))
            : []
        },
        committed: () => {
          for (const { id, notes: some } of blocks) followUp.note({ topic, partition }, topicId, some, id)
          if (unawaited > 0) emit({ event: 'late_events_dropped', events: unawaited, why: 'no_answer' })
        },
      }
    },
    joined: restoring.joined,
    recreated: (partition) => {
      // What is not restored yet is discarded then, by the id of its topic.
      if (!sightingsTopic || restoring.isRestored(partition)) followUp.discard(partition)
    },
    close: () => {
      restoring.close()
      return followUp.close()
    },
  }
}
