// The simulated broker's answer to each request, with the error codes of Kafka 4.3 for the API versions that kafkajs uses.
import {
  announced,
  earliest,
  errors,
  latest,
  readCommitted,
  topicResource,
  transactionKey,
  type ApiName,
  type RequestBody,
  type ResponseBody,
} from '../wire.js'
import { offsetsTopic, partitionFor, transactionsTopic, type PartitionImage, type TopicImage } from './image.js'
import type { Call, Handlers, BrokerNode } from './node.js'
import { drawMs, whenReplicated, type Partition } from './state.js'
import { addPartitions, configsOf, createTopic, deleteTopic, isTopicName } from './topics.js'

/** group.min.session.timeout.ms, group.max.session.timeout.ms, offset.metadata.max.bytes */
const sessionLimits = [6_000, 1_800_000] as const
const maxOffsetMetadataBytes = 4_096

type Answer<N extends ApiName> = ResponseBody<N>

// ---- Produce ----

type PartitionProduced = Answer<'Produce'>['topics'][number]['partitions'][number]

const produce = ({ node, body, respond }: Call<'Produce'>): void => {
  const { took } = node.shared
  const results = body.topics.map(({ topic, partitions }) => ({
    topic,
    partitions: new Array<PartitionProduced>(partitions.length),
  }))
  const isAckable = body.acks === -1 || body.acks === 0 || body.acks === 1
  let left = 1 + body.topics.reduce((sum, { partitions }) => sum + partitions.length, 0)
  const oneDone = (): void => {
    if (--left === 0) respond(body.acks === 0 ? undefined : { throttleTimeMs: 0, topics: results })
  }
  for (const [nth, { topic, partitions }] of body.topics.entries())
    for (const [place, { partition: number, records }] of partitions.entries()) {
      const answer = (errorCode: number, baseOffset = -1, logStartOffset = -1): void => {
        const list = results[nth]?.partitions
        if (list) list[place] = { partition: number, errorCode, baseOffset, logAppendTimeMs: -1, logStartOffset }
        oneDone()
      }
      const partition = node.leading(topic, number)
      if (!isAckable) {
        took('produce refused: acknowledgements')
        answer(errors.INVALID_REQUIRED_ACKS)
      } else if (node.shared.denied.has(topic)) {
        took('produce refused: access denied')
        answer(errors.TOPIC_AUTHORIZATION_FAILED)
      } else if (typeof partition === 'number') {
        took(
          partition === errors.NOT_LEADER_OR_FOLLOWER
            ? 'produce refused: not the leader'
            : 'produce refused: unknown topic',
        )
        answer(partition)
      } else if (node.isFormer(partition)) {
        // Replication is no longer possible; this broker answers when it learns of the new leader.
        took('produce waited at a former leader')
        partition.waiting.push({
          reached: Infinity,
          epoch: node.view.topics.get(topic)?.partitions[number]?.epoch ?? -1,
          reply: (error) => answer(error),
        })
      } else appendRecords(node, body, partition, records ?? Buffer.alloc(0), answer)
    }
  oneDone()
}

const appendRecords = (
  node: BrokerNode,
  { transactionalId, acks }: RequestBody<'Produce'>,
  partition: Partition,
  records: Buffer,
  answer: (error: number, base?: number, start?: number) => void,
): void => {
  const { shared } = node
  const { took, world } = shared
  const { log } = partition
  if (records.length < 61) {
    took('produce refused: invalid batch')
    answer(errors.INVALID_RECORD)
    return
  }
  const isTransactional = (records.readInt16BE(21) & 0x10) !== 0
  const producerId = Number(records.readBigInt64BE(43))
  const epoch = records.readInt16BE(51)
  let isVerified = false
  if (isTransactional && !log.hasOngoing(producerId, epoch)) {
    const error = verify(node, transactionalId ?? '', producerId, epoch, `${partition.topic}/${partition.number}`)
    if (error !== errors.NONE) {
      took(refusals[error] ?? 'produce refused: transaction coordinator not found')
      const isPassing = error === errors.CONCURRENT_TRANSACTIONS || error === errors.COORDINATOR_LOAD_IN_PROGRESS
      answer(isPassing ? errors.NOT_ENOUGH_REPLICAS : error)
      return // the client retries
    }
    isVerified = true
  }
  const topic = node.view.topics.get(partition.topic)
  const configs = configsOf(topic)
  const result = log.produce(records, partition.epoch, isVerified, {
    maxMessageBytes: shared.maxBytes.get(partition.topic) ?? Number(configs['max.message.bytes']),
    isCompacted: (configs['cleanup.policy'] ?? '').includes('compact'),
    latestTime: world.now() + Number(configs['message.timestamp.after.max.ms']),
    ...(configs['message.timestamp.type'] === 'LogAppendTime' && { appendTime: world.now() }),
  })
  if (!('last' in result)) {
    answer(result.error)
    return
  }
  if (shared.image().topics.get(partition.topic)?.id !== partition.topicId)
    took('former log acknowledged after its topic was deleted')
  if (!result.isDuplicate) log.wake()
  if (acks === -1) { whenReplicated(shared, partition, result.last, (error) => answer(error, error === 0 ? result.base : -1, error === 0 ? log.start : -1)); return; } // prettier-ignore
  took('produce answered before replication')
  answer(errors.NONE, result.base, log.start)
  whenReplicated(shared, partition, result.last, () => undefined)
}

