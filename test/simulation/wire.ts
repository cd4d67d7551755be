// Kafka's wire format for the simulation and the contract suite: one table of messages for reading and writing.
import { gunzipSync, gzipSync } from 'node:zlib'

// ---------------------------------------------------------------------------------------------------------------------
// Protocol types. Flexible messages use compact encodings of the same types and end each struct with tags.

/** In two halves, because a BigInt would allocate an object per number. */
const readInt64 = (bytes: Buffer, at: number): number => bytes.readInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4)
const writeInt64 = (bytes: Buffer, value: number, at: number): void => {
  if (!Number.isSafeInteger(value)) throw new Error(`${value} is no exact number`)
  bytes.writeInt32BE(Math.floor(value / 2 ** 32), at)
  bytes.writeUInt32BE(value >>> 0, at + 4)
}

class Writer {
  private bytes = Buffer.allocUnsafe(256)
  private at = 0
  constructor(readonly flexible: boolean) {}

  private room(size: number): number {
    const from = this.at
    this.at += size
    if (this.at > this.bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.at, 2 * this.bytes.length))
      this.bytes.copy(larger, 0, 0, from)
      this.bytes = larger
    }
    return from
  }
  int8(value: number): void {
    const at = this.room(1)
    this.bytes.writeInt8(value, at)
  }
  int16(value: number): void {
    const at = this.room(2)
    this.bytes.writeInt16BE(value, at)
  }
  int32(value: number): void {
    const at = this.room(4)
    this.bytes.writeInt32BE(value, at)
  }
  int64(value: number): void {
    const at = this.room(8)
    writeInt64(this.bytes, value, at)
  }
  raw(value: Buffer): void {
    const at = this.room(value.length)
    value.copy(this.bytes, at)
  }
  text(value: string, length: number): void {
    const at = this.room(length)
    this.bytes.write(value, at, length)
  }
  unsigned(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest >>>= 7) this.byte((rest & 0x7f) | 0x80)
    this.byte(rest)
  }
  /** A signed number in records: zigzag encoding, seven bits per byte. */
  varint(value: number): void {
    let rest = value >= 0 ? value * 2 : -value * 2 - 1
    for (; rest >= 0x80; rest = Math.floor(rest / 128)) this.byte((rest % 128) | 0x80)
    this.byte(rest)
  }
  private byte(value: number): void {
    const at = this.room(1)
    this.bytes[at] = value
  }
  tags(): void {
    if (this.flexible) this.unsigned(0)
  }
  done(): Buffer {
    return this.bytes.subarray(0, this.at)
  }
}

class Reader {
  constructor(
    private readonly bytes: Buffer,
    public flexible: boolean,
    private at = 0,
  ) {}

