// The codec of the simulation against kafkajs as it ships: what one writes the other reads, so that neither can drift.
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { decodeStableOffsets, encodeStableOffsets } from '../../src/kafka/wire/stable-offsets.js'
import { decodeTopicIds, encodeTopicIds } from '../../src/kafka/wire/topic-ids.js'
import {
  announced,
  apis,
  batchHead,
  buildBatch,
  buildMarker,
  checksumHolds,
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  frames,
  noTopicId,
  placeBatch,
  readRecords,
  splitBatches,
  type ApiName,
  type RequestBody,
  type ResponseBody,
} from '../simulation/wire.js'

type Theirs = {
  readonly request: { readonly apiKey: number; readonly apiVersion: number; readonly encode: () => Promise<unknown> }
  readonly response: { readonly decode: (bytes: Buffer) => Promise<unknown> }
}
type Definition = {
  readonly versions: readonly string[]
  readonly protocol: (of: { readonly version: number }) => (given: unknown) => Theirs
}

/** Modules of kafkajs that other tests in this process have replaced are loaded once more, from its own files. */
const asShipped = <T>(use: (load: (path: string) => unknown) => T): T => {
  const load = createRequire(import.meta.url)
  const inUse = Object.entries(Object.getOwnPropertyDescriptors(load.cache)).filter(([name]) =>
    name.includes('/kafkajs/'),
  )
  for (const [name] of inUse) Reflect.deleteProperty(load.cache, name)
  try {
    return use((path) => load(`kafkajs/src/${path}`) as unknown)
  } finally {
    for (const name of Object.keys(load.cache)) if (name.includes('/kafkajs/')) Reflect.deleteProperty(load.cache, name)
    for (const [name, module] of inUse) Object.defineProperty(load.cache, name, module)
  }
}

const { requests, frame, Decoder, decodeBatch, RecordBatch, NewRecord, Long } = asShipped((load) => ({
  requests: (load('protocol/requests/index.js') as { requests: Readonly<Record<string, Definition>> }).requests,
  frame: load('protocol/request.js') as (given: object) => Promise<{ readonly buffer: Buffer }>,
  Decoder: load('protocol/decoder.js') as new (bytes: Buffer) => object,
  decodeBatch: load('protocol/recordBatch/v0/decoder.js') as (
    decoder: object,
  ) => Promise<{ readonly records: readonly Record<string, unknown>[] }>,
  RecordBatch: (
    load('protocol/recordBatch/v0/index.js') as { RecordBatch: (given: object) => Promise<{ readonly buffer: Buffer }> }
  ).RecordBatch,
  NewRecord: load('protocol/recordBatch/record/v0/index.js') as (given: object) => unknown,
  Long: load('utils/long.js') as { fromValue: (value: number) => unknown },
}))

const records = [
  {
    key: Buffer.from('key'),
    value: Buffer.from('value'),
    timestamp: 1_700_000_000_000,
    headers: [['h', Buffer.from('x')]] as const,
  },
  { key: null, value: Buffer.from('second'), timestamp: 1_700_000_000_007, headers: [] },
]
const messages = records.map(({ key, value, timestamp, headers }) => ({
  key,
  value,
  timestamp,
  headers: Object.fromEntries(headers),
}))
/** kafkajs names leader epoch 0. */
const plainBatch = buildBatch({
  records,
  leaderEpoch: 0,
  producerId: 71,
  producerEpoch: 3,
  baseSequence: 12,
  transactional: true,
})

/** One message of each API in both forms: as kafkajs is given or gives it, and as ours. */
type Case<N extends ApiName> = {
  readonly name: string
  readonly asked: unknown
  readonly request: RequestBody<N>
  readonly response: ResponseBody<N>
  readonly read: unknown
}
type Cases = { readonly [N in Exclude<ApiName, 'MetadataWithIds' | 'StableOffsetFetch' | 'OffsetDelete'>]: Case<N> }

const topicErrors = [{ topic: 't', partitions: [{ partition: 4, errorCode: 27 }] }]
const nowThrottled = { throttleTime: 0, clientSideThrottleTime: 9 }

