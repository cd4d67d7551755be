// The internal connections of a kafkajs client, for requests that its public API does not offer.
import type { Kafka } from 'kafkajs'
import type { AbortedTransaction } from './patched-kafkajs/drop-aborted.js'
import type { WireRecord } from './wire/record.js'

type TopicOffsets = {
  readonly topic: string
  readonly partitions: readonly { readonly partition: number; readonly offset: string; readonly metadata?: string }[]
}

type Broker = {
  readonly versions?: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null
  readonly connectionPool: { readonly send: (protocol: object) => Promise<unknown> }
  readonly apiVersions: () => Promise<unknown>
  readonly fetch: (request: object) => Promise<{
    readonly responses: readonly {
      readonly partitions: readonly {
        readonly abortedTransactions: readonly AbortedTransaction[] | null
        readonly messages: readonly WireRecord[]
      }[]
    }[]
  }>
  readonly listOffsets: (request: {
    readonly isolationLevel: number
    readonly topics: readonly object[]
  }) => Promise<{ readonly responses: readonly { readonly partitions: readonly { readonly offset: string }[] }[] }>
  readonly offsetFetch: (request: object) => Promise<{
    readonly responses: readonly {
      readonly partitions: readonly { partition: number; offset: string; metadata: string | null }[]
    }[]
  }>
  readonly offsetCommit: (commit: {
    readonly groupId: string
    readonly groupGenerationId: number
    readonly memberId: string
    readonly topics: readonly TopicOffsets[]
  }) => Promise<unknown>
  readonly joinGroup: (request: object) => Promise<{
    readonly generationId: number
    readonly leaderId: string
    readonly memberId: string
    /** For the leader only. */
    readonly members: readonly { readonly memberId: string }[]
  }>
  readonly syncGroup: (request: object) => Promise<{ readonly memberAssignment: Buffer }>
  readonly heartbeat: (request: object) => Promise<unknown>
  readonly leaveGroup: (member: { readonly groupId: string; readonly memberId: string }) => Promise<unknown>
}

export type Cluster = {
  readonly connect: () => Promise<void>
  readonly disconnect: () => Promise<void>
  readonly refreshMetadata: () => Promise<void>
  readonly refreshMetadataIfNecessary: () => Promise<void>
  readonly addTargetTopic: (topic: string) => Promise<void>
  readonly findTopicPartitionMetadata: (topic: string) => readonly { readonly partitionId: number }[]
  readonly findLeaderForPartitions: (topic: string, partitions: readonly number[]) => Record<string, number[]>
  readonly findBroker: (which: { readonly nodeId: string }) => Promise<Broker>
  readonly findGroupCoordinator: (which: { readonly groupId: string }) => Promise<Broker>
  readonly fetchTopicsOffset: (
    topics: readonly object[],
  ) => Promise<readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[]>
  readonly brokerPool: {
    readonly findConnectedBroker: () => Promise<Broker>
    readonly refreshMetadata: (topics: readonly string[]) => Promise<void>
    /** By node id, as of the last metadata. */
    readonly brokers: Readonly<Record<string, unknown>>
  }
}

export const readUncommitted = 0
export const readCommitted = 1

/** Latest offsets cover committed records only. */
export const clusterOf = (kafka: Kafka): Cluster => {
  const inner = kafka as unknown as Record<symbol, ((options: object) => Cluster) | undefined>
  const symbol = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  const cluster =
    symbol && inner[symbol]?.({ metadataMaxAge: 300_000, allowAutoTopicCreation: false, isolationLevel: readCommitted })
  if (!cluster) throw new Error('this kafkajs has no cluster inside its client: install the version of package.json')
  return cluster
}
