// The coordinator of one partition of __consumer_offsets: its groups, their offsets, and the offsets of open transactions.
import { errors, type RequestBody, type ResponseBody } from '../wire.js'
import { createGroup, type Group, type StoredGroup } from './group.js'
import type { Term } from './term.js'
import type { Marker } from './transaction-coordinator.js'

export type Committed = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly metadata: string
  /** Position in the log; the later of two commits wins. */
  readonly record: number
}

/** The state that survives a change of the coordinator. */
export type GroupStore = {
  readonly groups: Map<string, StoredGroup>
  readonly offsets: Map<string, Map<string, Committed>>
  /** Group → producer id → offsets that take effect when its transaction commits. */
  readonly pending: Map<string, Map<number, Map<string, Committed>>>
  readonly producers: Map<number, { epoch: number; coordinatorEpoch: number; isOngoing: boolean }>
  /** The latest committed offsets, oldest first, with the values they replaced. */
  replaced: readonly Replaced[]
  /** When its last coordinator left. */
  leftMs: number
  records: number
}

type Replaced = {
  readonly groupId: string
  readonly key: string
  readonly before: Committed | undefined
  readonly ms: number
}

export const emptyGroupStore = (): GroupStore => ({
  groups: new Map(),
  offsets: new Map(),
  pending: new Map(),
  producers: new Map(),
  replaced: [],
  leftMs: 0,
  records: 0,
})

/** A committed offset of a deleted topic. */
export type Removed = Committed & { readonly groupId: string }

export type CommitSeen = (commit: Committed & { readonly groupId: string; readonly isTransactional: boolean }) => void

export type GroupCoordinatorOptions = {
  readonly store: GroupStore
  readonly term: Term
  readonly initialDelayMs: number
  /**
   * The time after a takeover in which the coordinator does not know yet that the last commits are replicated. Until then it returns the
   * previous offsets to clients that do not ask for stable ones.
   */
  readonly behindMs: number
  readonly committed: CommitSeen
  /** Called for every offset that is removed with its topic. */
  readonly removed: (offset: Removed) => void
}

type NewOffset = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly metadata: string | null
}

const keyOf = ({ topic, partition }: { readonly topic: string; readonly partition: number }): string =>
  `${topic}/${partition}`

const childOf = <K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> => {
  let inner = map.get(key)
  if (!inner) map.set(key, (inner = new Map<L, V>()))
  return inner
}

/** A follower may learn of a replicated record this much later. */
const recentMs = 500

export type GroupCoordinator = ReturnType<typeof createGroupCoordinator>

