// A simulated Kafka cluster: brokers over one set of logs, a controller, and handles for tests to write, read and inject faults.
//
//   const cluster = createCluster(world, network, { brokers: 3, topics: { in: 2, out: { partitions: 2, configs: {...} } } })
//   cluster.addresses                             ['broker-1:9092', ...], for the settings of clients
//
// Input and output
//   cluster.append('in', 0, records, { gzip })    adds records to the log at once, independent of its leader
//   cluster.appendTransaction('in', 0, records, 'commit' | 'abort' | 'open')   as written by a transactional producer
//   cluster.appendBatch('in', 0, bytes)           a given batch, in any codec
//   cluster.log('out', 0)                         .start .end .high .stable() .batches .aborted
//   cluster.committedBatches('out', 0)            bytes for a read_committed reader; `readTopic` decodes them with kafkajs
//   cluster.offsets('group')                      committed offsets by `topic/partition`
//   cluster.group('group')                        state, generation and members, while its coordinator is up
//   cluster.onAppend(listener), .onCommit(listener)   every batch that enters a log; every offset that a group commits
//   cluster.onRemoval(listener)                       every offset that is removed because its topic was deleted
//
// Topics
//   cluster.createTopic(name, partitions, options), .deleteTopic(name), .addPartitions(name, count)   like an operator's request
//   cluster.topicId(name), cluster.logsOf(name)   the current id; the logs of all topics with this name, oldest first
//   cluster.deleteBefore(topic, partition, offset)    retention: the log start moves
//   cluster.denyWrites(topic), .allowWrites(topic)    access rules; .limitBatches(topic, bytes)
//   cluster.expireOffsets(group), cluster.deleteOffsets(group, topic, partition)
//
// Brokers
//   cluster.stopBroker(id)                        graceful: hands over its partitions, then closes its connections
//   cluster.crashBroker(id)                       immediate; the controller notices some seconds later
//   cluster.startBroker(id)
//   cluster.moveLeader(topic, partition, to), .moveGroup(groupId, to), .moveTransactions(transactionalId, to)
//   cluster.leaderOf(topic, partition), .coordinatorOf(groupId), .transactionCoordinatorOf(transactionalId)
//   cluster.broker(id).process.pause()            makes a broker hang; network.block(address) makes it unreachable
//
// Faults at points of the protocol
//   cluster.onRequest((point) => 'lose' | 'hang' | { delayMs } | undefined)     before and after each request is applied
//   cluster.atRequest({ api: 'EndTxn', process: 'w1', nth: 3, moment: 'after' }, (point) => 'lose')   once
//   cluster.requests                              counts per API; cluster.paths: counts per path of the broker
import type { Network } from '../network.js'
import { below, type World } from '../world.js'
import { buildBatch, errors, type ApiName, type NewBatch, type WireRecord } from '../wire.js'
import { handlers } from './apis.js'
import type { Committed, Removed } from './group-coordinator.js'
import { offsetsTopic, partitionFor, transactionsTopic, withBroker, withLeader, withoutBroker, type Image } from './image.js' // prettier-ignore
import type { Log, StoredBatch } from './log.js'
import { createNode, type BrokerNode, type Interference, type Moment, type RequestPoint } from './node.js'
import { paths, type Path } from './paths.js'
import {
  drawMs,
  groupPartition,
  newGroupPartition,
  newTransactionPartition,
  whenReplicated,
  type ClusterTimes,
  type Partition,
  type Shared,
} from './state.js'
import { addPartitions, createTopic, deleteTopic, type TopicOptions } from './topics.js'
import type { Marker } from './transaction-coordinator.js'

export type ClusterOptions = {
  readonly brokers?: number
  readonly topics?: Readonly<Record<string, number | (TopicOptions & { readonly partitions: number })>>
  readonly times?: Partial<ClusterTimes>
  /** Number of partitions of each of the two coordinator topics. */
  readonly coordinatorPartitions?: number
  readonly autoCreateTopics?: boolean
}

