// The connections underneath a kafkajs client, for the questions that its admin does not know.
import type { Kafka } from 'kafkajs'

export type Cluster = {
  readonly connect: () => Promise<void>
  readonly disconnect: () => Promise<void>
  readonly refreshMetadata: () => Promise<void>
  readonly findGroupCoordinator: (group: { readonly groupId: string }) => Promise<{
    readonly offsetCommit: (commit: {
      readonly groupId: string
      readonly groupGenerationId: number
      readonly memberId: string
      readonly topics: readonly {
        readonly topic: string
        readonly partitions: readonly { readonly partition: number; readonly offset: string }[]
      }[]
    }) => Promise<unknown>
    readonly leaveGroup: (member: { readonly groupId: string; readonly memberId: string }) => Promise<unknown>
  }>
  readonly brokerPool: {
    readonly findConnectedBroker: () => Promise<{
      readonly versions?: Readonly<Record<number, { readonly maxVersion: number } | undefined>> | null
      readonly connectionPool: { readonly send: (protocol: object) => Promise<unknown> }
      readonly apiVersions: () => Promise<unknown>
    }>
  }
}

export const clusterOf = (kafka: Kafka): Cluster => {
  const inner = kafka as unknown as Record<symbol, ((options: object) => Cluster) | undefined>
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description?.endsWith('createCluster'))
  const cluster = symbol && inner[symbol]?.({ metadataMaxAge: 300_000, allowAutoTopicCreation: false })
  if (!cluster) throw new Error('this kafkajs has no inner cluster')
  return cluster
}