const refusals: Partial<
  Record<
    number,
    | 'produce refused: partition not in the transaction'
    | 'produce refused: old producer epoch'
    | 'produce refused: transaction is ending'
    | 'produce refused: producer id of another'
  >
> = {
  // prettier-ignore
  [errors.INVALID_TXN_STATE]: 'produce refused: partition not in the transaction',
  [errors.INVALID_PRODUCER_EPOCH]: 'produce refused: old producer epoch',
  [errors.CONCURRENT_TRANSACTIONS]: 'produce refused: transaction is ending',
  [errors.INVALID_PRODUCER_ID_MAPPING]: 'produce refused: producer id of another',
}

/** The leader asks the coordinator before a transaction's first write to a partition. Old clients expect other error codes. */
const verify = (node: BrokerNode, id: string, producerId: number, epoch: number, partition: string): number => {
  const { transactions } = node.shared
  const coordinator = transactions[partitionFor(id, transactions.length)]?.coordinator
  const error = coordinator?.verify(id, producerId, epoch, partition) ?? errors.COORDINATOR_LOAD_IN_PROGRESS
  if (error === errors.TRANSACTION_ABORTABLE) return errors.INVALID_TXN_STATE
  return forOldClients(error)
}

// ---- Fetch and ListOffsets ----

const fetch = ({ node, body, respond, isClosed }: Call<'Fetch'>): void => {
  const { took, image } = node.shared
  const committedOnly = body.isolationLevel === readCommitted
  const logs = new Set<Partition>()
  /** Skipped in the rest of the request and answered with the error. */
  const unknown = new Set<string>()
  const read = (isFirst: boolean): { readonly answer: Answer<'Fetch'>; readonly isDue: boolean } => {
    let left = body.maxBytes
    let bytes = 0
    let failures = 0
    const topics = body.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition: number, fetchOffset, partitionMaxBytes, currentLeaderEpoch }) => {
        const failed = (errorCode: number): Answer<'Fetch'>['topics'][number]['partitions'][number] => {
          if (!unknown.has(`${topic}/${number}`)) failures++
          return {
            partition: number,
            errorCode,
            highWatermark: -1,
            lastStableOffset: -1,
            logStartOffset: -1,
            abortedTransactions: unknown.has(`${topic}/${number}`) ? [] : null,
            preferredReadReplica: -1,
            records: Buffer.alloc(0),
          }
        }
        const partition = node.leading(topic, number)
        if (typeof partition === 'number') {
          took(
            partition === errors.NOT_LEADER_OR_FOLLOWER
              ? 'fetch refused: not the leader'
              : 'fetch refused: unknown topic',
          )
          if (isFirst && partition === errors.UNKNOWN_TOPIC_OR_PARTITION) unknown.add(`${topic}/${number}`)
          return failed(partition)
        }
        logs.add(partition)
        const epoch = node.view.topics.get(topic)?.partitions[number]?.epoch ?? -1
        if (currentLeaderEpoch >= 0 && currentLeaderEpoch !== epoch) {
          took('fetch refused: leader epoch')
          return failed(currentLeaderEpoch < epoch ? errors.FENCED_LEADER_EPOCH : errors.UNKNOWN_LEADER_EPOCH)
        }
        const { log } = partition
        if (image().topics.get(topic)?.id !== partition.topicId) took('former log served after its topic was deleted')
        // A replaced leader gets no new records but still serves those it has.
        const isFormer = node.isFormer(partition)
        const reach = (isFormer ? partition.hadWhenReplaced.get(node.id) : undefined) ?? log.reach()
        const most = Math.min(partitionMaxBytes, left)
        const { error, records, aborted } = log.read(fetchOffset, most, bytes === 0 && most > 0, committedOnly, reach)
        if (isFormer && records.length > 0) took('fetch served by a former leader')
        if (error !== errors.NONE) return failed(error)
        bytes += records.length
        left = Math.max(0, left - records.length)
        return {
          partition: number,
          errorCode: errors.NONE,
          highWatermark: reach.high,
          lastStableOffset: reach.stable,
          logStartOffset: log.start,
          abortedTransactions: aborted?.map(({ producerId, firstOffset }) => ({ producerId, firstOffset })) ?? null,
          preferredReadReplica: -1,
          records,
        }
      }),
    }))
    return {
      answer: { throttleTimeMs: 0, errorCode: errors.NONE, sessionId: 0, topics },
      isDue: failures > 0 || bytes >= body.minBytes,
    }
  }
  took('fetched')
  const first = read(true)
  if (first.isDue || body.maxWaitMs <= 0 || logs.size === 0) {
    respond(first.answer)
    return
  }
  took('fetch waited')
  let isDone = false
  const finish = (answer: Answer<'Fetch'>): void => {
    isDone = true
    for (const { log } of logs) log.waiting.delete(wake)
    respond(answer)
  }
  const wake = (): void => {
    if (isDone || !node.isUp || isClosed()) {
      for (const { log } of logs) log.waiting.delete(wake)
      return
    }
    if (node.process.isPaused) return // a paused broker answers later
    const again = read(false)
    if (!again.isDue) return
    took('fetch woken by an append')
    finish(again.answer)
  }
  for (const { log } of logs) log.waiting.add(wake)
  node.after(body.maxWaitMs, () => {
    if (isDone) return
    took('fetch ran out of time')
    finish(read(false).answer)
  })
}

