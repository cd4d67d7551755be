// What all brokers of a cluster share: the controller's image, the logs, and what coordinators have written.
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
  /** How long a broker takes for a request. */
  readonly workMs: readonly [number, number]
  /** Until a broker learns what the controller decided; one in `lateOneIn` takes up to `lateMs`. */
  readonly learnMs: readonly [number, number]
  readonly lateOneIn: number
  readonly lateMs: number
  /** Until the other replicas have a record. */
  readonly replicationMs: readonly [number, number]
  /** One record in so many waits up to `slowReplicationMs` for a follower that is behind. */
  readonly slowReplicationOneIn: number
  readonly slowReplicationMs: number
  readonly coordinatorWriteMs: readonly [number, number]
  readonly coordinatorLoadMs: readonly [number, number]
  readonly markerMs: readonly [number, number]
  /** Until a group's new coordinator knows that what it took over is replicated. */
  readonly settleMs: readonly [number, number]
  /** One transaction in so many gets its markers up to `lateMarkersMs` later; 0: none. */
  readonly lateMarkersOneIn: number
  readonly lateMarkersMs: number
  /** Until the offsets of a deleted topic are removed; one in `lateOneIn` takes up to `lateRemovalMs`. */
  readonly lateRemovalMs: number
  /** Until the controller notices that a broker crashed. */
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
  /** The broker that leads it in fact, and since which epoch. */
  leader: number
  epoch: number
  /** A new leader's high watermark is behind until the others have fetched from it. */
  isHighKnown: boolean
  /** Where the log ended when a broker last started. */
  readonly startedAt: Map<number, number>
  /** What a broker that led it had when another took over: so much it still serves until it learns of that. */
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
/** `ledBy`: who led it last. */
export type GroupPartition = Lead<GroupStore, GroupCoordinator> & { ledBy: number }
export type TransactionPartition = Lead<TransactionStore, TransactionCoordinator>

export type Shared = {
  readonly world: World
  readonly network: Network
  readonly random: Random
  /** For what came later: the others draw as before. */
  readonly late: Random
  readonly took: Took
  readonly times: ClusterTimes
  readonly image: () => Image
  readonly change: (update: (image: Image) => Image) => void
  /** Logs of every topic that ever was, by its id. */
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
  /** Called for every batch that is appended anywhere. */
  readonly appended: (batch: StoredBatch, partition: Partition) => void
  readonly autoCreateTopics: boolean
  /** Topics that nobody may write to. */
  readonly denied: Set<string>
  /** `max.message.bytes` that an operator has set since. */
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

/** Tells who waits that so much is replicated. */
const answerWaiting = (partition: Partition): void => {
  const { log } = partition
  // Those of a former leader wait until it learns that it is one: their records may be gone.
  const isReady = ({ reached, epoch }: Waiting): boolean => epoch === partition.epoch && reached < log.high
  const ready = partition.waiting.filter(isReady)
  if (ready.length === 0) return
  partition.waiting = partition.waiting.filter((one) => !isReady(one))
  for (const { reply } of ready) reply(errors.NONE)
}

/** `reply` when the record at this offset is on all replicas that are in sync. */
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

/** Who waits at a leader of an earlier epoch is sent away. */
export const sendAway = (partition: Partition, took: Took, error: number, before = Infinity): void => {
  const gone = partition.waiting.filter(({ epoch }) => epoch < before)
  if (gone.length === 0) return
  partition.waiting = partition.waiting.filter(({ epoch }) => epoch >= before)
  for (const { reply } of gone) {
    took('produce lost its leader while replicating')
    reply(error)
  }
}

/** A broker takes over: of what the one before had not replicated, it has some part. */
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

/** Its memory is gone; what was written stays. */
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
  // Where there is no other replica, all is replicated.
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
