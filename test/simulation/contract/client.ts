// A client at protocol level: sends requests as bytes on a connection and reports answers as names and plain numbers.
import {
  batchHead,
  buildBatch,
  decodeResponse,
  encodeRequest,
  errorName,
  groupKey,
  latest,
  noTopicId,
  readRecords,
  readUncommitted,
  splitBatches,
  transactionKey,
  type ApiName,
  type ErrorName,
  type NewBatch,
  type RequestBody,
  type ResponseBody,
} from '../wire.js'

export type Connection = {
  /** Sends a request with its length and resolves with the response without it. Answers arrive in request order. */
  readonly send: (request: Buffer) => Promise<Buffer>
  readonly close: () => void
}

/** A real or simulated cluster with its clock. Brokers are numbered from 1; most scenarios need one. */
export type Target = {
  readonly connect: (broker: number) => Promise<Connection>
  readonly wait: (ms: number) => Promise<void>
  readonly now: () => number
  /** Crashes and restarts the broker; resolves when it accepts connections. */
  readonly restart: () => Promise<void>
  /** Crashes a broker. */
  readonly crash: (broker: number) => Promise<void>
  /** Makes names of topics, groups and transactional ids unique on this cluster. */
  readonly unique: (name: string) => string
}

export type Producer = { readonly producerId: number; readonly producerEpoch: number }
export type Initialised = { readonly error: ErrorName } & Producer
export type Produced = { readonly error: ErrorName; readonly offset: number }
export type Fetched = {
  readonly error: ErrorName
  readonly high: number
  readonly stable: number
  readonly start: number
  /** The producer id and first offset of each aborted transaction; null with read_uncommitted. */
  readonly aborted: readonly (readonly [producerId: number, firstOffset: number])[] | null
  /** `3-5` for a data batch, `6 commit` for a marker. */
  readonly batches: readonly string[]
}

export type BatchOptions = Omit<NewBatch, 'records'> & {
  readonly count?: number
  readonly valueBytes?: number
  readonly key?: string | null
  readonly timestamp?: number
}

/** Longer than any suite, for things that must not end during it. */
export const longMs = 60_000
/** How often a condition is tried: enough for a busy machine, and free in virtual time. */
const tries = 600
const pauseMs = 100

export type Client = ReturnType<typeof clientOn>

/** Uses a separate connection, because a waiting request blocks later ones. */
export const openClient = async (target: Target, broker = 1): Promise<Client> =>
  clientOn(target, broker, await target.connect(broker))