  int8(): number {
    return this.bytes.readInt8(this.at++)
  }
  int16(): number {
    this.at += 2
    return this.bytes.readInt16BE(this.at - 2)
  }
  int32(): number {
    this.at += 4
    return this.bytes.readInt32BE(this.at - 4)
  }
  int64(): number {
    this.at += 8
    const value = readInt64(this.bytes, this.at - 8)
    if (!Number.isSafeInteger(value)) throw new Error(`${value} at byte ${this.at - 8} is no exact number`)
    return value
  }
  private pass(length: number): number {
    const from = this.at
    this.at += length
    if (length < 0 || this.at > this.bytes.length) throw new Error(`the message ends before byte ${this.at}`)
    return from
  }
  raw(length: number): Buffer {
    const from = this.pass(length)
    return this.bytes.subarray(from, this.at)
  }
  text(length: number): string {
    const from = this.pass(length)
    return this.bytes.toString('utf8', from, this.at)
  }
  unsigned(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes.readUInt8(this.at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new Error('a length is too long')
  }
  varint(): number {
    let value = 0
    for (let shift = 0; shift < 63; shift += 7) {
      const byte = this.bytes.readUInt8(this.at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    }
    throw new Error('a number is too long')
  }
  tags(): void {
    if (!this.flexible) return
    for (let left = this.unsigned(); left > 0; left--) {
      this.unsigned()
      this.raw(this.unsigned())
    }
  }
  end(what: string): void {
    if (this.at !== this.bytes.length) throw new Error(`${what} has ${this.bytes.length - this.at} bytes too many`)
  }
}

/** A type of the protocol, with its encoder and decoder. */
type Type<T> = {
  write(to: Writer, value: T): void
  read(from: Reader): T
}
type Value<S> = S extends Type<infer T> ? T : never

const int8: Type<number> = { write: (to, value) => to.int8(value), read: (from) => from.int8() }
const int16: Type<number> = { write: (to, value) => to.int16(value), read: (from) => from.int16() }
const int32: Type<number> = { write: (to, value) => to.int32(value), read: (from) => from.int32() }
/** A plain number: offsets, times and producer ids are far below 2⁵³; larger values are an error. */
const int64: Type<number> = { write: (to, value) => to.int64(value), read: (from) => from.int64() }
const bool: Type<boolean> = { write: (to, value) => to.int8(value ? 1 : 0), read: (from) => from.int8() !== 0 }

/** A topic id in hexadecimal. */
const uuid: Type<string> = {
  write: (to, value) => to.raw(Buffer.from(value, 'hex')),
  read: (from) => from.raw(16).toString('hex'),
}

const nullableString: Type<string | null> = {
  write: (to, value) => {
    const length = value === null ? -1 : Buffer.byteLength(value)
    if (to.flexible) to.unsigned(length + 1)
    else to.int16(length)
    if (value !== null) to.text(value, length)
  },
  read: (from) => {
    const length = from.flexible ? from.unsigned() - 1 : from.int16()
    return length < 0 ? null : from.text(length)
  },
}
const nullableBytes: Type<Buffer | null> = {
  write: (to, value) => {
    if (to.flexible) to.unsigned(value ? value.length + 1 : 0)
    else to.int32(value?.length ?? -1)
    if (value) to.raw(value)
  },
  read: (from) => {
    const length = from.flexible ? from.unsigned() - 1 : from.int32()
    return length < 0 ? null : from.raw(length)
  },
}
const nullableArray = <T>(item: Type<T>): Type<readonly T[] | null> => ({
  write: (to, value) => {
    if (to.flexible) to.unsigned(value ? value.length + 1 : 0)
    else to.int32(value?.length ?? -1)
    if (value) for (const each of value) item.write(to, each)
  },
  read: (from) => {
    const length = from.flexible ? from.unsigned() - 1 : from.int32()
    if (length < 0) return null
    const items: T[] = []
    for (let left = length; left > 0; left--) items.push(item.read(from))
    return items
  },
})

const present = <T>(type: Type<T | null>): Type<T> => ({
  write: (to, value) => type.write(to, value),
  read: (from) => {
    const value = type.read(from)
    if (value === null) throw new Error('a field is null that must not be')
    return value
  },
})
const string = present(nullableString)
const bytes = present(nullableBytes)
const array = <T>(item: Type<T>): Type<readonly T[]> => present(nullableArray(item))

const struct = <F extends Readonly<Record<string, Type<unknown>>>>(
  fields: F,
): Type<{ readonly [K in keyof F]: Value<F[K]> }> => {
  type Struct = { readonly [K in keyof F]: Value<F[K]> }
  const names = Object.keys(fields)
  const types = Object.values(fields)
  // Objects copied from this have their final shape; adding fields one by one is slow.
  const empty = Object.fromEntries(names.map((name): [string, unknown] => [name, undefined]))
  return {
    write: (to, value) => {
      for (let nth = 0; nth < names.length; nth++) types[nth]!.write(to, value[names[nth]!])
      to.tags()
    },
    read: (from) => {
      const value = { ...empty }
      for (let nth = 0; nth < names.length; nth++) value[names[nth]!] = types[nth]!.read(from)
      from.tags()
      return value as Struct
    },
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The messages, each in the version that kafkajs 2.2.4 uses with Kafka 4. Also Metadata 10 for topic ids, and OffsetFetch 7, which
// reports offsets that an open transaction may change.

const throttled = { throttleTimeMs: int32 }
const perTopic = <F extends Readonly<Record<string, Type<unknown>>>>(partition: F) =>
  array(struct({ topic: string, partitions: array(struct({ partition: int32, ...partition })) }))

type Api = {
  readonly key: number
  readonly version: number
  readonly flexible?: true
  readonly request: Type<unknown>
  readonly response: Type<unknown>
}

export const apis = {
  Produce: {
    key: 0,
    version: 7,
    request: struct({
      transactionalId: nullableString,
      acks: int16,
      timeoutMs: int32,
      topics: perTopic({ records: nullableBytes }),
    }),
    response: struct({
      topics: perTopic({ errorCode: int16, baseOffset: int64, logAppendTimeMs: int64, logStartOffset: int64 }),
      throttleTimeMs: int32,
    }),
  },
  Fetch: {
    key: 1,
    version: 11,
    request: struct({
      replicaId: int32,
      maxWaitMs: int32,
      minBytes: int32,
      maxBytes: int32,
      isolationLevel: int8,
      sessionId: int32,
      sessionEpoch: int32,
      topics: perTopic({
        currentLeaderEpoch: int32,
        fetchOffset: int64,
        logStartOffset: int64,
        partitionMaxBytes: int32,
      }),
      forgotten: array(struct({ topic: string, partitions: array(int32) })),
      rackId: string,
    }),
    response: struct({
      ...throttled,
      errorCode: int16,
      sessionId: int32,
      topics: perTopic({
        errorCode: int16,
        highWatermark: int64,
        lastStableOffset: int64,
        logStartOffset: int64,
        abortedTransactions: nullableArray(struct({ producerId: int64, firstOffset: int64 })),
        preferredReadReplica: int32,
        records: nullableBytes,
      }),
    }),
  },
  ListOffsets: {
    key: 2,
    version: 3,
    request: struct({ replicaId: int32, isolationLevel: int8, topics: perTopic({ timestamp: int64 }) }),
    response: struct({ ...throttled, topics: perTopic({ errorCode: int16, timestamp: int64, offset: int64 }) }),
  },
  Metadata: {
    key: 3,
    version: 6,
    request: struct({ topics: nullableArray(string), allowAutoTopicCreation: bool }),
    response: struct({
      ...throttled,
      brokers: array(struct({ nodeId: int32, host: string, port: int32, rack: nullableString })),
      clusterId: nullableString,
      controllerId: int32,
      topics: array(
        struct({
          errorCode: int16,
          topic: string,
          isInternal: bool,
          partitions: array(
            struct({
              errorCode: int16,
              partition: int32,
              leaderId: int32,
              replicas: array(int32),
              isr: array(int32),
              offlineReplicas: array(int32),
            }),
          ),
        }),
      ),
    }),
  },
  MetadataWithIds: {
    key: 3,
    version: 10,
    flexible: true,
    request: struct({
      topics: nullableArray(struct({ topicId: uuid, topic: nullableString })),
      allowAutoTopicCreation: bool,
      includeClusterAuthorizedOperations: bool,
      includeTopicAuthorizedOperations: bool,
    }),
    response: struct({
      ...throttled,
      brokers: array(struct({ nodeId: int32, host: string, port: int32, rack: nullableString })),
      clusterId: nullableString,
      controllerId: int32,
      topics: array(
        struct({
          errorCode: int16,
          topic: nullableString,
          topicId: uuid,
          isInternal: bool,
          partitions: array(
            struct({
              errorCode: int16,
              partition: int32,
              leaderId: int32,
              leaderEpoch: int32,
              replicas: array(int32),
              isr: array(int32),
              offlineReplicas: array(int32),
            }),
          ),
          topicAuthorizedOperations: int32,
        }),
      ),
      clusterAuthorizedOperations: int32,
    }),
  },
  OffsetCommit: {
    key: 8,
    version: 5,
    request: struct({
      groupId: string,
      generationId: int32,
      memberId: string,
      topics: perTopic({ offset: int64, metadata: nullableString }),
    }),
    response: struct({ ...throttled, topics: perTopic({ errorCode: int16 }) }),
  },
  OffsetFetch: {
    key: 9,
    version: 4,
    request: struct({
      groupId: string,
      topics: nullableArray(struct({ topic: string, partitions: array(int32) })),
    }),
    response: struct({
      ...throttled,
      topics: perTopic({ offset: int64, metadata: nullableString, errorCode: int16 }),
      errorCode: int16,
    }),
  },
  StableOffsetFetch: {
    key: 9,
    version: 7,
    flexible: true,
    request: struct({
      groupId: string,
      topics: nullableArray(struct({ topic: string, partitions: array(int32) })),
      requireStable: bool,
    }),
    response: struct({
      ...throttled,
      topics: perTopic({ offset: int64, leaderEpoch: int32, metadata: nullableString, errorCode: int16 }),
      errorCode: int16,
    }),
  },
  FindCoordinator: {
    key: 10,
    version: 2,
    request: struct({ key: string, keyType: int8 }),
    response: struct({
      ...throttled,
      errorCode: int16,
      errorMessage: nullableString,
      nodeId: int32,
      host: string,
      port: int32,
    }),
  },
  JoinGroup: {
    key: 11,
    version: 5,
    request: struct({
      groupId: string,
      sessionTimeoutMs: int32,
      rebalanceTimeoutMs: int32,
      memberId: string,
      groupInstanceId: nullableString,
      protocolType: string,
      protocols: array(struct({ name: string, metadata: bytes })),
    }),
    response: struct({
      ...throttled,
      errorCode: int16,
      generationId: int32,
      protocolName: string,
      leader: string,
      memberId: string,
      members: array(struct({ memberId: string, groupInstanceId: nullableString, metadata: bytes })),
    }),
  },
  Heartbeat: {
    key: 12,
    version: 3,
    request: struct({ groupId: string, generationId: int32, memberId: string, groupInstanceId: nullableString }),
    response: struct({ ...throttled, errorCode: int16 }),
  },
  LeaveGroup: {
    key: 13,
    version: 3,
    request: struct({
      groupId: string,
      members: array(struct({ memberId: string, groupInstanceId: nullableString })),
    }),
    response: struct({
      ...throttled,
      errorCode: int16,
      members: array(struct({ memberId: string, groupInstanceId: nullableString, errorCode: int16 })),
    }),
  },
  SyncGroup: {
    key: 14,
    version: 3,
    request: struct({
      groupId: string,
      generationId: int32,
      memberId: string,
      groupInstanceId: nullableString,
      assignments: array(struct({ memberId: string, assignment: bytes })),
    }),
    response: struct({ ...throttled, errorCode: int16, assignment: bytes }),
  },
  DescribeGroups: {
    key: 15,
    version: 2,
    request: struct({ groups: array(string) }),
    response: struct({
      ...throttled,
      groups: array(
        struct({
          errorCode: int16,
          groupId: string,
          state: string,
          protocolType: string,
          protocol: string,
          members: array(
            struct({ memberId: string, clientId: string, clientHost: string, metadata: bytes, assignment: bytes }),
          ),
        }),
      ),
    }),
  },
  ListGroups: {
    key: 16,
    version: 2,
    request: struct({}),
    response: struct({
      ...throttled,
      errorCode: int16,
      groups: array(struct({ groupId: string, protocolType: string })),
    }),
  },
  ApiVersions: {
    key: 18,
    version: 2,
    request: struct({}),
    response: struct({
      errorCode: int16,
      apiKeys: array(struct({ apiKey: int16, minVersion: int16, maxVersion: int16 })),
      throttleTimeMs: int32,
    }),
  },
  CreateTopics: {
    key: 19,
    version: 3,
    request: struct({
      topics: array(
        struct({
          topic: string,
          numPartitions: int32,
          replicationFactor: int16,
          assignments: array(struct({ partition: int32, brokerIds: array(int32) })),
          configs: array(struct({ name: string, value: nullableString })),
        }),
      ),
      timeoutMs: int32,
      validateOnly: bool,
    }),
    response: struct({
      ...throttled,
      topics: array(struct({ topic: string, errorCode: int16, errorMessage: nullableString })),
    }),
  },
  DeleteTopics: {
    key: 20,
    version: 1,
    request: struct({ topics: array(string), timeoutMs: int32 }),
    response: struct({ ...throttled, topics: array(struct({ topic: string, errorCode: int16 })) }),
  },
  DeleteRecords: {
    key: 21,
    version: 1,
    request: struct({ topics: perTopic({ offset: int64 }), timeoutMs: int32 }),
    response: struct({ ...throttled, topics: perTopic({ lowWatermark: int64, errorCode: int16 }) }),
  },
  InitProducerId: {
    key: 22,
    version: 1,
    request: struct({ transactionalId: nullableString, transactionTimeoutMs: int32 }),
    response: struct({ ...throttled, errorCode: int16, producerId: int64, producerEpoch: int16 }),
  },
  AddPartitionsToTxn: {
    key: 24,
    version: 1,
    request: struct({
      transactionalId: string,
      producerId: int64,
      producerEpoch: int16,
      topics: array(struct({ topic: string, partitions: array(int32) })),
    }),
    response: struct({ ...throttled, topics: perTopic({ errorCode: int16 }) }),
  },
  AddOffsetsToTxn: {
    key: 25,
    version: 1,
    request: struct({ transactionalId: string, producerId: int64, producerEpoch: int16, groupId: string }),
    response: struct({ ...throttled, errorCode: int16 }),
  },
  EndTxn: {
    key: 26,
    version: 1,
    request: struct({ transactionalId: string, producerId: int64, producerEpoch: int16, committed: bool }),
    response: struct({ ...throttled, errorCode: int16 }),
  },
  TxnOffsetCommit: {
    key: 28,
    version: 1,
    request: struct({
      transactionalId: string,
      groupId: string,
      producerId: int64,
      producerEpoch: int16,
      topics: perTopic({ offset: int64, metadata: nullableString }),
    }),
    response: struct({ ...throttled, topics: perTopic({ errorCode: int16 }) }),
  },
  DescribeConfigs: {
    key: 32,
    version: 2,
    request: struct({
      resources: array(struct({ resourceType: int8, resourceName: string, configNames: nullableArray(string) })),
      includeSynonyms: bool,
    }),
    response: struct({
      ...throttled,
      resources: array(
        struct({
          errorCode: int16,
          errorMessage: nullableString,
          resourceType: int8,
          resourceName: string,
          configs: array(
            struct({
              name: string,
              value: nullableString,
              readOnly: bool,
              source: int8,
              isSensitive: bool,
              synonyms: array(struct({ name: string, value: nullableString, source: int8 })),
            }),
          ),
        }),
      ),
    }),
  },
  CreatePartitions: {
    key: 37,
    version: 1,
    request: struct({
      topics: array(struct({ topic: string, count: int32, assignments: nullableArray(array(int32)) })),
      timeoutMs: int32,
      validateOnly: bool,
    }),
    response: struct({
      ...throttled,
      topics: array(struct({ topic: string, errorCode: int16, errorMessage: nullableString })),
    }),
  },
  DeleteGroups: {
    key: 42,
    version: 1,
    request: struct({ groups: array(string) }),
    response: struct({ ...throttled, groups: array(struct({ groupId: string, errorCode: int16 })) }),
  },
  /** Not in kafkajs; administrative tools send it. */
  OffsetDelete: {
    key: 47,
    version: 0,
    request: struct({ groupId: string, topics: perTopic({}) }),
    response: struct({ errorCode: int16, throttleTimeMs: int32, topics: perTopic({ errorCode: int16 }) }),
  },
} as const satisfies Record<string, Api>

export type ApiName = keyof typeof apis
export type RequestBody<N extends ApiName> = Value<(typeof apis)[N]['request']>
export type ResponseBody<N extends ApiName> = Value<(typeof apis)[N]['response']>
export type Request = {
  [N in ApiName]: {
    readonly api: N
    readonly correlationId: number
    readonly clientId: string | null
    readonly body: RequestBody<N>
  }
}[ApiName]

const apiNames = Object.keys(apis) as ApiName[]
const byKeyAndVersion = new Map(apiNames.map((name) => [apis[name].key * 1000 + apis[name].version, name]))

const isFlexible = (api: Api): boolean => api.flexible === true

/** The answer to ApiVersions: exactly the versions above, lowest and highest of each key. */
export const announced: ResponseBody<'ApiVersions'>['apiKeys'] = [
  ...new Set(apiNames.map((name) => apis[name].key)),
].map((apiKey) => {
  const versions = apiNames.filter((name) => apis[name].key === apiKey).map((name) => apis[name].version)
  return { apiKey, minVersion: Math.min(...versions), maxVersion: Math.max(...versions) }
})

// ---------------------------------------------------------------------------------------------------------------------
// Whole messages. Written messages start with their length; messages from `frames` come without it.

/** Reserves space for the length, which `framed` fills in. */
const beginFrame = (api: Api): Writer => {
  const to = new Writer(isFlexible(api))
  to.int32(0)
  return to
}
const framed = (to: Writer): Buffer => {
  const frame = to.done()
  frame.writeInt32BE(frame.length - 4, 0)
  return frame
}

export const encodeRequest = <N extends ApiName>(
  api: N,
  body: RequestBody<N>,
  head: { readonly correlationId: number; readonly clientId: string | null },
): Buffer => {
  const { key, version, request }: Api = apis[api]
  const to = beginFrame(apis[api])
  to.int16(key)
  to.int16(version)
  to.int32(head.correlationId)
  // The client id is never compact, not even in the header of a flexible request.
  const clientId = head.clientId === null ? undefined : Buffer.from(head.clientId)
  to.int16(clientId?.length ?? -1)
  if (clientId) to.raw(clientId)
  to.tags()
  request.write(to, body)
  return framed(to)
}

/** Throws for an API or version that is not in the table. */
export const decodeRequest = (message: Buffer): Request => {
  const from = new Reader(message, false)
  const [key, version, correlationId] = [from.int16(), from.int16(), from.int32()]
  const clientId = nullableString.read(from)
  const api = byKeyAndVersion.get(key * 1000 + version)
  if (api === undefined) throw new Error(`version ${version} of API ${key} is not in the table`)
  from.flexible = isFlexible(apis[api])
  from.tags()
  const body = apis[api].request.read(from)
  from.end(`the ${api} request`)
  return { api, correlationId, clientId, body } as Request
}

export const encodeResponse = <N extends ApiName>(api: N, body: ResponseBody<N>, correlationId: number): Buffer => {
  const { response }: Api = apis[api]
  const to = beginFrame(apis[api])
  to.int32(correlationId)
  to.tags()
  response.write(to, body)
  return framed(to)
}

export const decodeResponse = <N extends ApiName>(
  api: N,
  message: Buffer,
): { readonly correlationId: number; readonly body: ResponseBody<N> } => {
  const from = new Reader(message, isFlexible(apis[api]))
  const correlationId = from.int32()
  from.tags()
  const body = apis[api].response.read(from) as ResponseBody<N>
  from.end(`the ${api} response`)
  return { correlationId, body }
}

/** Splits the data of one connection into complete messages. */
export const frames = (): ((piece: Buffer) => Buffer[]) => {
  let rest: Buffer = Buffer.alloc(0)
  return (piece) => {
    const complete: Buffer[] = []
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    while (rest.length >= 4) {
      const end = 4 + rest.readInt32BE(0)
      if (rest.length < end) break
      complete.push(rest.subarray(4, end))
      rest = rest.subarray(end)
    }
    return complete
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Error codes and other constants.

export const errors = {
  UNKNOWN_SERVER_ERROR: -1,
  NONE: 0,
  OFFSET_OUT_OF_RANGE: 1,
  CORRUPT_MESSAGE: 2,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  LEADER_NOT_AVAILABLE: 5,
  NOT_LEADER_OR_FOLLOWER: 6,
  REQUEST_TIMED_OUT: 7,
  BROKER_NOT_AVAILABLE: 8,
  REPLICA_NOT_AVAILABLE: 9,
  MESSAGE_TOO_LARGE: 10,
  OFFSET_METADATA_TOO_LARGE: 12,
  COORDINATOR_LOAD_IN_PROGRESS: 14,
  COORDINATOR_NOT_AVAILABLE: 15,
  NOT_COORDINATOR: 16,
  INVALID_TOPIC_EXCEPTION: 17,
  NOT_ENOUGH_REPLICAS: 19,
  INVALID_REQUIRED_ACKS: 21,
  ILLEGAL_GENERATION: 22,
  INCONSISTENT_GROUP_PROTOCOL: 23,
  INVALID_GROUP_ID: 24,
  UNKNOWN_MEMBER_ID: 25,
  INVALID_SESSION_TIMEOUT: 26,
  REBALANCE_IN_PROGRESS: 27,
  TOPIC_AUTHORIZATION_FAILED: 29,
  INVALID_TIMESTAMP: 32,
  UNSUPPORTED_VERSION: 35,
  TOPIC_ALREADY_EXISTS: 36,
  INVALID_PARTITIONS: 37,
  INVALID_REPLICATION_FACTOR: 38,
  INVALID_CONFIG: 40,
  NOT_CONTROLLER: 41,
  INVALID_REQUEST: 42,
  OUT_OF_ORDER_SEQUENCE_NUMBER: 45,
  DUPLICATE_SEQUENCE_NUMBER: 46,
  INVALID_PRODUCER_EPOCH: 47,
  INVALID_TXN_STATE: 48,
  INVALID_PRODUCER_ID_MAPPING: 49,
  INVALID_TRANSACTION_TIMEOUT: 50,
  CONCURRENT_TRANSACTIONS: 51,
  TRANSACTION_COORDINATOR_FENCED: 52,
  OPERATION_NOT_ATTEMPTED: 55,
  KAFKA_STORAGE_ERROR: 56,
  UNKNOWN_PRODUCER_ID: 59,
  NON_EMPTY_GROUP: 68,
  GROUP_ID_NOT_FOUND: 69,
  FETCH_SESSION_ID_NOT_FOUND: 70,
  FENCED_LEADER_EPOCH: 74,
  UNKNOWN_LEADER_EPOCH: 75,
  STALE_BROKER_EPOCH: 77,
  OFFSET_NOT_AVAILABLE: 78,
  MEMBER_ID_REQUIRED: 79,
  FENCED_INSTANCE_ID: 82,
  GROUP_SUBSCRIBED_TO_TOPIC: 86,
  INVALID_RECORD: 87,
  UNSTABLE_OFFSET_COMMIT: 88,
  PRODUCER_FENCED: 90,
  UNKNOWN_TOPIC_ID: 100,
  TRANSACTION_ABORTABLE: 120,
} as const
export type ErrorName = keyof typeof errors

const errorNames = new Map<number, ErrorName>(Object.entries(errors).map(([name, code]) => [code, name as ErrorName]))
export const errorName = (code: number): ErrorName => {
  const name = errorNames.get(code)
  if (name === undefined) throw new Error(`error code ${code} has no name in the table`)
  return name
}

export const readUncommitted = 0
export const readCommitted = 1
export const latest = -1
export const earliest = -2
export const groupKey = 0
export const transactionKey = 1
export const topicResource = 2
export const noTopicId = '0'.repeat(32)

// ---------------------------------------------------------------------------------------------------------------------
// Record batches (format 2)

export type WireRecord = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers?: readonly (readonly [name: string, value: Buffer | null])[]
  readonly timestamp: number
}

export type NewBatch = {
  readonly records: readonly WireRecord[]
  readonly baseOffset?: number
  readonly leaderEpoch?: number
  readonly producerId?: number
  readonly producerEpoch?: number
  readonly baseSequence?: number
  readonly transactional?: boolean
  readonly control?: boolean
  readonly gzip?: boolean
}

export type BatchHead = {
  readonly baseOffset: number
  readonly lastOffset: number
  /** The size of the whole batch, including its header. */
  readonly bytes: number
  readonly leaderEpoch: number
  readonly magic: number
  readonly codec: number
  readonly transactional: boolean
  readonly control: boolean
  readonly firstTimestamp: number
  readonly maxTimestamp: number
  readonly producerId: number
  readonly producerEpoch: number
  readonly baseSequence: number
  readonly count: number
}

const headBytes = 61
const checkedFrom = 21
const gzipCodec = 1
const transactionalFlag = 0x10
const controlFlag = 0x20

export const buildBatch = (batch: NewBatch): Buffer => {
  const { records } = batch
  const firstTimestamp = records[0]?.timestamp ?? 0
  const body = new Writer(false)
  records.forEach((record, index) => {
    const one = new Writer(false)
    one.int8(0)
    one.varint(record.timestamp - firstTimestamp)
    one.varint(index)
    writeVarBytes(one, record.key)
    writeVarBytes(one, record.value)
    one.varint(record.headers?.length ?? 0)
    for (const [name, value] of record.headers ?? []) {
      writeVarBytes(one, Buffer.from(name))
      writeVarBytes(one, value)
    }
    const written = one.done()
    body.varint(written.length)
    body.raw(written)
  })
  const packed = batch.gzip === true ? gzipSync(body.done()) : body.done()
  const made = Buffer.alloc(headBytes + packed.length)
  packed.copy(made, headBytes)
  writeInt64(made, batch.baseOffset ?? 0, 0)
  made.writeInt32BE(made.length - 12, 8)
  made.writeInt32BE(batch.leaderEpoch ?? -1, 12)
  made.writeInt8(2, 16)
  const attributes =
    (batch.gzip === true ? gzipCodec : 0) |
    (batch.transactional === true ? transactionalFlag : 0) |
    (batch.control === true ? controlFlag : 0)
  made.writeInt16BE(attributes, 21)
  made.writeInt32BE(records.length - 1, 23)
  writeInt64(made, firstTimestamp, 27)
  writeInt64(
    made,
    records.reduce((most, { timestamp }) => Math.max(most, timestamp), firstTimestamp),
    35,
  )
  writeInt64(made, batch.producerId ?? -1, 43)
  made.writeInt16BE(batch.producerEpoch ?? -1, 51)
  made.writeInt32BE(batch.baseSequence ?? -1, 53)
  made.writeInt32BE(records.length, 57)
  made.writeUInt32BE(crc32c(made, checkedFrom, made.length), 17)
  return made
}

const writeVarBytes = (to: Writer, value: Buffer | null): void => {
  to.varint(value?.length ?? -1)
  if (value) to.raw(value)
}

/** The batch that ends a transaction in one partition. */
export const buildMarker = (marker: {
  readonly committed: boolean
  readonly producerId: number
  readonly producerEpoch: number
  readonly timestamp: number
  readonly baseOffset?: number
  readonly leaderEpoch?: number
  readonly coordinatorEpoch?: number
}): Buffer => {
  const { committed, timestamp, coordinatorEpoch = 0, ...rest } = marker
  const key = Buffer.from([0, 0, 0, committed ? 1 : 0])
  const value = Buffer.alloc(6)
  value.writeInt32BE(coordinatorEpoch, 2)
  return buildBatch({ ...rest, records: [{ key, value, timestamp }], transactional: true, control: true })
}

/** The end of the batch that begins at `from`, or undefined if it is cut off. */
const batchEnd = (bytes: Buffer, from: number): number | undefined => {
  if (from + headBytes > bytes.length) return undefined
  const end = from + 12 + bytes.readInt32BE(from + 8)
  return end > bytes.length ? undefined : end
}

/** The complete batches in a record set, without a last one that is cut off. */
export const splitBatches = (bytes: Buffer): Buffer[] => {
  const batches: Buffer[] = []
  let at = 0
  for (let end = batchEnd(bytes, at); end !== undefined; end = batchEnd(bytes, at)) {
    batches.push(bytes.subarray(at, end))
    at = end
  }
  return batches
}

export const batchHead = (batch: Buffer): BatchHead => {
  const attributes = batch.readInt16BE(21)
  const baseOffset = readInt64(batch, 0)
  return {
    baseOffset,
    lastOffset: baseOffset + batch.readInt32BE(23),
    bytes: 12 + batch.readInt32BE(8),
    leaderEpoch: batch.readInt32BE(12),
    magic: batch.readInt8(16),
    codec: attributes & 7,
    transactional: (attributes & transactionalFlag) !== 0,
    control: (attributes & controlFlag) !== 0,
    firstTimestamp: readInt64(batch, 27),
    maxTimestamp: readInt64(batch, 35),
    producerId: readInt64(batch, 43),
    producerEpoch: batch.readInt16BE(51),
    baseSequence: batch.readInt32BE(53),
    count: batch.readInt32BE(57),
  }
}

export const checksumHolds = (batch: Buffer): boolean =>
  batch.readUInt32BE(17) === crc32c(batch, checkedFrom, batch.length)

/** A copy with the broker's time instead of the record timestamps. */
export const stampBatch = (batch: Buffer, time: number): Buffer => {
  const stamped = Buffer.from(batch)
  stamped.writeInt16BE(stamped.readInt16BE(21) | 0x08, 21)
  writeInt64(stamped, Math.floor(time), 35)
  stamped.writeUInt32BE(crc32c(stamped, checkedFrom, stamped.length), 17)
  return stamped
}

/** A copy with the leader's offset and epoch; the checksum covers neither. */
export const placeBatch = (batch: Buffer, baseOffset: number, leaderEpoch: number): Buffer => {
  const placed = Buffer.from(batch)
  writeInt64(placed, baseOffset, 0)
  placed.writeInt32BE(leaderEpoch, 12)
  return placed
}

export type ReadRecord = Required<WireRecord> & { readonly offset: number }

/** The records of one batch, uncompressed or gzip. */
export const readRecords = (batch: Buffer): ReadRecord[] => {
  const { baseOffset, codec, count, firstTimestamp } = batchHead(batch)
  if (codec > gzipCodec) throw new Error(`codec ${codec} is not read here`)
  const packed = batch.subarray(headBytes)
  const from = new Reader(codec === gzipCodec ? gunzipSync(packed) : packed, false)
  const records: ReadRecord[] = []
  for (let left = count; left > 0; left--) {
    from.varint() // its length
    from.int8() // no attributes are defined
    const timestamp = firstTimestamp + from.varint()
    const offset = baseOffset + from.varint()
    const key = readVarBytes(from)
    const value = readVarBytes(from)
    const headers: [string, Buffer | null][] = []
    for (let more = from.varint(); more > 0; more--)
      headers.push([readVarBytes(from)?.toString() ?? '', readVarBytes(from)])
    records.push({ offset, timestamp, key, value, headers })
  }
  from.end('the batch')
  return records
}

const readVarBytes = (from: Reader): Buffer | null => {
  const length = from.varint()
  return length < 0 ? null : from.raw(length)
}

const castagnoli = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1
  return value
})

const crc32c = (bytes: Buffer, from: number, to: number): number => {
  let crc = -1
  for (let at = from; at < to; at++) crc = (crc >>> 8) ^ castagnoli[(crc ^ bytes[at]!) & 0xff]!
  return ~crc >>> 0
}