const cases: Cases = {
  Produce: {
    name: 'Produce',
    asked: {
      acks: -1,
      timeout: 30_000,
      transactionalId: 'txn',
      producerId: 71,
      producerEpoch: 3,
      topicData: [{ topic: 't', partitions: [{ partition: 4, firstSequence: 12, messages }] }],
    },
    request: {
      transactionalId: 'txn',
      acks: -1,
      timeoutMs: 30_000,
      topics: [{ topic: 't', partitions: [{ partition: 4, records: plainBatch }] }],
    },
    response: {
      topics: [
        {
          topic: 't',
          partitions: [{ partition: 4, errorCode: 45, baseOffset: 11, logAppendTimeMs: -1, logStartOffset: 5 }],
        },
      ],
      throttleTimeMs: 9,
    },
    read: {
      topics: [
        {
          topicName: 't',
          partitions: [{ partition: 4, errorCode: 45, baseOffset: '11', logAppendTime: '-1', logStartOffset: '5' }],
        },
      ],
      ...nowThrottled,
    },
  },
  Fetch: {
    name: 'Fetch',
    asked: {
      replicaId: -1,
      maxWaitTime: 250,
      minBytes: 1,
      maxBytes: 999,
      isolationLevel: 1,
      sessionId: 0,
      sessionEpoch: -1,
      rackId: 'rack',
      topics: [{ topic: 't', partitions: [{ partition: 4, fetchOffset: 17, maxBytes: 512 }] }],
      forgottenTopics: [{ topic: 'f', partitions: [6] }],
    },
    request: {
      replicaId: -1,
      maxWaitMs: 250,
      minBytes: 1,
      maxBytes: 999,
      isolationLevel: 1,
      sessionId: 0,
      sessionEpoch: -1,
      topics: [
        {
          topic: 't',
          partitions: [
            { partition: 4, currentLeaderEpoch: -1, fetchOffset: 17, logStartOffset: -1, partitionMaxBytes: 512 },
          ],
        },
      ],
      forgotten: [{ topic: 'f', partitions: [6] }],
      rackId: 'rack',
    },
    response: {
      throttleTimeMs: 9,
      errorCode: 70,
      sessionId: 8,
      topics: [
        {
          topic: 't',
          partitions: [
            {
              partition: 4,
              errorCode: 1,
              highWatermark: 21,
              lastStableOffset: 20,
              logStartOffset: 2,
              abortedTransactions: [{ producerId: 71, firstOffset: 18 }],
              preferredReadReplica: -1,
              records: null,
            },
          ],
        },
      ],
    },
    read: {
      ...nowThrottled,
      errorCode: 70,
      sessionId: 8,
      responses: [
        {
          topicName: 't',
          partitions: [
            {
              partition: 4,
              errorCode: 1,
              highWatermark: '21',
              lastStableOffset: '20',
              lastStartOffset: '2',
              abortedTransactions: [{ producerId: '71', firstOffset: '18' }],
              preferredReadReplica: -1,
              messages: [],
            },
          ],
        },
      ],
    },
  },
  ListOffsets: {
    name: 'ListOffsets',
    asked: {
      replicaId: -1,
      isolationLevel: 1,
      topics: [{ topic: 't', partitions: [{ partition: 4, timestamp: 1_700_000_000_000 }] }],
    },
    request: {
      replicaId: -1,
      isolationLevel: 1,
      topics: [{ topic: 't', partitions: [{ partition: 4, timestamp: 1_700_000_000_000 }] }],
    },
    response: {
      throttleTimeMs: 9,
      topics: [{ topic: 't', partitions: [{ partition: 4, errorCode: 6, timestamp: 1_700_000_000_001, offset: 19 }] }],
    },
    read: {
      ...nowThrottled,
      responses: [
        { topic: 't', partitions: [{ partition: 4, errorCode: 6, timestamp: '1700000000001', offset: '19' }] },
      ],
    },
  },
  Metadata: {
    name: 'Metadata',
    asked: { topics: ['t', 'u'], allowAutoTopicCreation: false },
    request: { topics: ['t', 'u'], allowAutoTopicCreation: false },
    response: {
      throttleTimeMs: 9,
      brokers: [{ nodeId: 2, host: 'broker-2', port: 9092, rack: null }],
      clusterId: 'cluster',
      controllerId: 3,
      topics: [
        {
          errorCode: 5,
          topic: 't',
          isInternal: true,
          partitions: [{ errorCode: 9, partition: 4, leaderId: 2, replicas: [2, 3], isr: [3], offlineReplicas: [1] }],
        },
      ],
    },
    read: {
      ...nowThrottled,
      brokers: [{ nodeId: 2, host: 'broker-2', port: 9092, rack: null }],
      clusterId: 'cluster',
      controllerId: 3,
      topicMetadata: [
        {
          topicErrorCode: 5,
          topic: 't',
          isInternal: true,
          partitionMetadata: [
            { partitionErrorCode: 9, partitionId: 4, leader: 2, replicas: [2, 3], isr: [3], offlineReplicas: [1] },
          ],
        },
      ],
    },
  },
  OffsetCommit: {
    name: 'OffsetCommit',
    asked: {
      groupId: 'g',
      groupGenerationId: 7,
      memberId: 'm',
      topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33, metadata: 'meta' }] }],
    },
    request: {
      groupId: 'g',
      generationId: 7,
      memberId: 'm',
      topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33, metadata: 'meta' }] }],
    },
    response: { throttleTimeMs: 9, topics: topicErrors },
    read: { ...nowThrottled, responses: topicErrors },
  },
  OffsetFetch: {
    name: 'OffsetFetch',
    asked: { groupId: 'g', topics: [{ topic: 't', partitions: [{ partition: 4 }] }] },
    request: { groupId: 'g', topics: [{ topic: 't', partitions: [4] }] },
    response: {
      throttleTimeMs: 9,
      topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33, metadata: 'meta', errorCode: 3 }] }],
      errorCode: 14,
    },
    read: {
      ...nowThrottled,
      responses: [{ topic: 't', partitions: [{ partition: 4, offset: '33', metadata: 'meta', errorCode: 3 }] }],
      errorCode: 14,
    },
  },
  FindCoordinator: {
    name: 'GroupCoordinator',
    asked: { groupId: 'g', coordinatorType: 1 },
    request: { key: 'g', keyType: 1 },
    response: { throttleTimeMs: 9, errorCode: 15, errorMessage: 'not there', nodeId: 2, host: 'broker-2', port: 9092 },
    read: {
      ...nowThrottled,
      errorCode: 15,
      errorMessage: 'not there',
      coordinator: { nodeId: 2, host: 'broker-2', port: 9092 },
    },
  },
  JoinGroup: {
    name: 'JoinGroup',
    asked: {
      groupId: 'g',
      sessionTimeout: 6_000,
      rebalanceTimeout: 60_000,
      memberId: 'm',
      groupInstanceId: null,
      protocolType: 'consumer',
      groupProtocols: [{ name: 'roundrobin', metadata: Buffer.from('subscription') }],
    },
    request: {
      groupId: 'g',
      sessionTimeoutMs: 6_000,
      rebalanceTimeoutMs: 60_000,
      memberId: 'm',
      groupInstanceId: null,
      protocolType: 'consumer',
      protocols: [{ name: 'roundrobin', metadata: Buffer.from('subscription') }],
    },
    response: {
      throttleTimeMs: 9,
      errorCode: 25,
      generationId: 7,
      protocolName: 'roundrobin',
      leader: 'l',
      memberId: 'm',
      members: [{ memberId: 'n', groupInstanceId: null, metadata: Buffer.from('subscription') }],
    },
    read: {
      ...nowThrottled,
      errorCode: 25,
      generationId: 7,
      groupProtocol: 'roundrobin',
      leaderId: 'l',
      memberId: 'm',
      members: [{ memberId: 'n', groupInstanceId: null, memberMetadata: Buffer.from('subscription') }],
    },
  },
  Heartbeat: {
    name: 'Heartbeat',
    asked: { groupId: 'g', groupGenerationId: 7, memberId: 'm', groupInstanceId: null },
    request: { groupId: 'g', generationId: 7, memberId: 'm', groupInstanceId: null },
    response: { throttleTimeMs: 9, errorCode: 27 },
    read: { ...nowThrottled, errorCode: 27 },
  },
  LeaveGroup: {
    name: 'LeaveGroup',
    asked: { groupId: 'g', memberId: 'm', groupInstanceId: null },
    request: { groupId: 'g', members: [{ memberId: 'm', groupInstanceId: null }] },
    response: { throttleTimeMs: 9, errorCode: 16, members: [{ memberId: 'm', groupInstanceId: null, errorCode: 25 }] },
    read: { ...nowThrottled, errorCode: 16, members: [{ memberId: 'm', groupInstanceId: null, errorCode: 25 }] },
  },
  SyncGroup: {
    name: 'SyncGroup',
    asked: {
      groupId: 'g',
      generationId: 7,
      memberId: 'm',
      groupInstanceId: null,
      groupAssignment: [{ memberId: 'n', memberAssignment: Buffer.from('part') }],
    },
    request: {
      groupId: 'g',
      generationId: 7,
      memberId: 'm',
      groupInstanceId: null,
      assignments: [{ memberId: 'n', assignment: Buffer.from('part') }],
    },
    response: { throttleTimeMs: 9, errorCode: 22, assignment: Buffer.from('part') },
    read: { ...nowThrottled, errorCode: 22, memberAssignment: Buffer.from('part') },
  },
  DescribeGroups: {
    name: 'DescribeGroups',
    asked: { groupIds: ['g', 'h'] },
    request: { groups: ['g', 'h'] },
    response: {
      throttleTimeMs: 9,
      groups: [
        {
          errorCode: 16,
          groupId: 'g',
          state: 'Stable',
          protocolType: 'consumer',
          protocol: 'roundrobin',
          members: [
            {
              memberId: 'm',
              clientId: 'c',
              clientHost: '/192.0.2.1',
              metadata: Buffer.from('a'),
              assignment: Buffer.from('b'),
            },
          ],
        },
      ],
    },
    read: {
      ...nowThrottled,
      groups: [
        {
          errorCode: 16,
          groupId: 'g',
          state: 'Stable',
          protocolType: 'consumer',
          protocol: 'roundrobin',
          members: [
            {
              memberId: 'm',
              clientId: 'c',
              clientHost: '/192.0.2.1',
              memberMetadata: Buffer.from('a'),
              memberAssignment: Buffer.from('b'),
            },
          ],
        },
      ],
    },
  },
  ListGroups: {
    name: 'ListGroups',
    asked: undefined,
    request: {},
    response: { throttleTimeMs: 9, errorCode: 15, groups: [{ groupId: 'g', protocolType: 'consumer' }] },
    read: { ...nowThrottled, errorCode: 15, groups: [{ groupId: 'g', protocolType: 'consumer' }] },
  },
  ApiVersions: {
    name: 'ApiVersions',
    asked: undefined,
    request: {},
    response: { errorCode: 0, apiKeys: announced, throttleTimeMs: 9 },
    read: { errorCode: 0, apiVersions: announced, ...nowThrottled },
  },
  CreateTopics: {
    name: 'CreateTopics',
    asked: {
      topics: [
        {
          topic: 't',
          numPartitions: 4,
          replicationFactor: 3,
          replicaAssignment: [{ partition: 0, replicas: [1, 2] }],
          configEntries: [{ name: 'c', value: 'v' }],
        },
      ],
      timeout: 5_000,
      validateOnly: true,
    },
    request: {
      topics: [
        {
          topic: 't',
          numPartitions: 4,
          replicationFactor: 3,
          assignments: [{ partition: 0, brokerIds: [1, 2] }],
          configs: [{ name: 'c', value: 'v' }],
        },
      ],
      timeoutMs: 5_000,
      validateOnly: true,
    },
    response: { throttleTimeMs: 9, topics: [{ topic: 't', errorCode: 36, errorMessage: 'there' }] },
    read: { ...nowThrottled, topicErrors: [{ topic: 't', errorCode: 36, errorMessage: 'there' }] },
  },
  DeleteTopics: {
    name: 'DeleteTopics',
    asked: { topics: ['t'], timeout: 5_000 },
    request: { topics: ['t'], timeoutMs: 5_000 },
    response: { throttleTimeMs: 9, topics: [{ topic: 't', errorCode: 3 }] },
    read: { ...nowThrottled, topicErrors: [{ topic: 't', errorCode: 3 }] },
  },
  DeleteRecords: {
    name: 'DeleteRecords',
    asked: { topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33 }] }], timeout: 5_000 },
    request: { topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33 }] }], timeoutMs: 5_000 },
    response: {
      throttleTimeMs: 9,
      topics: [{ topic: 't', partitions: [{ partition: 4, lowWatermark: 33, errorCode: 1 }] }],
    },
    read: {
      ...nowThrottled,
      topics: [{ topic: 't', partitions: [{ partition: 4, lowWatermark: 33n, errorCode: 1 }] }],
    },
  },
  InitProducerId: {
    name: 'InitProducerId',
    asked: { transactionalId: 'txn', transactionTimeout: 30_000 },
    request: { transactionalId: 'txn', transactionTimeoutMs: 30_000 },
    response: { throttleTimeMs: 9, errorCode: 51, producerId: 71, producerEpoch: 3 },
    read: { ...nowThrottled, errorCode: 51, producerId: '71', producerEpoch: 3 },
  },
  AddPartitionsToTxn: {
    name: 'AddPartitionsToTxn',
    asked: { transactionalId: 'txn', producerId: 71, producerEpoch: 3, topics: [{ topic: 't', partitions: [4, 5] }] },
    request: { transactionalId: 'txn', producerId: 71, producerEpoch: 3, topics: [{ topic: 't', partitions: [4, 5] }] },
    response: { throttleTimeMs: 9, topics: topicErrors },
    read: { ...nowThrottled, errors: [{ topic: 't', partitionErrors: [{ partition: 4, errorCode: 27 }] }] },
  },
  AddOffsetsToTxn: {
    name: 'AddOffsetsToTxn',
    asked: { transactionalId: 'txn', producerId: 71, producerEpoch: 3, groupId: 'g' },
    request: { transactionalId: 'txn', producerId: 71, producerEpoch: 3, groupId: 'g' },
    response: { throttleTimeMs: 9, errorCode: 51 },
    read: { ...nowThrottled, errorCode: 51 },
  },
  EndTxn: {
    name: 'EndTxn',
    asked: { transactionalId: 'txn', producerId: 71, producerEpoch: 3, transactionResult: true },
    request: { transactionalId: 'txn', producerId: 71, producerEpoch: 3, committed: true },
    response: { throttleTimeMs: 9, errorCode: 47 },
    read: { ...nowThrottled, errorCode: 47 },
  },
  TxnOffsetCommit: {
    name: 'TxnOffsetCommit',
    asked: {
      transactionalId: 'txn',
      groupId: 'g',
      producerId: 71,
      producerEpoch: 3,
      topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33, metadata: null }] }],
    },
    request: {
      transactionalId: 'txn',
      groupId: 'g',
      producerId: 71,
      producerEpoch: 3,
      topics: [{ topic: 't', partitions: [{ partition: 4, offset: 33, metadata: null }] }],
    },
    response: { throttleTimeMs: 9, topics: topicErrors },
    read: { ...nowThrottled, topics: topicErrors },
  },
  DescribeConfigs: {
    name: 'DescribeConfigs',
    asked: { resources: [{ type: 2, name: 't', configNames: ['retention.ms'] }], includeSynonyms: true },
    request: {
      resources: [{ resourceType: 2, resourceName: 't', configNames: ['retention.ms'] }],
      includeSynonyms: true,
    },
    response: {
      throttleTimeMs: 9,
      resources: [
        {
          errorCode: 3,
          errorMessage: null,
          resourceType: 2,
          resourceName: 't',
          configs: [
            {
              name: 'retention.ms',
              value: '-1',
              readOnly: false,
              source: 5,
              isSensitive: true,
              synonyms: [{ name: 's', value: null, source: 4 }],
            },
          ],
        },
      ],
    },
    read: {
      ...nowThrottled,
      resources: [
        {
          errorCode: 3,
          errorMessage: null,
          resourceType: 2,
          resourceName: 't',
          configEntries: [
            {
              configName: 'retention.ms',
              configValue: '-1',
              readOnly: false,
              isDefault: true,
              configSource: 5,
              isSensitive: true,
              configSynonyms: [{ configName: 's', configValue: null, configSource: 4 }],
            },
          ],
        },
      ],
    },
  },
  CreatePartitions: {
    name: 'CreatePartitions',
    asked: { topicPartitions: [{ topic: 't', count: 5, assignments: [[1, 2]] }], timeout: 5_000, validateOnly: true },
    request: { topics: [{ topic: 't', count: 5, assignments: [[1, 2]] }], timeoutMs: 5_000, validateOnly: true },
    response: { throttleTimeMs: 9, topics: [{ topic: 't', errorCode: 37, errorMessage: 'fewer' }] },
    read: { ...nowThrottled, topicErrors: [{ topic: 't', errorCode: 37, errorMessage: 'fewer' }] },
  },
  DeleteGroups: {
    name: 'DeleteGroups',
    asked: ['g', 'h'],
    request: { groups: ['g', 'h'] },
    response: { throttleTimeMs: 9, groups: [{ groupId: 'g', errorCode: 0 }] },
    // It looks for the time under another name.
    read: { throttleTimeMs: 9, throttleTime: 0, results: [{ groupId: 'g', errorCode: 0 }] },
  },
}
const names = Object.keys(cases) as (keyof Cases)[]