const clientOn = (target: Target, broker: number, connection: Connection) => {
  let correlationId = 0
  const ask = async <N extends ApiName>(api: N, body: RequestBody<N>): Promise<ResponseBody<N>> => {
    const id = ++correlationId
    const answer = decodeResponse(api, await connection.send(encodeRequest(api, body, { correlationId: id, clientId })))
    if (answer.correlationId !== id) throw new Error(`answer ${answer.correlationId} to request ${id}`)
    return answer.body
  }

  const until = async <T>(attempt: () => Promise<T>, met: (value: T) => boolean): Promise<T> => {
    let value = await attempt()
    for (let left = tries; left > 0 && !met(value); left--) {
      await target.wait(pauseMs)
      value = await attempt()
    }
    return value
  }

  const batch = ({ count = 1, valueBytes = 10, key = null, timestamp, ...rest }: BatchOptions = {}): Buffer =>
    buildBatch({
      ...rest,
      records: Array.from({ length: count }, (_, index) => ({
        key: key === null ? null : Buffer.from(key),
        value: Buffer.alloc(valueBytes, 97 + (index % 26)),
        timestamp: (timestamp ?? target.now()) + index,
      })),
    })

  const sendBatch = async (
    topic: string,
    partition: number,
    records: Buffer,
    options: { readonly transactionalId?: string; readonly acks?: number } = {},
  ): Promise<Produced> => {
    const { transactionalId = null, acks = -1 } = options
    const answer = await ask('Produce', {
      transactionalId,
      acks,
      timeoutMs: longMs,
      topics: [{ topic, partitions: [{ partition, records }] }],
    })
    const { errorCode, baseOffset } = only(only(answer.topics).partitions)
    return { error: errorName(errorCode), offset: baseOffset }
  }

  const fetchRaw = (
    topic: string,
    partitions: readonly { readonly partition: number; readonly offset: number; readonly maxBytes?: number }[],
    options: FetchOptions = {},
  ): Promise<ResponseBody<'Fetch'>> =>
    ask('Fetch', {
      replicaId: -1,
      maxWaitMs: options.maxWaitMs ?? 0,
      minBytes: options.minBytes ?? 1,
      maxBytes: options.maxBytes ?? 10_000_000,
      isolationLevel: options.isolation ?? readUncommitted,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [
        {
          topic,
          partitions: partitions.map(({ partition, offset, maxBytes = 1_000_000 }) => ({
            partition,
            currentLeaderEpoch: options.leaderEpoch ?? -1,
            fetchOffset: offset,
            logStartOffset: -1,
            partitionMaxBytes: maxBytes,
          })),
        },
      ],
      forgotten: [],
      rackId: '',
    })

  const partitionsOf = async (topic: string): Promise<number> =>
    only((await ask('Metadata', { topics: [topic], allowAutoTopicCreation: false })).topics).partitions.length

  // Topics
  const createTopic = async (
    topic: string,
    options: {
      readonly partitions?: number
      readonly replicas?: number
      readonly configs?: Readonly<Record<string, string>>
      readonly validateOnly?: boolean
    } = {},
  ): Promise<ErrorName> => {
    const answer = await ask('CreateTopics', {
      topics: [
        {
          topic,
          numPartitions: options.partitions ?? 1,
          replicationFactor: options.replicas ?? 1,
          assignments: [],
          configs: Object.entries(options.configs ?? {}).map(([name, value]) => ({ name, value })),
        },
      ],
      timeoutMs: longMs,
      validateOnly: options.validateOnly ?? false,
    })
    return errorName(only(answer.topics).errorCode)
  }
  /** Creates a topic and waits until it is served. */
  const topic = async (
    name: string,
    options: { readonly partitions?: number; readonly configs?: Readonly<Record<string, string>> } = {},
  ): Promise<string> => {
    const topic = target.unique(name)
    must('NONE', await createTopic(topic, options))
    await untilServed(topic, options.partitions ?? 1)
    return topic
  }
  const untilServed = async (topic: string, partitions: number): Promise<void> => {
    for (let partition = 0; partition < partitions; partition++) {
      const served = await until(
        () => offsetAt(topic, partition, latest),
        ({ error }) => error === 'NONE',
      )
      must('NONE', served.error)
    }
  }
  const deleteTopic = async (topic: string): Promise<ErrorName> =>
    errorName(only((await ask('DeleteTopics', { topics: [topic], timeoutMs: longMs })).topics).errorCode)
  const topicId = async (topic: string): Promise<{ readonly error: ErrorName; readonly id: string }> => {
    const answer = await ask('MetadataWithIds', {
      topics: [{ topicId: noTopicId, topic }],
      allowAutoTopicCreation: false,
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    })
    const { errorCode, topicId } = only(answer.topics)
    return { error: errorName(errorCode), id: topicId }
  }
  const addPartitions = async (topic: string, count: number): Promise<ErrorName> =>
    errorName(
      only(
        (
          await ask('CreatePartitions', {
            topics: [{ topic, count, assignments: null }],
            timeoutMs: longMs,
            validateOnly: false,
          })
        ).topics,
      ).errorCode,
    )

  // Records
  const produce = (
    topic: string,
    options: BatchOptions & { readonly partition?: number; readonly transactionalId?: string } = {},
  ): Promise<Produced> => {
    const { partition = 0, transactionalId, ...rest } = options
    return sendBatch(
      topic,
      partition,
      batch({ ...rest, transactional: transactionalId !== undefined }),
      transactionalId === undefined ? {} : { transactionalId },
    )
  }
  const fetch = async (topic: string, offset: number, options: FetchOptions & { partition?: number } = {}) =>
    told(
      only(only((await fetchRaw(topic, [{ partition: options.partition ?? 0, offset }], options)).topics).partitions),
    )
  const offsetAt = async (
    topic: string,
    partition: number,
    timestamp: number,
    isolationLevel: number = readUncommitted,
  ): Promise<{ readonly error: ErrorName; readonly offset: number; readonly timestamp: number }> => {
    const answer = await ask('ListOffsets', {
      replicaId: -1,
      isolationLevel,
      topics: [{ topic, partitions: [{ partition, timestamp }] }],
    })
    const found = only(only(answer.topics).partitions)
    return { error: errorName(found.errorCode), offset: found.offset, timestamp: found.timestamp }
  }
  const deleteRecords = async (topic: string, offset: number) => {
    const answer = await ask('DeleteRecords', {
      topics: [{ topic, partitions: [{ partition: 0, offset }] }],
      timeoutMs: longMs,
    })
    const { errorCode, lowWatermark } = only(only(answer.topics).partitions)
    return { error: errorName(errorCode), low: lowWatermark }
  }

  // Transactions
  const init = async (transactionalId: string | null, transactionTimeoutMs: number = longMs): Promise<Initialised> => {
    const { errorCode, producerId, producerEpoch } = await ask('InitProducerId', {
      transactionalId,
      transactionTimeoutMs,
    })
    return { error: errorName(errorCode), producerId, producerEpoch }
  }
  /** Waits for temporary states of the coordinator, such as an ending transaction or a log being read. */
  const initialised = async (
    transactionalId: string | null,
    transactionTimeoutMs: number = longMs,
  ): Promise<Producer> => {
    const { error, producerId, producerEpoch } = await until(
      () => init(transactionalId, transactionTimeoutMs),
      ({ error }) => !passing.has(error),
    )
    must('NONE', error)
    return { producerId, producerEpoch }
  }
  const addToTransaction = async (
    transactionalId: string,
    { producerId, producerEpoch }: Producer,
    topic: string,
    partitions: readonly number[] = [0],
  ): Promise<readonly ErrorName[]> => {
    const answer = await ask('AddPartitionsToTxn', {
      transactionalId,
      producerId,
      producerEpoch,
      topics: [{ topic, partitions }],
    })
    return only(answer.topics).partitions.map(({ errorCode }) => errorName(errorCode))
  }
  const addOffsets = async (
    transactionalId: string,
    { producerId, producerEpoch }: Producer,
    groupId: string,
  ): Promise<ErrorName> =>
    errorName((await ask('AddOffsetsToTxn', { transactionalId, producerId, producerEpoch, groupId })).errorCode)
  const end = async (
    transactionalId: string,
    { producerId, producerEpoch }: Producer,
    outcome: 'commit' | 'abort',
  ): Promise<ErrorName> =>
    errorName(
      (await ask('EndTxn', { transactionalId, producerId, producerEpoch, committed: outcome === 'commit' })).errorCode,
    )
  const commitInTransaction = async (
    transactionalId: string,
    { producerId, producerEpoch }: Producer,
    groupId: string,
    topic: string,
    offset: number,
    metadata: string | null = '',
  ): Promise<ErrorName> => {
    const answer = await ask('TxnOffsetCommit', {
      transactionalId,
      groupId,
      producerId,
      producerEpoch,
      topics: [{ topic, partitions: [{ partition: 0, offset, metadata }] }],
    })
    return errorName(only(only(answer.topics).partitions).errorCode)
  }

  // Groups
  const commit = async (
    groupId: string,
    member: { readonly memberId: string; readonly generationId: number },
    topic: string,
    offset: number,
    options: { readonly metadata?: string | null; readonly partition?: number } = {},
  ): Promise<ErrorName> => {
    const answer = await ask('OffsetCommit', {
      groupId,
      generationId: member.generationId,
      memberId: member.memberId,
      topics: [
        { topic, partitions: [{ partition: options.partition ?? 0, offset, metadata: options.metadata ?? null }] },
      ],
    })
    return errorName(only(only(answer.topics).partitions).errorCode)
  }
  const committed = async (groupId: string, topic: string, partition = 0): Promise<Committed> => {
    const answer = await ask('OffsetFetch', { groupId, topics: [{ topic, partitions: [partition] }] })
    if (answer.errorCode !== 0) return { error: errorName(answer.errorCode), offset: -1, metadata: null }
    const { errorCode, offset, metadata } = only(only(answer.topics).partitions)
    return { error: errorName(errorCode), offset, metadata }
  }
  /** Returns only offsets that no open transaction can change. */
  const settled = async (groupId: string, topic: string, requireStable = true): Promise<Committed> => {
    const topics = [{ topic, partitions: [0] }]
    const answer = await ask('StableOffsetFetch', { groupId, topics, requireStable })
    if (answer.errorCode !== 0) return { error: errorName(answer.errorCode), offset: -1, metadata: null }
    const { errorCode, offset, metadata } = only(only(answer.topics).partitions)
    return { error: errorName(errorCode), offset, metadata }
  }
  const groupState = async (groupId: string): Promise<string> =>
    only((await ask('DescribeGroups', { groups: [groupId] })).groups).state
  const deleteGroup = async (groupId: string): Promise<ErrorName> =>
    errorName(only((await ask('DeleteGroups', { groups: [groupId] })).groups).errorCode)
  /** Returns a new group's name once its coordinator answers. */
  const group = async (name: string): Promise<string> => {
    const groupId = target.unique(name)
    await groupLoaded(groupId)
    return groupId
  }
  /** A coordinator can be found before it has loaded its state. */
  const groupLoaded = async (groupId: string): Promise<void> => {
    await coordinator(groupId, groupKey)
    const { error } = await until(
      () => committed(groupId, 'any'),
      (found) => !passing.has(found.error),
    )
    must('NONE', error)
  }
  const transactionalId = async (name: string): Promise<string> => {
    const id = target.unique(name)
    await coordinator(id, transactionKey)
    return id
  }
  const coordinator = async (key: string, keyType: number): Promise<ResponseBody<'FindCoordinator'>> => {
    const found = await until(
      () => ask('FindCoordinator', { key, keyType }),
      ({ errorCode }) => !passing.has(errorName(errorCode)),
    )
    must('NONE', errorName(found.errorCode))
    return found
  }
  return {
    ask,
    batch,
    until,
    sendBatch,
    wait: target.wait,
    now: target.now,
    unique: target.unique,
    restart: target.restart,
    crash: target.crash,
    close: connection.close,
    another: (of = broker) => openClient(target, of),
    createTopic,
    topic,
    untilServed,
    deleteTopic,
    partitionsOf,
    topicId,
    addPartitions,
    produce,
    fetchRaw,
    fetch,
    offsetAt,
    deleteRecords,
    init,
    initialised,
    addToTransaction,
    addOffsets,
    end,
    commitInTransaction,
    commit,
    committed,
    settled,
    groupState,
    deleteGroup,
    group,
    groupLoaded,
    transactionalId,
    coordinator,
  }
}