const listOffsets = ({ node, body, respond }: Call<'ListOffsets'>): void => {
  const { took } = node.shared
  const committedOnly = body.isolationLevel === readCommitted
  const one = (topic: string, number: number, time: number) => {
    const failed = (errorCode: number) => ({ partition: number, errorCode, timestamp: -1, offset: -1 })
    const partition = node.leading(topic, number)
    if (typeof partition === 'number' || node.isFormer(partition)) {
      const error = typeof partition === 'number' ? partition : errors.NOT_LEADER_OR_FOLLOWER
      took(error === errors.NOT_LEADER_OR_FOLLOWER ? 'list of offsets refused: not the leader' : 'list of offsets refused: unknown topic') // prettier-ignore
      return failed(error)
    }
    const { log } = partition
    if (time === earliest) {
      took('offsets listed')
      return { ...failed(errors.NONE), offset: log.start }
    }
    if (!partition.isHighKnown) {
      took('list of offsets refused: new leader without a high watermark')
      return failed(errors.LEADER_NOT_AVAILABLE)
    }
    if (time === latest) {
      took('offsets listed')
      return { ...failed(errors.NONE), offset: committedOnly ? log.stable() : log.high }
    }
    return { ...failed(errors.NONE), ...log.offsetAt(time, committedOnly) }
  }
  respond({
    throttleTimeMs: 0,
    topics: body.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition, timestamp }) => one(topic, partition, timestamp)),
    })),
  })
}

// ---- Metadata ----

const brokersOf = (node: BrokerNode): Answer<'Metadata'>['brokers'] =>
  [...node.view.brokers].map((nodeId) => ({ nodeId, ...node.shared.addressOf(nodeId), rack: null }))

/** With KRaft any broker forwards requests to the controller, so it names a random one. */
const controllerOf = ({ view, shared }: BrokerNode): number => {
  const up = [...view.brokers]
  return up[Math.floor(shared.random() * up.length)] ?? -1
}

const metadataOf = ({ view, shared }: BrokerNode, { partitions }: TopicImage) =>
  partitions.map(({ leader, epoch, replicas, isr }: PartitionImage, partition) => {
    if (leader === -1) shared.took('metadata without a leader')
    return {
      errorCode: leader === -1 ? errors.LEADER_NOT_AVAILABLE : errors.NONE,
      partition,
      leaderId: leader,
      leaderEpoch: epoch,
      replicas,
      isr,
      offlineReplicas: replicas.filter((one) => !view.brokers.has(one)),
    }
  })