export const createGroupCoordinator = ({
  store,
  term: given,
  initialDelayMs,
  behindMs,
  committed,
  removed,
}: GroupCoordinatorOptions) => {
  const { took, world } = given
  // A replicated write implies that all earlier ones are replicated.
  const term: Term = {
    ...given,
    write: (apply, done) =>
      given.write(() => {
        former.clear()
        apply()
      }, done),
  }
  const groups = new Map<string, Group>()
  /** Group → partition → the offset that clients see. */
  const former = new Map<string, Map<string, Committed | undefined>>()
  if (behindMs > 0) {
    for (const { groupId, key, before, ms } of store.replaced.toReversed())
      if (store.leftMs - ms <= recentMs) childOf(former, groupId).set(key, before)
    if (former.size > 0) took('coordinator does not know yet what is replicated')
    term.after(behindMs, () => former.clear())
  }

  const add = (id: string): Group => {
    const group = createGroup({
      id,
      term,
      initialDelayMs,
      stored: store.groups.get(id),
      store: (stored) => void store.groups.set(id, stored),
    })
    groups.set(id, group)
    return group
  }
  for (const id of new Set([...store.groups.keys(), ...store.offsets.keys(), ...store.pending.keys()])) add(id)

  const replacing = (groupId: string, key: string): void => {
    const { ms } = world
    const before = store.offsets.get(groupId)?.get(key)
    store.replaced = [...store.replaced.filter((one) => ms - one.ms <= recentMs), { groupId, key, before, ms }]
  }

  const place = (groupId: string, offsets: Map<string, Committed>, given: NewOffset): Committed => {
    const { topic, partition, offset, metadata } = given
    const commit = { topic, partition, offset, metadata: metadata ?? '', record: store.records++ }
    offsets.set(keyOf(given), commit)
    world.log(`group ${groupId}: ${topic}/${partition} at ${offset}`)
    return commit
  }

  const commit = (
    { groupId, memberId, generationId }: RequestBody<'OffsetCommit'>,
    offsets: readonly NewOffset[],
    done: (error: number) => void,
  ): void => {
    const group = groups.get(groupId)
    if (!group && generationId >= 0) {
      took('commit refused: old generation')
      done(errors.ILLEGAL_GENERATION)
      return
    }
    const error = (group ?? add(groupId)).mayCommit(memberId, generationId, false)
    if (error !== errors.NONE) {
      done(error)
      return
    }
    took(generationId < 0 ? 'offsets committed without a group' : 'offsets committed')
    term.write(() => {
      for (const each of offsets) {
        replacing(groupId, keyOf(each))
        const placed = place(groupId, childOf(store.offsets, groupId), each)
        committed({ ...placed, groupId, isTransactional: false })
      }
    }, done)
  }

  const hasOngoing = (producerId: number, epoch: number): boolean => {
    const known = store.producers.get(producerId)
    return known?.epoch === epoch && known.isOngoing
  }

  /** `isVerified`: the transaction coordinator has the group's offsets in the producer's transaction. */
  const commitInTransaction = (
    { groupId, producerId, producerEpoch }: RequestBody<'TxnOffsetCommit'>,
    offsets: readonly NewOffset[],
    done: (error: number) => void,
  ): void => {
    const group = groups.get(groupId) ?? add(groupId)
    const error = group.mayCommit('', -1, true)
    if (error !== errors.NONE) {
      done(error)
      return
    }
    const known = store.producers.get(producerId)
    if (known && known.epoch > producerEpoch) {
      took('transactional offsets refused: old epoch')
      done(errors.INVALID_PRODUCER_EPOCH)
      return
    }
    took('transactional offsets pending')
    term.write(() => {
      const coordinatorEpoch = store.producers.get(producerId)?.coordinatorEpoch ?? -1
      store.producers.set(producerId, { epoch: producerEpoch, coordinatorEpoch, isOngoing: true })
      const ours = childOf(childOf(store.pending, groupId), producerId)
      for (const each of offsets) place(groupId, ours, each)
    }, done)
  }

  /** The marker of a transaction: its offsets take effect now, or never. */
  const endTransaction = (marker: Marker, done: (error: number) => void): void => {
    const { producerId, producerEpoch, coordinatorEpoch } = marker
    const known = store.producers.get(producerId)
    if (known && known.epoch > producerEpoch) {
      took('marker refused: old epoch')
      done(errors.INVALID_PRODUCER_EPOCH)
      return
    }
    if (known && known.coordinatorEpoch > coordinatorEpoch) {
      took('marker refused: former coordinator')
      done(errors.TRANSACTION_COORDINATOR_FENCED)
      return
    }
    term.write(() => {
      store.producers.set(producerId, { epoch: producerEpoch, coordinatorEpoch, isOngoing: false })
      for (const [groupId, byProducer] of store.pending) {
        const ours = byProducer.get(producerId)
        if (!ours) continue
        byProducer.delete(producerId)
        took(marker.committed ? 'transactional offsets committed' : 'transactional offsets dropped')
        world.log(`group ${groupId}: offsets of producer ${producerId} ${marker.committed ? 'committed' : 'dropped'}`)
        if (!marker.committed) continue
        const offsets = childOf(store.offsets, groupId)
        for (const [key, one] of ours) {
          if ((offsets.get(key)?.record ?? -1) > one.record) {
            took('transactional offsets older than a plain commit')
            continue
          }
          replacing(groupId, key)
          offsets.set(key, one)
          committed({ ...one, groupId, isTransactional: true })
        }
      }
    }, done)
  }

  type Wanted = RequestBody<'OffsetFetch'>['topics']
  type FetchedOffsets = ResponseBody<'OffsetFetch'>['topics']
  type SettledOffsets = ResponseBody<'StableOffsetFetch'>['topics']

  const shown = (groupId: string): ReadonlyMap<string, Committed> | undefined => {
    const offsets = store.offsets.get(groupId)
    const hidden = former.get(groupId)
    if (!hidden) return offsets
    took('offsets read that were replaced before the coordinator moved')
    const all = new Map(offsets)
    for (const [key, before] of hidden)
      if (before) all.set(key, before)
      else all.delete(key)
    return all
  }

  /** Offsets of open transactions are not visible. */
  const fetch = (groupId: string, wanted: Wanted): FetchedOffsets => {
    const offsets = shown(groupId)
    const isPending = [...(store.pending.get(groupId)?.values() ?? [])].some((ours) => ours.size > 0)
    if (isPending) took('offsets read while a transaction has others')
    if (wanted === null) {
      took('offsets read: all')
      const topics = new Map<string, Committed[]>()
      for (const one of offsets?.values() ?? []) topics.set(one.topic, [...(topics.get(one.topic) ?? []), one])
      return [...topics].map(([topic, partitions]) => ({
        topic,
        partitions: partitions.map(({ partition, offset, metadata }) => ({
          partition,
          offset,
          metadata,
          errorCode: 0,
        })),
      }))
    }
    return wanted.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((partition) => {
        const one = offsets?.get(keyOf({ topic, partition }))
        took(one ? 'offsets read' : 'offsets read: none')
        return { partition, offset: one?.offset ?? -1, metadata: one?.metadata ?? '', errorCode: errors.NONE }
      }),
    }))
  }

  /** Answered after all pending writes. Rejects offsets that an open transaction may change. */
  const fetchSettled = (
    groupId: string,
    wanted: NonNullable<Wanted>,
    reply: (error: number, topics: SettledOffsets) => void,
  ): void => {
    let found: SettledOffsets = []
    const read = (): void => {
      const offsets = store.offsets.get(groupId)
      const open = [...(store.pending.get(groupId)?.values() ?? [])]
      found = wanted.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map((partition) => {
          const key = keyOf({ topic, partition })
          const one = offsets?.get(key)
          const isOpen = open.some((ours) => ours.has(key))
          took(isOpen ? 'settled offsets refused: in a transaction' : 'settled offsets read')
          const nothing = { partition, offset: -1, leaderEpoch: -1, metadata: '' }
          if (isOpen) return { ...nothing, errorCode: errors.UNSTABLE_OFFSET_COMMIT }
          return { ...nothing, ...(one && { offset: one.offset, metadata: one.metadata }), errorCode: errors.NONE }
        }),
      }))
    }
    // In the order of writes, like the real coordinator.
    term.write(read, (error) => reply(error, found))
  }

  const forget = (groupId: string): void => {
    groups.delete(groupId)
    store.groups.delete(groupId)
    store.offsets.delete(groupId)
    store.pending.delete(groupId)
  }

  return {
    groups: groups as ReadonlyMap<string, Group>,
    /** Only a member without an id creates a group. */
    groupToJoin: (id: string, memberId: string): Group | undefined =>
      groups.get(id) ?? (memberId === '' ? add(id) : undefined),
    commit,
    hasOngoing,
    commitInTransaction,
    endTransaction,
    fetch,
    fetchSettled,
    deleteGroup: (groupId: string): number => {
      const group = groups.get(groupId)
      if (!group || group.state !== 'Empty') {
        took('delete of a group refused')
        return group ? errors.NON_EMPTY_GROUP : errors.GROUP_ID_NOT_FOUND
      }
      took('group deleted')
      forget(groupId)
      return errors.NONE
    },
    deleteOffsets: (groupId: string, topic: string, partition: number): void => {
      took('offsets deleted')
      store.offsets.get(groupId)?.delete(keyOf({ topic, partition }))
    },
    /** The partitions are gone; each group learns of it when the coordinator processes the deletion. */
    topicDeleted: (topic: string): void => {
      for (const [groupId, byKey] of [
        ...store.offsets,
        ...[...store.pending].flatMap(([id, one]) => [...one.values()].map((offsets) => [id, offsets] as const)),
      ])
        for (const [key, one] of [...byKey])
          if (one.topic === topic) {
            took('offsets of a deleted topic removed')
            world.log(`offsets of ${key} removed`)
            byKey.delete(key)
            removed({ ...one, groupId })
          }
    },
    /** Expires offsets after offsets.retention.minutes without members. */
    expire: (groupId: string): boolean => {
      if (groups.get(groupId)?.state !== 'Empty') return false
      took('offsets expired')
      world.log(`offsets of group ${groupId} expired`)
      forget(groupId)
      return true
    },
    unload: (): void => {
      store.leftMs = world.ms
      for (const group of groups.values()) group.unload()
    },
  }
}