const head = { correlationId: 5, clientId: 'client' }
const message = (frameBytes: Buffer): Buffer => frameBytes.subarray(4)

const theirs = (api: keyof Cases): Theirs => {
  const definition = requests[cases[api].name]!
  const highest = Math.max(...definition.versions.map(Number))
  return asShipped(() => definition.protocol({ version: highest })(cases[api].asked))
}

describe('the wire format of the simulation', () => {
  it.each(names)('%s is asked as kafkajs asks it, in its highest version', async (api) => {
    const { request } = theirs(api)
    expect([request.apiKey, request.apiVersion]).toEqual([apis[api].key, apis[api].version])
    const { buffer } = await frame({ ...head, request })
    expect(encodeRequest(api, cases[api].request, head).toString('hex')).toBe(buffer.toString('hex'))
    expect(decodeRequest(message(buffer))).toEqual({ ...head, api, body: cases[api].request })
  })

  it.each(names)('%s is answered as kafkajs reads it', async (api) => {
    const answer = encodeResponse(api, cases[api].response, 5)
    expect(await theirs(api).response.decode(answer.subarray(8))).toEqual(cases[api].read)
    expect(decodeResponse(api, message(answer))).toEqual({ correlationId: 5, body: cases[api].response })
  })

  it('Metadata with ids is what our client writes and reads', () => {
    const asked = {
      allowAutoTopicCreation: false,
      includeClusterAuthorizedOperations: false,
      includeTopicAuthorizedOperations: false,
    }
    const request = encodeRequest('MetadataWithIds', { topics: [{ topicId: noTopicId, topic: 't' }], ...asked }, head)
    // Our client leaves the head to kafkajs, which ends it before its tags.
    expect(request.subarray(4 + 2 + 2 + 4 + 2 + head.clientId.length).toString('hex')).toBe(
      encodeTopicIds(['t']).toString('hex'),
    )
    expect(decodeRequest(message(request)).body).toEqual({ topics: [{ topicId: noTopicId, topic: 't' }], ...asked })
    const topicId = '0123456789abcdef0123456789abcdef'
    const partition = {
      errorCode: 0,
      partition: 0,
      leaderId: 2,
      leaderEpoch: 6,
      replicas: [2, 3],
      isr: [3],
      offlineReplicas: [1],
    }
    const topic = { isInternal: false, partitions: [partition], topicAuthorizedOperations: -2147483648 }
    const body: ResponseBody<'MetadataWithIds'> = {
      throttleTimeMs: 9,
      brokers: [{ nodeId: 2, host: 'broker-2', port: 9092, rack: null }],
      clusterId: 'cluster',
      controllerId: 3,
      topics: [
        { errorCode: 0, topic: 't', topicId, ...topic },
        { errorCode: 3, topic: 'u', topicId: noTopicId, ...topic },
      ],
      clusterAuthorizedOperations: -2147483648,
    }
    const response = encodeResponse('MetadataWithIds', body, 5)
    expect(decodeTopicIds(response.subarray(8))).toEqual(new Map([['t', topicId]]))
    expect(decodeResponse('MetadataWithIds', message(response))).toEqual({ correlationId: 5, body })
  })

  it('OffsetFetch for settled offsets is what our client writes and reads', () => {
    const asked = { groupId: 'g', topics: [{ topic: 't', partitions: [4, 300] }], requireStable: true }
    const request = encodeRequest('StableOffsetFetch', asked, head)
    expect(request.subarray(4 + 2 + 2 + 4 + 2 + head.clientId.length).toString('hex')).toBe(
      encodeStableOffsets('g', 't', [4, 300]).toString('hex'),
    )
    expect(decodeRequest(message(request)).body).toEqual(asked)
    const four = { partition: 4, offset: 5_000_000_000, leaderEpoch: 6, metadata: 'meta', errorCode: 0 }
    const open = { partition: 300, offset: -1, leaderEpoch: -1, metadata: '', errorCode: 88 }
    const body: ResponseBody<'StableOffsetFetch'> = {
      throttleTimeMs: 9,
      topics: [{ topic: 't', partitions: [four, open] }],
      errorCode: 14,
    }
    const response = encodeResponse('StableOffsetFetch', body, 5)
    expect(decodeStableOffsets(response.subarray(8))).toEqual({
      partitions: [
        { partition: 4, offset: '5000000000', metadata: 'meta', errorCode: 0 },
        { partition: 300, offset: '-1', metadata: '', errorCode: 88 },
      ],
      errorCode: 14,
    })
    expect(decodeResponse('StableOffsetFetch', message(response))).toEqual({ correlationId: 5, body })
  })

  it('OffsetDelete, which kafkajs does not have, comes back as it was written', () => {
    const body = { groupId: 'g', topics: [{ topic: 't', partitions: [{ partition: 4 }] }] }
    expect(decodeRequest(message(encodeRequest('OffsetDelete', body, head))).body).toEqual(body)
    const answer = { errorCode: 86, throttleTimeMs: 9, topics: topicErrors }
    expect(decodeResponse('OffsetDelete', message(encodeResponse('OffsetDelete', answer, 5))).body).toEqual(answer)
  })

  it('a request that is not in the table, or is too long, is refused', () => {
    const request = message(encodeRequest('Heartbeat', cases.Heartbeat.request, head))
    const otherVersion = Buffer.from(request)
    otherVersion.writeInt16BE(4, 2)
    expect(() => decodeRequest(otherVersion)).toThrow('version 4 of API 12 is not in the table')
    expect(() => decodeRequest(Buffer.concat([request, Buffer.alloc(1)]))).toThrow('1 bytes too many')
  })

  it('messages are found in whatever pieces they come', () => {
    const [a, b] = [
      encodeResponse('Heartbeat', { throttleTimeMs: 0, errorCode: 0 }, 1),
      encodeResponse('ApiVersions', cases.ApiVersions.response, 2),
    ]
    const stream = Buffer.concat([a, b])
    for (let size = 1; size <= stream.length; size++) {
      const complete = frames()
      const found: Buffer[] = []
      for (let at = 0; at < stream.length; at += size) found.push(...complete(stream.subarray(at, at + size)))
      expect(found.map((each) => each.toString('hex'))).toEqual(
        [message(a), message(b)].map((each) => each.toString('hex')),
      )
    }
  })
})