/** The requested topics, or all; topics that do not exist have no image. */
const wantedTopics = (
  node: BrokerNode,
  names: readonly string[] | null,
  mayCreate: boolean,
): readonly (readonly [string, TopicImage | undefined, number])[] => {
  const { shared, view } = node
  shared.took(names === null ? 'metadata of all topics' : 'metadata of topics')
  return (names ?? [...view.topics.keys()]).map((name) => {
    const topic = view.topics.get(name)
    if (topic) return [name, topic, errors.NONE]
    if (!isTopicName(name)) {
      shared.took('metadata of an invalid name')
      return [name, undefined, errors.INVALID_TOPIC_EXCEPTION]
    }
    shared.took('metadata of an unknown topic')
    if (mayCreate && shared.autoCreateTopics && !shared.image().topics.has(name)) {
      shared.took('topic created by a request for metadata')
      createTopic(shared, name, 1)
    }
    return [name, undefined, errors.UNKNOWN_TOPIC_OR_PARTITION]
  })
}

const metadata = ({ node, body, respond }: Call<'Metadata'>): void =>
  respond({
    throttleTimeMs: 0,
    brokers: brokersOf(node),
    clusterId: 'simulated',
    controllerId: controllerOf(node),
    topics: wantedTopics(node, body.topics, body.allowAutoTopicCreation).map(([topic, image, errorCode]) => ({
      errorCode,
      topic,
      isInternal: image?.isInternal ?? false,
      partitions: image ? metadataOf(node, image) : [],
    })),
  })

const metadataWithIds = ({ node, body, respond }: Call<'MetadataWithIds'>): void => {
  node.shared.took('metadata with ids')
  const names = body.topics?.map(({ topic }) => topic ?? '') ?? null
  respond({
    throttleTimeMs: 0,
    brokers: brokersOf(node),
    clusterId: 'simulated',
    controllerId: controllerOf(node),
    topics: wantedTopics(node, names, body.allowAutoTopicCreation).map(([topic, image, errorCode]) => ({
      errorCode,
      topic,
      topicId: image?.id ?? '0'.repeat(32),
      isInternal: image?.isInternal ?? false,
      partitions: image ? metadataOf(node, image) : [],
      topicAuthorizedOperations: -2147483648,
    })),
    clusterAuthorizedOperations: -2147483648,
  })
}

const findCoordinator = ({ node, body, respond }: Call<'FindCoordinator'>): void => {
  const { took, addressOf } = node.shared
  const topic = node.view.topics.get(body.keyType === transactionKey ? transactionsTopic : offsetsTopic)
  const nodeId = topic?.partitions[partitionFor(body.key, topic.partitions.length)]?.leader ?? -1
  if (nodeId === -1 || !node.view.brokers.has(nodeId)) {
    took('coordinator not available')
    respond({
      throttleTimeMs: 0,
      errorCode: errors.COORDINATOR_NOT_AVAILABLE,
      errorMessage: 'The coordinator is not available.',
      nodeId: -1,
      host: '',
      port: -1,
    })
    return // prettier-ignore
  }
  took('coordinator found')
  respond({ throttleTimeMs: 0, errorCode: errors.NONE, errorMessage: 'NONE', nodeId, ...addressOf(nodeId) })
}

// ---- groups ----

const joinGroup = ({ node, body, clientId, respond }: Call<'JoinGroup'>): void => {
  const { took } = node.shared
  const failed = (errorCode: number): void =>
    respond({
      throttleTimeMs: 0,
      errorCode,
      generationId: -1,
      protocolName: '',
      leader: '',
      memberId: body.memberId,
      members: [],
    })
  if (body.groupId === '') {
    took('join refused: no group id')
    failed(errors.INVALID_GROUP_ID)
    return
  }
  if (body.sessionTimeoutMs < sessionLimits[0] || body.sessionTimeoutMs > sessionLimits[1]) {
    took('join refused: session time')
    failed(errors.INVALID_SESSION_TIMEOUT)
    return
  }
  const coordinator = node.groupsOf(body.groupId)
  if (typeof coordinator === 'number') {
    failed(coordinator)
    return
  }
  const group = coordinator.groupToJoin(body.groupId, body.memberId)
  if (!group) {
    took('join refused: unknown member')
    failed(errors.UNKNOWN_MEMBER_ID)
    return
  }
  group.join(body, clientId, respond)
}

const syncGroup = ({ node, body, respond }: Call<'SyncGroup'>): void => {
  const reply = (errorCode: number, assignment: Buffer): void => respond({ throttleTimeMs: 0, errorCode, assignment })
  const coordinator = node.groupsOf(body.groupId)
  if (typeof coordinator === 'number') {
    reply(coordinator, Buffer.alloc(0))
    return
  }
  const group = coordinator.groups.get(body.groupId)
  if (group) {
    group.sync(body, reply)
    return
  }
  node.shared.took('sync refused: unknown member')
  reply(errors.UNKNOWN_MEMBER_ID, Buffer.alloc(0))
}