const usualTimes: ClusterTimes = {
  workMs: [0.02, 0.5],
  learnMs: [1, 30],
  lateOneIn: 10,
  lateMs: 1_500,
  replicationMs: [0.3, 5],
  slowReplicationOneIn: 30,
  slowReplicationMs: 800,
  coordinatorWriteMs: [0.2, 6],
  coordinatorLoadMs: [2, 150],
  markerMs: [0.5, 15],
  settleMs: [1, 300],
  lateMarkersOneIn: 0,
  lateMarkersMs: 8_000,
  lateRemovalMs: 5_000,
  brokerSessionMs: [1_000, 9_000],
  initialRebalanceDelayMs: 50,
}

/** The time from handing over partitions to closing connections. */
const shutdownMs = [50, 600] as const
const markerRetryMs = 100

export type CommitEvent = Committed & { readonly groupId: string; readonly isTransactional: boolean }
export type AppendEvent = {
  readonly topic: string
  readonly topicId: string
  readonly partition: number
  readonly batch: StoredBatch
}

export type RequestChoice = {
  readonly api: ApiName
  /** A name covers all starts of a process, a label only one. */
  readonly process?: string
  /** Counted from 1; by default the next one. */
  readonly nth?: number
  readonly moment: Moment
}

export type Cluster = ReturnType<typeof createCluster>

