// Listens to what deliveries tell about events, and follows up those that left before their answers.
import { noteOfMember } from '../sightings/fired-by-member.js'
import type { PendingNote } from '../sightings/pending.js'
import { awaitedBy } from '../sightings/revisit.js'
import { openFollowUp, type FollowUpOptions } from './follow-up.js'
import { nameOf, type InputPartition, type Sightings } from './sightings.js'

export const openSightings = (options: FollowUpOptions): Sightings => {
  const followUp = openFollowUp(options)
  let partitions: readonly InputPartition[] = []
  return {
    chunk: ({ topic, partition }) => {
      let notes: PendingNote[] | undefined
      const firedBy = new Map<string, readonly string[]>()
      return {
        see: (offset, event) => {
          const awaited = awaitedBy(event)
          if (awaited.length > 0) (notes ??= []).push({ offset, fired: [], awaited })
        },
        fired: ({ origin }, ruleIds) => {
          const [record = origin, member] = origin.split('#')
          const before = firedBy.get(record) ?? []
          firedBy.set(record, member === undefined ? ruleIds : [...before, ...noteOfMember(Number(member), ruleIds)])
        },
        committed: () => {
          if (!notes) return
          const origin = `${topic}/${partition}`
          followUp.note(
            { topic, partition },
            firedBy.size === 0
              ? notes
              : notes.map((note) => ({ ...note, fired: firedBy.get(`${origin}/${note.offset}`) ?? note.fired })),
          )
        },
      }
    },
    joined: (assigned) => {
      const now = new Set(assigned.map(nameOf))
      for (const former of partitions) if (!now.has(nameOf(former))) followUp.lost(former)
      partitions = assigned
    },
    recreated: (topic) => {
      for (const partition of partitions) if (partition.topic === topic) followUp.lost(partition)
    },
    close: followUp.close,
  }
}