const heartbeat = ({ node, body, respond }: Call<'Heartbeat'>): void => {
  const reply = (errorCode: number): void => respond({ throttleTimeMs: 0, errorCode })
  const coordinator = node.groupsOf(body.groupId)
  if (typeof coordinator === 'number') {
    reply(coordinator)
    return
  }
  const group = coordinator.groups.get(body.groupId)
  if (group) {
    reply(group.heartbeat(body))
    return
  }
  node.shared.took('heartbeat refused: unknown member')
  reply(errors.UNKNOWN_MEMBER_ID)
}

const leaveGroup = ({ node, body, respond }: Call<'LeaveGroup'>): void => {
  const coordinator = node.groupsOf(body.groupId)
  if (typeof coordinator === 'number') {
    respond({ throttleTimeMs: 0, errorCode: coordinator, members: [] })
    return
  }
  const group = coordinator.groups.get(body.groupId)
  if (!group) node.shared.took('leave refused: unknown member')
  const codes = group?.leave(body.members.map(({ memberId }) => memberId)) ?? []
  respond({
    throttleTimeMs: 0,
    errorCode: errors.NONE,
    members: body.members.map(({ memberId, groupInstanceId }, nth) => ({
      memberId,
      groupInstanceId,
      errorCode: codes[nth] ?? errors.UNKNOWN_MEMBER_ID,
    })),
  })
}

type NewOffsets = RequestBody<'OffsetCommit'>['topics']

/** Collects the offsets that may be committed, commits them together, and answers each partition with its own error. */
const commitEach = (
  { view, shared: { took } }: BrokerNode,
  topics: NewOffsets,
  isTransactional: boolean,
  commit: (
    offsets: readonly { topic: string; partition: number; offset: number; metadata: string | null }[],
    done: (error: number) => void,
  ) => void,
  respond: (body: Answer<'OffsetCommit'>) => void,
): void => {
  const checked = topics.map(({ topic, partitions }) => ({
    topic,
    partitions: partitions.map((one) => {
      const exists = view.topics.get(topic)?.partitions[one.partition] !== undefined
      if (!exists)
        took(isTransactional ? 'transactional offsets refused: unknown topic' : 'commit refused: unknown topic')
      const isTooLarge = exists && (one.metadata?.length ?? 0) > maxOffsetMetadataBytes
      if (isTooLarge)
        took(
          isTransactional ? 'transactional offsets refused: metadata too large' : 'commit refused: metadata too large',
        )
      const error = !exists
        ? errors.UNKNOWN_TOPIC_OR_PARTITION
        : isTooLarge
          ? errors.OFFSET_METADATA_TOO_LARGE
          : errors.NONE
      return { ...one, error: error }
    }),
  }))
  const offsets = checked.flatMap(({ topic, partitions }) =>
    partitions.filter(({ error }) => error === errors.NONE).map((one) => ({ topic, ...one })),
  )
  const answer = (result: number): void =>
    respond({
      throttleTimeMs: 0,
      topics: checked.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map(({ partition, error }) => ({
          partition,
          errorCode: error === errors.NONE ? result : error,
        })),
      })),
    })
  if (offsets.length === 0) answer(errors.NONE)
  else commit(offsets, answer)
}

const offsetCommit = ({ node, body, respond }: Call<'OffsetCommit'>): void =>
  commitEach(
    node,
    body.topics,
    false,
    (offsets, done) => {
      const coordinator = node.groupsOf(body.groupId)
      if (typeof coordinator === 'number') done(coordinator)
      else coordinator.commit(body, offsets, done)
    },
    respond,
  )

const txnOffsetCommit = ({ node, body, respond }: Call<'TxnOffsetCommit'>): void =>
  commitEach(
    node,
    body.topics,
    true,
    (offsets, done) => {
      const coordinator = node.groupsOf(body.groupId)
      if (typeof coordinator === 'number') {
        done(coordinator)
        return
      }
      const { transactionalId, producerId, producerEpoch, groupId } = body
      if (!coordinator.hasOngoing(producerId, producerEpoch)) {
        const partition = `${offsetsTopic}/${partitionFor(groupId, node.shared.groups.length)}`
        const error = verify(node, transactionalId, producerId, producerEpoch, partition)
        if (error !== errors.NONE) {
          node.shared.took(offsetRefusals[error] ?? 'transactional offsets refused: transaction is ending')
          done(error)
          return
        }
      }
      coordinator.commitInTransaction(body, offsets, done)
    },
    respond,
  )

