// The shared state of a cluster's brokers: the controller's image, the logs, and the coordinators' stores.
import type { Process, Random, World } from '../world.js'
import type { Network } from '../network.js'
import { errors } from '../wire.js'
import { between, below } from '../world.js'
import { createGroupCoordinator, emptyGroupStore, type CommitSeen, type GroupCoordinator, type GroupCoordinatorOptions, type GroupStore } from './group-coordinator.js' // prettier-ignore
import { offsetsTopic, partitionFor, type Image } from './image.js'
import { createLog, type Log, type Reach, type StoredBatch } from './log.js'
import type { Took } from './paths.js'
import { beginTerm, type Term } from './term.js'
import { createTransactionCoordinator, type Marker, type TransactionCoordinator, type TransactionStore } from './transaction-coordinator.js' // prettier-ignore

export type ClusterTimes = {
  /** The processing time of a request. */
  readonly workMs: readonly [number, number]
  /** The delay until a broker learns of a decision; one in `lateOneIn` takes up to `lateMs`. */
  readonly learnMs: readonly [number, number]
  readonly lateOneIn: number
  readonly lateMs: number
  /** The delay until the other replicas have a record. */
  readonly replicationMs: readonly [number, number]
  /** One in so many records waits up to `slowReplicationMs` for a slow follower. */
  readonly slowReplicationOneIn: number
  readonly slowReplicationMs: number
  readonly coordinatorWriteMs: readonly [number, number]
  readonly coordinatorLoadMs: readonly [number, number]
  readonly markerMs: readonly [number, number]
  /** The delay until a group's new coordinator knows that the state it took over is replicated. */
  readonly settleMs: readonly [number, number]
  /** One in so many transactions gets its markers up to `lateMarkersMs` later; 0 turns this off. */
  readonly lateMarkersOneIn: number
  readonly lateMarkersMs: number
  /** The delay until the offsets of a deleted topic are removed; one in `lateOneIn` takes up to `lateRemovalMs`. */
  readonly lateRemovalMs: number
  /** The delay until the controller notices a crashed broker. */
  readonly brokerSessionMs: readonly [number, number]
  /** group.initial.rebalance.delay.ms */
  readonly initialRebalanceDelayMs: number
}

type Waiting = { readonly reached: number; readonly epoch: number; readonly reply: (error: number) => void }

export type Partition = {
  readonly topic: string
  readonly topicId: string
  readonly number: number
  readonly log: Log
  /** The actual leader and its epoch. */
  leader: number
  epoch: number
  /** False until the other replicas have fetched from a new leader, whose high watermark lags behind. */
  isHighKnown: boolean
  /** The log end when each broker last started. */
  readonly startedAt: Map<number, number>
  /** What a replaced leader had; it serves this until it learns of the new leader. */
  readonly hadWhenReplaced: Map<number, Reach>
  waiting: Waiting[]
}

type Lead<S, C> = {
  readonly number: number
  readonly store: S
  broker: number
  epoch: number
  term: Term | undefined
  /** Undefined while it loads. */
  coordinator: C | undefined
}
/** `ledBy`: the last leader. */
export type GroupPartition = Lead<GroupStore, GroupCoordinator> & { ledBy: number }
export type TransactionPartition = Lead<TransactionStore, TransactionCoordinator>

export type Shared = {
  readonly world: World
  readonly network: Network
  readonly random: Random
  /** A separate stream for later additions, so that existing draws stay the same. */
  readonly late: Random
  readonly took: Took
  readonly times: ClusterTimes
  readonly image: () => Image
  readonly change: (update: (image: Image) => Image) => void
  /** Logs of all topics that ever existed, by topic id. */
  readonly partitions: Map<string, Partition[]>
  readonly groups: readonly GroupPartition[]
  readonly transactions: readonly TransactionPartition[]
  readonly nextProducerId: () => number
  readonly newTopicId: () => string
  readonly addressOf: (broker: number) => { readonly host: string; readonly port: number }
  readonly processOf: (broker: number) => Process
  readonly deliverMarker: (from: number, partition: string, marker: Marker, done: () => void) => void
  readonly committed: CommitSeen
  readonly removed: GroupCoordinatorOptions['removed']
  /** Called for every batch appended anywhere. */
  readonly appended: (batch: StoredBatch, partition: Partition) => void
  readonly autoCreateTopics: boolean
  /** Topics that deny all writes. */
  readonly denied: Set<string>
  /** Changed `max.message.bytes` by topic. */
  readonly maxBytes: Map<string, number>
}

export const drawMs = (random: Random, [least, most]: readonly [number, number]): number => between(random, least, most)

export const newPartition = (
  took: Took,
  topic: string,
  topicId: string,
  number: number,
  appended: (batch: StoredBatch, partition: Partition) => void,
): Partition => {
  const partition: Partition = {
    topic,
    topicId,
    number,
    log: createLog(took, (batch) => appended(batch, partition)),
    leader: -1,
    epoch: -1,
    isHighKnown: true,
    startedAt: new Map(),
    hadWhenReplaced: new Map(),
    waiting: [],
  }
  return partition
}

// ---- partitions ----

/** Answers the requests that wait for replicated records. */
const answerWaiting = (partition: Partition): void => {
  const { log } = partition
  // Requests at a former leader wait until it learns of its replacement, because their records may be lost.
  const isReady = ({ reached, epoch }: Waiting): boolean => epoch === partition.epoch && reached < log.high
  const ready = partition.waiting.filter(isReady)
  if (ready.length === 0) return
  partition.waiting = partition.waiting.filter((one) => !isReady(one))
  for (const { reply } of ready) reply(errors.NONE)
}

