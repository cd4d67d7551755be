// Listens to what deliveries tell about events and follows up those that left before their answers; a partition's former notes come from
// the sightings topic when it is assigned, also if no event arrives.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin } from '../kafka/client.js'
import { awaitedBy, rulesOfMember } from './revisit.js'
import type { PendingNote } from './pending.js'
import { failureOf } from '../kafka/failure.js'
import { openFollowUp, type FollowUpOptions } from './follow-late.js'
import type { ClaimNow } from '../delivery/delivery.js'
import { blockId, blockRecord, isAbout, readBlocks } from './sightings-topic.js'
import { nameOf, type Assigned } from '../kafka/fetched.js'
import type { DeliveryListener } from '../delivery/listener.js'

export type LateAnswersOptions = FollowUpOptions & { readonly claim: ClaimNow; readonly admin: Admin }

/** Before a restore that failed is tried again. */
const againMs = 1_000

export const openLateAnswers = (options: LateAnswersOptions): DeliveryListener => {
  const { claim, admin, sightingsTopic, emit, now } = options
  let partitions = new Map<string, Assigned>()
  /** Those whose former notes were read. */
  const restored = new Set<string>()
  let isClosed = false
  const followUp = openFollowUp(options, (partition) => {
    const assigned = partitions.get(nameOf(partition))
    if (assigned) restore({ ...assigned })
  })

  /** Forgets what is known of a partition and reads it from the topic, once its former owner can write nothing more. */
  const restore = (assigned: Assigned): void => {
    const name = nameOf(assigned)
    followUp.lost(assigned)
    restored.delete(name)
    partitions.set(name, assigned)
    const isOurs = (): boolean => !isClosed && partitions.get(name) === assigned
    const attempt = async (): Promise<void> => {
      while (isOurs())
        try {
          await restoreOnce(assigned, isOurs)
          return
        } catch (error) {
          if (!isOurs()) return
          emit({ event: 'kafka_client_warned', about: `sightings of ${name}`, message: failureOf(error).message })
          await sleep(againMs, undefined, { ref: false })
        }
    }
    void attempt()
  }

  const restoreOnce = async (assigned: Assigned, isOurs: () => boolean): Promise<void> => {
    if (!sightingsTopic) return
    const { offset: committed, topicId } = await claim(assigned)
    const { topic, partitions: count } = sightingsTopic
    const ends = await admin.fetchTopicOffsets(topic)
    const end = Number(ends.find(({ partition }) => partition === assigned.partition % count)?.high ?? 0)
    const blocks = await readBlocks(await followUp.reader(), sightingsTopic, assigned, end, isOurs)
    const isSameTopic = (await claim(assigned)).topicId === topicId
    if (!isOurs()) return
    if (!isSameTopic) throw new Error(`topic ${assigned.topic} was created again`)
    const others = blocks.filter((block) => !isAbout(block, topicId))
    if (others.length > 0) followUp.discard(assigned, others)
    // What is not committed at the claim was noted by ourselves since.
    const former = blocks.filter((block) => isAbout(block, topicId) && (block.notes[0]?.offset ?? Infinity) < committed)
    for (const block of former) followUp.restore(assigned, block)
    const pending = former.reduce((sum, { notes }) => sum + notes.length, 0)
    restored.add(nameOf(assigned))
    emit({ event: 'sightings_restored', topic: assigned.topic, partition: assigned.partition, pending })
  }

  return {
    chunk: ({ topic, partition }, topicId) => {
      let notes: PendingNote[] = []
      let id: string | undefined
      const firedBy = new Map<string, readonly string[]>()
      return {
        see: (offset, event) => {
          const awaited = awaitedBy(event)
          if (awaited.length > 0) notes.push({ offset, fired: [], awaited })
        },
        fired: ({ origin }, ruleIds) => {
          if (notes.length === 0) return
          const [record = origin, member] = origin.split('#')
          const before = firedBy.get(record) ?? []
          firedBy.set(record, member === undefined ? ruleIds : [...before, ...rulesOfMember(Number(member), ruleIds)])
        },
        records: () => {
          if (notes.length === 0) return []
          // Answers arrive in any order, and so do the events that waited for them.
          notes = notes
            .map((note) => ({ ...note, fired: firedBy.get(`${topic}/${partition}/${note.offset}`) ?? note.fired }))
            .sort((a, b) => a.offset - b.offset)
          id = blockId(notes, now(), topicId)
          return sightingsTopic ? [blockRecord(sightingsTopic, { topic, partition }, { id, notes }, now())] : []
        },
        committed: () => followUp.note({ topic, partition }, notes, id),
      }
    },
    joined: (assigned, isSameMember) => {
      const former = partitions
      partitions = new Map(assigned.map((one) => [nameOf(one), one]))
      for (const [name, one] of former) if (!partitions.has(name)) followUp.lost(one)
      if (!sightingsTopic) return
      for (const [name, one] of partitions) if (!isSameMember || !former.has(name) || !restored.has(name)) restore(one)
    },
    recreated: (partition) => {
      const assigned = partitions.get(nameOf(partition))
      if (!assigned) return
      // What is not restored yet is discarded then, by the id of its topic.
      if (!sightingsTopic || restored.has(nameOf(partition))) followUp.discard(assigned)
    },
    close: () => {
      isClosed = true
      return followUp.close()
    },
  }
}