const offsetRefusals: Partial<
  Record<
    number,
    | 'transactional offsets refused: not in the transaction'
    | 'transactional offsets refused: old epoch'
    | 'transactional offsets refused: producer id of another'
  >
> = {
  // prettier-ignore
  [errors.INVALID_TXN_STATE]: 'transactional offsets refused: not in the transaction',
  [errors.INVALID_PRODUCER_EPOCH]: 'transactional offsets refused: old epoch',
  [errors.INVALID_PRODUCER_ID_MAPPING]: 'transactional offsets refused: producer id of another',
}

const offsetFetch = ({ node, body, respond }: Call<'OffsetFetch'>): void => {
  const coordinator = node.groupsOf(body.groupId)
  if (typeof coordinator === 'number') {
    respond({ throttleTimeMs: 0, topics: [], errorCode: coordinator })
    return
  }
  respond({ throttleTimeMs: 0, topics: coordinator.fetch(body.groupId, body.topics), errorCode: errors.NONE })
}

const stableOffsetFetch = ({ node, body, respond }: Call<'StableOffsetFetch'>): void => {
  const { groupId, topics, requireStable } = body
  const coordinator = node.groupsOf(groupId)
  const nothing = { throttleTimeMs: 0, topics: [] }
  if (typeof coordinator === 'number') respond({ ...nothing, errorCode: coordinator })
  else if (requireStable && topics)
    coordinator.fetchSettled(groupId, topics, (errorCode, found) =>
      respond(errorCode === errors.NONE ? { ...nothing, topics: found, errorCode } : { ...nothing, errorCode }),
    )
  else {
    const found = coordinator.fetch(groupId, topics).map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map((one) => ({ ...one, leaderEpoch: -1 })),
    }))
    respond({ ...nothing, topics: found, errorCode: errors.NONE })
  }
}

const listGroups = ({ node, respond }: Call<'ListGroups'>): void => {
  node.shared.took('groups listed')
  const groups = node.shared.groups.flatMap(({ broker, coordinator }) =>
    broker === node.id ? [...(coordinator?.groups.values() ?? [])] : [],
  )
  respond({
    throttleTimeMs: 0,
    errorCode: errors.NONE,
    groups: groups.map((group) => ({ groupId: group.id, protocolType: group.describe().protocolType })),
  })
}

const describeGroups = ({ node, body, respond }: Call<'DescribeGroups'>): void => {
  node.shared.took('groups described')
  const nothing = { protocolType: '', protocol: '', members: [] }
  respond({
    throttleTimeMs: 0,
    groups: body.groups.map((groupId) => {
      const coordinator = node.groupsOf(groupId)
      if (typeof coordinator === 'number') return { errorCode: coordinator, groupId, state: '', ...nothing }
      const group = coordinator.groups.get(groupId)
      if (!group) return { errorCode: errors.NONE, groupId, state: 'Dead', ...nothing }
      return { errorCode: errors.NONE, groupId, ...group.describe() }
    }),
  })
}

const deleteGroups = ({ node, body, respond }: Call<'DeleteGroups'>): void =>
  respond({
    throttleTimeMs: 0,
    groups: body.groups.map((groupId) => {
      const coordinator = node.groupsOf(groupId)
      return { groupId, errorCode: typeof coordinator === 'number' ? coordinator : coordinator.deleteGroup(groupId) }
    }),
  })

const offsetDelete = ({ node, body, respond }: Call<'OffsetDelete'>): void => {
  const { took } = node.shared
  const coordinator = node.groupsOf(body.groupId)
  const group = typeof coordinator === 'number' ? undefined : coordinator.groups.get(body.groupId)
  if (typeof coordinator === 'number' || !group) {
    took('delete of offsets refused')
    const errorCode = typeof coordinator === 'number' ? coordinator : errors.GROUP_ID_NOT_FOUND
    respond({ errorCode, throttleTimeMs: 0, topics: [] })
    return
  }
  // The metadata of a member lists its topics; nearly always these are all topics of the group.
  const isUsed = group.state !== 'Empty'
  respond({
    errorCode: errors.NONE,
    throttleTimeMs: 0,
    topics: body.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition }) => {
        if (isUsed) took('delete of offsets refused')
        else coordinator.deleteOffsets(body.groupId, topic, partition)
        return { partition, errorCode: isUsed ? errors.GROUP_SUBSCRIBED_TO_TOPIC : errors.NONE }
      }),
    })),
  })
}

// ---- transactions ----