/** Calls `reply` when the record at this offset is on all in-sync replicas. */
export const whenReplicated = (
  { world, random, times, took, image, processOf }: Shared,
  partition: Partition,
  offset: number,
  reply: (error: number) => void,
): void => {
  const { log, epoch } = partition
  if (offset < log.high) {
    reply(errors.NONE)
    return
  }
  const isr = image().topics.get(partition.topic)?.partitions[partition.number]?.isr ?? []
  if (isr.length <= 1) {
    log.advanceHigh(offset + 1)
    answerWaiting(partition)
    reply(errors.NONE)
    return
  }
  took('produce waited for replication')
  partition.waiting.push({ reached: offset, epoch, reply })
  const advance = (): void => {
    if (partition.epoch !== epoch) return
    log.advanceHigh(offset + 1)
    answerWaiting(partition)
  }
  const isSlow = below(random, times.slowReplicationOneIn) === 0
  const ms = drawMs(random, isSlow ? [0, times.slowReplicationMs] : times.replicationMs)
  world.after(ms, advance, processOf(partition.leader))
}

/** Fails requests that wait at a leader of an earlier epoch. */
export const sendAway = (partition: Partition, took: Took, error: number, before = Infinity): void => {
  const gone = partition.waiting.filter(({ epoch }) => epoch < before)
  if (gone.length === 0) return
  partition.waiting = partition.waiting.filter(({ epoch }) => epoch >= before)
  for (const { reply } of gone) {
    took('produce lost its leader while replicating')
    reply(error)
  }
}

/** A broker takes over with a random part of the records that the previous leader had not replicated. */
export const takeOver = (shared: Shared, partition: Partition, broker: number, epoch: number): void => {
  const { world, random, took, times, processOf } = shared
  const { log } = partition
  const isOther = partition.leader !== broker
  log.forgetAppendsBefore(partition.startedAt.get(broker) ?? 0)
  if (isOther) partition.hadWhenReplaced.set(partition.leader, log.reach())
  Object.assign(partition, { leader: broker, epoch })
  if (log.end > log.high && isOther) {
    const places = [log.high, ...log.batches.filter(({ base }) => base >= log.high).map(({ last }) => last + 1)]
    const cut = places[below(random, places.length)] ?? log.end
    if (cut === log.end) took('records kept by a new leader')
    log.truncate(cut)
  }
  if (isOther) {
    partition.isHighKnown = false
    const settle = (): void => {
      if (partition.epoch !== epoch) return
      partition.isHighKnown = true
      log.advanceHigh(log.end)
      answerWaiting(partition)
    }
    world.after(drawMs(random, times.replicationMs), settle, processOf(broker))
  } else log.advanceHigh(log.end)
  log.wake()
}

// ---- coordinators ----

export const groupPartition = (shared: Shared, groupId: string): GroupPartition =>
  shared.groups[partitionFor(groupId, shared.groups.length)] as GroupPartition

export const transactionPartition = (shared: Shared, transactionalId: string): TransactionPartition =>
  shared.transactions[partitionFor(transactionalId, shared.transactions.length)] as TransactionPartition

export const newGroupPartition = (number: number): GroupPartition => ({
  number,
  store: emptyGroupStore(),
  ledBy: -1,
  broker: -1,
  epoch: -1,
  term: undefined,
  coordinator: undefined,
})

export const newTransactionPartition = (number: number): TransactionPartition => ({
  number,
  store: new Map(),
  broker: -1,
  epoch: -1,
  term: undefined,
  coordinator: undefined,
})

/** Drops the memory; the store remains. */
export const resign = (partition: GroupPartition | TransactionPartition): void => {
  const { term, coordinator } = partition
  partition.term = undefined
  partition.coordinator = undefined
  partition.broker = -1
  term?.end()
  if (coordinator && 'unload' in coordinator) coordinator.unload()
}

const elect = (
  shared: Shared,
  partition: GroupPartition | TransactionPartition,
  broker: number,
  epoch: number,
  load: (term: Term) => void,
): void => {
  const { world, random, took, times, processOf } = shared
  resign(partition)
  Object.assign(partition, { broker, epoch })
  const [leastMs, mostMs] = times.coordinatorWriteMs
  const owner = processOf(broker)
  const term = beginTerm(world, owner, random, took, { leastMs, mostMs })
  partition.term = term
  term.after(drawMs(random, times.coordinatorLoadMs), () => {
    took('coordinator loaded')
    load(term)
  })
}

export const electGroups = (shared: Shared, partition: GroupPartition, broker: number, epoch: number): void => {
  const { isr = [] } = shared.image().topics.get(offsetsTopic)?.partitions[partition.number] ?? {}
  // Without other replicas everything is replicated.
  const isBehind = partition.ledBy !== -1 && partition.ledBy !== broker && isr.length > 1
  partition.ledBy = broker
  elect(shared, partition, broker, epoch, (term) => {
    partition.coordinator = createGroupCoordinator({
      store: partition.store,
      term,
      initialDelayMs: shared.times.initialRebalanceDelayMs,
      behindMs: isBehind ? drawMs(shared.late, shared.times.settleMs) : 0,
      committed: shared.committed,
      removed: shared.removed,
    })
  })
}

export const electTransactions = (
  shared: Shared,
  partition: TransactionPartition,
  broker: number,
  epoch: number,
): void =>
  elect(shared, partition, broker, epoch, (term) => {
    partition.coordinator = createTransactionCoordinator({
      store: partition.store,
      term,
      coordinatorEpoch: epoch,
      nextProducerId: shared.nextProducerId,
      sendMarker: (to, marker, done) => shared.deliverMarker(broker, to, marker, done),
    })
  })