export type Committed = { readonly error: ErrorName; readonly offset: number; readonly metadata: string | null }

type FetchOptions = {
  readonly maxWaitMs?: number
  readonly minBytes?: number
  readonly maxBytes?: number
  readonly isolation?: number
  readonly leaderEpoch?: number
}

export const clientId = 'contract'

/** Temporary errors of a coordinator, which clients retry. */
export const passing: ReadonlySet<ErrorName> = new Set<ErrorName>([
  'COORDINATOR_NOT_AVAILABLE',
  'COORDINATOR_LOAD_IN_PROGRESS',
  'NOT_COORDINATOR',
  'CONCURRENT_TRANSACTIONS',
])

export const only = <T>(list: readonly T[]): T => {
  const [first] = list
  if (list.length !== 1 || first === undefined) throw new Error(`${list.length} where one is expected`)
  return first
}

const must = (expected: ErrorName, got: ErrorName): void => {
  if (got !== expected) throw new Error(`${got} where ${expected} is needed to go on`)
}

type FetchedPartition = ResponseBody<'Fetch'>['topics'][number]['partitions'][number]

export const told = (found: FetchedPartition): Fetched => ({
  error: errorName(found.errorCode),
  high: found.highWatermark,
  stable: found.lastStableOffset,
  start: found.logStartOffset,
  aborted: found.abortedTransactions?.map(({ producerId, firstOffset }) => [producerId, firstOffset] as const) ?? null,
  batches: splitBatches(found.records ?? Buffer.alloc(0)).map(describeBatch),
})

const describeBatch = (batch: Buffer): string => {
  const { baseOffset, lastOffset, control } = batchHead(batch)
  if (!control) return `${baseOffset}-${lastOffset}`
  const [record] = readRecords(batch)
  return `${baseOffset} ${record?.key?.readInt16BE(2) === 1 ? 'commit' : 'abort'}`
}