/** Versions before 2 of these requests do not have PRODUCER_FENCED. */
const forOldClients = (error: number): number =>
  error === errors.PRODUCER_FENCED ? errors.INVALID_PRODUCER_EPOCH : error

const initProducerId = ({ node, body, respond }: Call<'InitProducerId'>): void => {
  const { shared } = node
  const reply = (error: number, producerId = -1, producerEpoch = -1): void =>
    respond({ throttleTimeMs: 0, errorCode: forOldClients(error), producerId, producerEpoch })
  if (body.transactionalId === null) {
    shared.took('producer id given')
    reply(errors.NONE, shared.nextProducerId(), 0)
    return
  }
  const coordinator = node.transactionsOf(body.transactionalId)
  if (typeof coordinator === 'number') {
    reply(coordinator)
    return
  }
  coordinator.initialise(body.transactionalId, body.transactionTimeoutMs, ({ error, producerId, epoch }) =>
    reply(error, producerId, epoch),
  )
}

const addPartitionsToTxn = ({ node, body, respond }: Call<'AddPartitionsToTxn'>): void => {
  const { shared } = node
  const { took } = shared
  const { transactionalId, producerId, producerEpoch, topics } = body
  const isKnown = (topic: string, partition: number): boolean =>
    node.view.topics.get(topic)?.partitions[partition] !== undefined
  const reply = (errorOf: (topic: string, partition: number) => number): void =>
    respond({
      throttleTimeMs: 0,
      topics: topics.map(({ topic, partitions }) => ({
        topic,
        partitions: partitions.map((partition) => ({ partition, errorCode: errorOf(topic, partition) })),
      })),
    })
  if (topics.some(({ topic }) => shared.denied.has(topic))) {
    took('transaction refused: access denied')
    reply((topic) => (shared.denied.has(topic) ? errors.TOPIC_AUTHORIZATION_FAILED : errors.OPERATION_NOT_ATTEMPTED))
    return
  }
  if (topics.some(({ topic, partitions }) => partitions.some((partition) => !isKnown(topic, partition)))) {
    took('transaction refused: unknown topic')
    reply((topic, partition) =>
      isKnown(topic, partition) ? errors.OPERATION_NOT_ATTEMPTED : errors.UNKNOWN_TOPIC_OR_PARTITION,
    )
    return
  }
  const coordinator = node.transactionsOf(transactionalId)
  if (typeof coordinator === 'number') {
    reply(() => coordinator)
    return
  }
  const wanted = topics.flatMap(({ topic, partitions }) => partitions.map((partition) => `${topic}/${partition}`))
  coordinator.addPartitions(transactionalId, producerId, producerEpoch, wanted, (error) => {
    if (error === errors.NONE) took('partitions added to a transaction')
    reply(() => forOldClients(error))
  })
}

const addOffsetsToTxn = ({ node, body, respond }: Call<'AddOffsetsToTxn'>): void => {
  const { shared } = node
  const { transactionalId, producerId, producerEpoch, groupId } = body
  const reply = (error: number): void => respond({ throttleTimeMs: 0, errorCode: forOldClients(error) })
  const coordinator = node.transactionsOf(transactionalId)
  if (typeof coordinator === 'number') {
    reply(coordinator)
    return
  }
  const partition = `${offsetsTopic}/${partitionFor(groupId, shared.groups.length)}`
  coordinator.addPartitions(transactionalId, producerId, producerEpoch, [partition], (error) => {
    if (error === errors.NONE) shared.took('offsets added to a transaction')
    reply(error)
  })
}

const endTxn = ({ node, body, respond }: Call<'EndTxn'>): void => {
  const { transactionalId, producerId, producerEpoch, committed } = body
  const reply = (error: number): void => respond({ throttleTimeMs: 0, errorCode: forOldClients(error) })
  const coordinator = node.transactionsOf(transactionalId)
  if (typeof coordinator === 'number') {
    reply(coordinator)
    return
  }
  coordinator.endByClient(transactionalId, producerId, producerEpoch, committed, reply)
}

// ---- topics ----

/** The controller's decision is answered at once, before all brokers know of it. */
const decided = ({ node }: { readonly node: BrokerNode }, run: () => void): void =>
  node.after(drawMs(node.shared.random, [1, 12]), run)