export const createCluster = (world: World, network: Network, options: ClusterOptions = {}) => {
  const { brokers: brokerCount = 1, topics = {}, coordinatorPartitions = 4, autoCreateTopics = false } = options
  const times: ClusterTimes = { ...usualTimes, ...options.times }
  const random = world.random('cluster')
  const ids = Array.from({ length: brokerCount }, (_, nth) => nth + 1)
  const taken = new Map<Path, number>(paths.map((path) => [path, 0]))
  const requests = new Map<ApiName, number>()
  const nthOf = new Map<string, Map<ApiName, number>>()
  const listeners = new Set<(point: RequestPoint) => Interference>()
  const commitListeners = new Set<(commit: CommitEvent) => void>()
  const removalListeners = new Set<(offset: Removed) => void>()
  const appendListeners = new Set<(append: AppendEvent) => void>()
  /** When each broker learns of the last decision, so that the next arrives later. */
  const learnsAt = new Map<number, number>()
  const history = new Map<string, string[]>()
  let image: Image = { topics: new Map(), brokers: new Set(ids) }
  let producerIds = 1000
  let isBuilt = false

  const took = (path: Path): void => void taken.set(path, (taken.get(path) ?? 0) + 1)

  const change = (update: (before: Image) => Image): void => {
    image = update(image)
    for (const [name, { id }] of image.topics) {
      const known = history.get(name) ?? []
      if (known.at(-1) !== id) history.set(name, [...known, id])
    }
    if (!isBuilt) return
    const decided = image
    for (const node of nodes.values()) {
      const isLate = below(random, times.lateOneIn) === 0
      const ms = drawMs(random, isLate ? [0, times.lateMs] : times.learnMs)
      const us = Math.max(world.us + Math.round(ms * 1000), (learnsAt.get(node.id) ?? 0) + 1)
      learnsAt.set(node.id, us)
      const life = lives.get(node.id)
      world.at(
        us,
        () => {
          if (lives.get(node.id) === life) node.learn(decided)
        },
        node.process,
      )
    }
  }

  const processes = new Map(ids.map((id) => [id, world.addInfrastructure(`broker-${id}`)]))
  const addressOf = (id: number): { readonly host: string; readonly port: number } => ({
    host: `broker-${id}`,
    port: 9092,
  })

  const shared: Shared = {
    world,
    network,
    random,
    late: world.random('cluster, late'),
    took,
    times,
    image: () => image,
    change,
    partitions: new Map(),
    groups: Array.from({ length: coordinatorPartitions }, (_, number) => newGroupPartition(number)),
    transactions: Array.from({ length: coordinatorPartitions }, (_, number) => newTransactionPartition(number)),
    nextProducerId: () => producerIds++,
    newTopicId: () => Array.from({ length: 8 }, () => below(random, 65536).toString(16).padStart(4, '0')).join(''),
    addressOf,
    processOf: (id) => processes.get(id) ?? world.outside,
    deliverMarker: (from, partition, marker, done) => deliverMarker(from, partition, marker, done),
    committed: (commit) => {
      for (const listener of commitListeners) listener(commit)
    },
    removed: (offset) => {
      for (const listener of removalListeners) listener(offset)
    },
    appended: (batch, { topic, topicId, number }) => {
      for (const listener of appendListeners) listener({ topic, topicId, partition: number, batch })
    },
    autoCreateTopics,
    denied: new Set(),
    maxBytes: new Map(),
  }

  // ---- requests and faults ----

  /** How many requests of an API came from processes with this name. */
  const countOf = ({ api, process, moment }: Omit<RequestPoint, 'nth'>): number => {
    let counts = nthOf.get(process.name)
    if (!counts) nthOf.set(process.name, (counts = new Map<ApiName, number>()))
    const nth = (counts.get(api) ?? 0) + (moment === 'before' ? 1 : 0)
    counts.set(api, nth)
    if (moment === 'before') requests.set(api, (requests.get(api) ?? 0) + 1)
    return nth
  }

  const interfere = (point: Omit<RequestPoint, 'nth'>): Interference => {
    const nth = countOf(point)
    if (listeners.size === 0) return undefined
    // Assigned member by member: a copy with one more member is many times slower.
    const { moment, api, process, broker, body, response } = point
    const counted = { moment, api, process, broker, nth, body, response }
    let result: Interference
    for (const listener of [...listeners]) result ??= listener(counted)
    if (result !== undefined)
      world.log(`${point.moment} ${point.api} ${nth} of ${point.process.label}: ${JSON.stringify(result)}`)
    return result
  }

  const atRequest = (choice: RequestChoice, act: (point: RequestPoint) => Interference): void => {
    const listener = (point: RequestPoint): Interference => {
      const { name, label } = point.process
      if (point.moment !== choice.moment || point.api !== choice.api) return undefined
      if (choice.process !== undefined && choice.process !== name && choice.process !== label) return undefined
      if (choice.nth !== undefined && choice.nth !== point.nth) return undefined
      listeners.delete(listener)
      return act(point)
    }
    listeners.add(listener)
  }

  // ---- markers of transactions ----

  const deliverMarker = (from: number, place: string, marker: Marker, done: () => void): void => {
    const isLate = times.lateMarkersOneIn > 0 && below(random, times.lateMarkersOneIn) === 0
    if (isLate) took('late markers')
    const first = drawMs(random, times.markerMs) + (isLate ? random() * times.lateMarkersMs : 0)
    const sender = nodes.get(from)
    const at = place.lastIndexOf('/')
    const [topic, number] = [place.slice(0, at), Number(place.slice(at + 1))]
    const again = (): void => {
      took('marker waits for a leader')
      sender?.after(markerRetryMs, attempt)
    }
    const attempt = (): void => {
      const partitionImage = sender?.view.topics.get(topic)?.partitions[number]
      if (!partitionImage) {
        took('marker skipped: topic gone')
        done()
        return
      }
      const leader = nodes.get(partitionImage.leader)
      if (!leader?.isUp) {
        again()
        return
      }
      if (topic === offsetsTopic) {
        const groups = shared.groups[number]
        if (groups?.broker !== leader.id || !groups.coordinator) {
          again()
          return
        }
        groups.coordinator.endTransaction(marker, (error) => (error === errors.NOT_COORDINATOR ? again() : done()))
        return
      }
      const partition = leader.leading(topic, number)
      if (partition === errors.UNKNOWN_TOPIC_OR_PARTITION) {
        again()
        return
      }
      if (typeof partition === 'number' || leader.isFormer(partition)) {
        again()
        return
      }
      const error = partition.log.endTransaction(marker, partition.epoch)
      if (error !== errors.NONE) {
        done()
        return
      }
      partition.log.wake()
      let isSettled = false
      const settle = (next: () => void): void => {
        if (isSettled) return
        isSettled = true
        forget()
        next()
      }
      const forget = leader.whenDown(() => settle(again))
      whenReplicated(shared, partition, partition.log.end - 1, (result) =>
        settle(result === errors.NONE ? done : again),
      )
    }
    sender?.after(first, attempt)
  }

  // ---- brokers ----

  const lives = new Map<number, number>(ids.map((id) => [id, 0]))
  const nodes = new Map<number, BrokerNode>(
    ids.map((id) => [id, createNode({ id, process: shared.processOf(id), shared, handlers, interfere })]),
  )
  const nodeOf = (id: number): BrokerNode => {
    const node = nodes.get(id)
    if (!node) throw new Error(`there is no broker ${id}`)
    return node
  }

  for (const topic of [offsetsTopic, transactionsTopic])
    createTopic(shared, topic, coordinatorPartitions, { isInternal: true, configs: { 'cleanup.policy': 'compact' } })
  for (const [name, given] of Object.entries(topics))
    if (typeof given === 'number') createTopic(shared, name, given)
    else createTopic(shared, name, given.partitions, given)
  isBuilt = true
  for (const node of nodes.values()) node.start(image)

  const crashBroker = (id: number): void => {
    const node = nodeOf(id)
    if (!node.isUp) return
    node.stop(false)
    const life = lives.get(id)
    world.after(drawMs(random, times.brokerSessionMs), () => {
      if (lives.get(id) === life && !node.isUp) change((before) => withoutBroker(before, id))
    })
  }

  const stopBroker = (id: number): void => {
    const node = nodeOf(id)
    if (!node.isUp) return
    world.log(`broker ${id} gives its partitions away`)
    change((before) => withoutBroker(before, id))
    const life = lives.get(id)
    world.after(drawMs(random, shutdownMs), () => {
      if (node.isUp && lives.get(id) === life) node.stop(true)
    })
  }

  const startBroker = (id: number): void => {
    const node = nodeOf(id)
    if (node.isUp) return
    // The broker registers again; if its absence was not noticed before, the controller notices it now.
    change((before) => withBroker(before.brokers.has(id) ? withoutBroker(before, id) : before, id))
    // It starts with this decision; messages on their way to it must not arrive after later ones.
    lives.set(id, (lives.get(id) ?? 0) + 1)
    learnsAt.set(id, world.us)
    node.start(image)
  }

  // ---- topics ----

  const partitionOf = (topic: string, number: number): Partition => {
    const id = history.get(topic)?.at(-1)
    const partition = id === undefined ? undefined : shared.partitions.get(id)?.[number]
    if (!partition) throw new Error(`there is no partition ${topic}/${number}`)
    return partition
  }

  /** Only to a broker that the controller considers up. */
  const move = (topic: string, number: number, to: number): void => {
    if (!image.brokers.has(to)) return
    took('leader moved')
    world.log(`${topic}/${number} moves to broker ${to}`)
    change((before) => withLeader(before, topic, number, to))
  }

  const appendBatch = (topic: string, number: number, bytes: Buffer): number => {
    const partition = partitionOf(topic, number)
    const { base, last } = partition.log.append(bytes, Math.max(0, partition.epoch))
    partition.log.advanceHigh(last + 1)
    return base
  }

  return {
    ids,
    addresses: ids.map((id) => `broker-${id}:9092`),
    broker: nodeOf,
    addressOf: (id: number): string => `broker-${id}:9092`,
    times,

    append: (
      topic: string,
      partition: number,
      records: readonly WireRecord[],
      batch: Omit<NewBatch, 'records'> = {},
    ): number => appendBatch(topic, partition, buildBatch({ ...batch, records })),
    appendBatch,
    appendTransaction: (
      topic: string,
      partition: number,
      records: readonly WireRecord[],
      end: 'commit' | 'abort' | 'open',
      batch: Omit<NewBatch, 'records'> = {},
    ): number => {
      const { log, epoch } = partitionOf(topic, partition)
      const producer = { producerId: batch.producerId ?? producerIds++, producerEpoch: 0 }
      const sequence = { baseSequence: 0, transactional: true }
      const base = appendBatch(topic, partition, buildBatch({ ...batch, ...producer, ...sequence, records }))
      const marker = { ...producer, committed: end === 'commit', coordinatorEpoch: 0, timestamp: world.now() }
      if (end !== 'open') log.endTransaction(marker, Math.max(0, epoch))
      log.advanceHigh(log.end)
      return base
    },
    log: (topic: string, partition: number): Log => partitionOf(topic, partition).log,
    logsOf: (topic: string): readonly (readonly Log[])[] =>
      (history.get(topic) ?? []).map((id) => (shared.partitions.get(id) ?? []).map(({ log }) => log)),
    partitionCount: (topic: string): number => image.topics.get(topic)?.partitions.length ?? 0,
    committedBatches: (topic: string, partition: number): readonly Buffer[] =>
      committedOf(partitionOf(topic, partition).log),
    offsets: (groupId: string): ReadonlyMap<string, Committed> =>
      groupPartition(shared, groupId).store.offsets.get(groupId) ?? new Map<string, Committed>(),
    group: (groupId: string) => groupPartition(shared, groupId).coordinator?.groups.get(groupId),
    transaction: (id: string) => shared.transactions[partitionFor(id, coordinatorPartitions)]?.store.get(id),
    onAppend: (listener: (append: AppendEvent) => void): void => void appendListeners.add(listener),
    onCommit: (listener: (commit: CommitEvent) => void): void => void commitListeners.add(listener),
    onRemoval: (listener: (offset: Removed) => void): void => void removalListeners.add(listener),

    createTopic: (name: string, partitions: number, given: TopicOptions = {}): number =>
      createTopic(shared, name, partitions, given),
    deleteTopic: (name: string): number => deleteTopic(shared, name),
    addPartitions: (name: string, count: number): number => addPartitions(shared, name, count),
    topicId: (name: string): string | undefined => image.topics.get(name)?.id,
    deleteBefore: (topic: string, partition: number, offset: number): void =>
      partitionOf(topic, partition).log.deleteBefore(offset),
    denyWrites: (topic: string): void => void shared.denied.add(topic),
    limitBatches: (topic: string, bytes: number | undefined): void => {
      if (bytes === undefined) shared.maxBytes.delete(topic)
      else shared.maxBytes.set(topic, bytes)
    },
    allowWrites: (topic: string): void => void shared.denied.delete(topic),
    expireOffsets: (groupId: string): boolean => groupPartition(shared, groupId).coordinator?.expire(groupId) ?? false,
    deleteOffsets: (groupId: string, topic: string, partition: number): void =>
      groupPartition(shared, groupId).coordinator?.deleteOffsets(groupId, topic, partition),

    stopBroker,
    crashBroker,
    startBroker,
    moveLeader: move,
    moveGroup: (groupId: string, to: number): void =>
      move(offsetsTopic, partitionFor(groupId, coordinatorPartitions), to),
    moveTransactions: (transactionalId: string, to: number): void =>
      move(transactionsTopic, partitionFor(transactionalId, coordinatorPartitions), to),
    leaderOf: (topic: string, partition: number): number =>
      image.topics.get(topic)?.partitions[partition]?.leader ?? -1,
    coordinatorOf: (groupId: string): number =>
      image.topics.get(offsetsTopic)?.partitions[partitionFor(groupId, coordinatorPartitions)]?.leader ?? -1,
    transactionCoordinatorOf: (id: string): number =>
      image.topics.get(transactionsTopic)?.partitions[partitionFor(id, coordinatorPartitions)]?.leader ?? -1,

    onRequest: (listener: (point: RequestPoint) => Interference): void => void listeners.add(listener),
    atRequest,
    requests: requests as ReadonlyMap<ApiName, number>,
    paths: taken as ReadonlyMap<Path, number>,
  }
}

/** The batches that a read_committed reader gets: stable, without aborted ones and markers. */
const committedOf = (log: Log): readonly Buffer[] => {
  const stable = log.stable()
  return log.batches
    .filter(({ base, last, head, marker }) => {
      if (marker || base >= stable || last < log.start) return false
      const isAborted = log.aborted.some(
        (one) => one.producerId === head.producerId && one.firstOffset <= base && base < one.lastOffset,
      )
      return !(head.transactional && isAborted)
    })
    .map(({ bytes }) => bytes)
}