describe('record batches of the simulation', () => {
  const theirsOf = (bytes: Buffer) => decodeBatch(new Decoder(bytes))

  it('are what kafkajs writes, byte for byte', async () => {
    const written = await RecordBatch({
      firstTimestamp: records[0]!.timestamp,
      maxTimestamp: records[1]!.timestamp,
      lastOffsetDelta: 1,
      producerId: Long.fromValue(71),
      producerEpoch: 3,
      firstSequence: 12,
      transactional: true,
      records: messages.map((each, index) =>
        NewRecord({ ...each, offsetDelta: index, timestampDelta: each.timestamp - records[0]!.timestamp }),
      ),
    })
    expect(plainBatch.toString('hex')).toBe(written.buffer.toString('hex'))
    expect(checksumHolds(written.buffer)).toBe(true)
    expect(readRecords(written.buffer)).toEqual(records.map((each, offset) => ({ ...each, offset })))
  })

  it.each([false, true])('are read by kafkajs, in gzip: %s', async (gzip) => {
    const batch = placeBatch(buildBatch({ records, producerId: 71, producerEpoch: 3, baseSequence: 12, gzip }), 40, 6)
    const read = await theirsOf(batch)
    expect(read.records).toMatchObject([
      {
        offset: '40',
        timestamp: '1700000000000',
        key: Buffer.from('key'),
        value: Buffer.from('value'),
        headers: { h: Buffer.from('x') },
        isControlRecord: false,
      },
      {
        offset: '41',
        timestamp: '1700000000007',
        key: null,
        value: Buffer.from('second'),
        headers: {},
        isControlRecord: false,
      },
    ])
    expect(read.records[0]!['batchContext']).toMatchObject({
      firstOffset: '40',
      partitionLeaderEpoch: 6,
      producerId: '71',
      producerEpoch: 3,
      firstSequence: 12,
      inTransaction: false,
      lastOffsetDelta: 1,
      maxTimestamp: '1700000000007',
    })
    expect(readRecords(batch)).toEqual(records.map((each, index) => ({ ...each, offset: 40 + index })))
    expect(checksumHolds(batch)).toBe(true)
  })

  it('have a head that is read without them', () => {
    expect(batchHead(placeBatch(plainBatch, 40, 6))).toEqual({
      baseOffset: 40,
      lastOffset: 41,
      bytes: plainBatch.length,
      leaderEpoch: 6,
      magic: 2,
      codec: 0,
      transactional: true,
      control: false,
      firstTimestamp: 1_700_000_000_000,
      maxTimestamp: 1_700_000_000_007,
      producerId: 71,
      producerEpoch: 3,
      baseSequence: 12,
      count: 2,
    })
  })

  it.each([true, false])('end transactions with markers that kafkajs knows, committed: %s', async (committed) => {
    const marker = buildMarker({
      committed,
      producerId: 71,
      producerEpoch: 3,
      timestamp: 1_700_000_000_000,
      baseOffset: 9,
    })
    const { records: read } = await theirsOf(marker)
    expect(read).toMatchObject([{ offset: '9', isControlRecord: true, key: Buffer.from([0, 0, 0, committed ? 1 : 0]) }])
    expect(read[0]!['batchContext']).toMatchObject({ isControlBatch: true, inTransaction: true, producerId: '71' })
    expect(batchHead(marker)).toMatchObject({ control: true, transactional: true, baseSequence: -1 })
  })

  it('are told apart in a set whose last is cut off, and a damaged one is known', () => {
    const set = Buffer.concat([plainBatch, plainBatch, plainBatch.subarray(0, -1)])
    expect(splitBatches(set)).toHaveLength(2)
    const damaged = Buffer.from(plainBatch)
    damaged[damaged.length - 1]! ^= 1
    expect([checksumHolds(plainBatch), checksumHolds(damaged)]).toEqual([true, false])
  })
})