const createTopics = (call: Call<'CreateTopics'>): void =>
  decided(call, () => {
    const { node, body, respond } = call
    respond({
      throttleTimeMs: 0,
      topics: body.topics.map(({ topic, numPartitions, replicationFactor, assignments, configs }) => {
        const given = Object.fromEntries(configs.flatMap(({ name, value }) => (value === null ? [] : [[name, value]])))
        const count = assignments.length > 0 ? assignments.length : numPartitions
        const errorCode = createTopic(node.shared, topic, count, { replicationFactor, configs: given, isTried: body.validateOnly }) // prettier-ignore
        return {
          topic,
          errorCode,
          errorMessage: errorCode === errors.NONE ? null : `Topic '${topic}' cannot be created.`,
        }
      }),
    })
  })

const deleteTopics = (call: Call<'DeleteTopics'>): void =>
  decided(call, () => {
    const { node, body, respond } = call
    const topics = body.topics.map((topic) => ({ topic, errorCode: deleteTopic(node.shared, topic) }))
    respond({ throttleTimeMs: 0, topics })
  })

const createPartitions = (call: Call<'CreatePartitions'>): void =>
  decided(call, () => {
    const { node, body, respond } = call
    respond({
      throttleTimeMs: 0,
      topics: body.topics.map(({ topic, count }) => {
        const errorCode = addPartitions(node.shared, topic, count, body.validateOnly)
        return { topic, errorCode, errorMessage: errorCode === errors.NONE ? null : `Topic '${topic}' stays as it is.` }
      }),
    })
  })

const deleteRecords = ({ node, body, respond }: Call<'DeleteRecords'>): void => {
  const { took } = node.shared
  respond({
    throttleTimeMs: 0,
    topics: body.topics.map(({ topic, partitions }) => ({
      topic,
      partitions: partitions.map(({ partition: number, offset }) => {
        const partition = node.leading(topic, number)
        const failed = (errorCode: number) => {
          took('deletion of records refused')
          return { partition: number, lowWatermark: -1, errorCode }
        }
        if (typeof partition === 'number') return failed(partition)
        const { log } = partition
        const upTo = offset === -1 ? log.high : offset
        if (upTo < log.start || upTo > log.high) return failed(errors.OFFSET_OUT_OF_RANGE)
        took('records deleted')
        log.deleteBefore(upTo)
        return { partition: number, lowWatermark: log.start, errorCode: errors.NONE }
      }),
    })),
  })
}

const describeConfigs = ({ node, body, respond }: Call<'DescribeConfigs'>): void =>
  respond({
    throttleTimeMs: 0,
    resources: body.resources.map(({ resourceType, resourceName, configNames }) => {
      const topic = resourceType === topicResource ? node.view.topics.get(resourceName) : undefined
      if (!topic) {
        node.shared.took('configuration refused: unknown topic')
        return { errorCode: errors.UNKNOWN_TOPIC_OR_PARTITION, errorMessage: 'This server does not host this topic-partition.', resourceType, resourceName, configs: [] } // prettier-ignore
      }
      node.shared.took('configuration described')
      const wanted = Object.entries(configsOf(topic)).filter(([name]) => configNames?.includes(name) ?? true)
      return {
        errorCode: errors.NONE,
        errorMessage: '',
        resourceType,
        resourceName,
        configs: wanted.map(([name, value]) => ({
          name,
          value,
          readOnly: false,
          source: name in topic.configs ? 1 : 5,
          isSensitive: false,
          synonyms: [],
        })),
      }
    }),
  })

const apiVersions = ({ respond }: Call<'ApiVersions'>): void =>
  respond({ errorCode: errors.NONE, apiKeys: announced, throttleTimeMs: 0 })

export const handlers: Handlers = {
  Produce: produce,
  Fetch: fetch,
  ListOffsets: listOffsets,
  Metadata: metadata,
  MetadataWithIds: metadataWithIds,
  OffsetCommit: offsetCommit,
  OffsetFetch: offsetFetch,
  StableOffsetFetch: stableOffsetFetch,
  FindCoordinator: findCoordinator,
  JoinGroup: joinGroup,
  Heartbeat: heartbeat,
  LeaveGroup: leaveGroup,
  SyncGroup: syncGroup,
  DescribeGroups: describeGroups,
  ListGroups: listGroups,
  ApiVersions: apiVersions,
  CreateTopics: createTopics,
  DeleteTopics: deleteTopics,
  DeleteRecords: deleteRecords,
  InitProducerId: initProducerId,
  AddPartitionsToTxn: addPartitionsToTxn,
  AddOffsetsToTxn: addOffsetsToTxn,
  EndTxn: endTxn,
  TxnOffsetCommit: txnOffsetCommit,
  DescribeConfigs: describeConfigs,
  CreatePartitions: createPartitions,
  DeleteGroups: deleteGroups,
  OffsetDelete: offsetDelete,
}
