// The settings of the Kafka runner.
import type { ISocketFactory } from 'kafkajs'

export type Placement = 'json' | 'headers' | 'topic'

/** Bounds that fit every cluster we know; those that depend on a deployment are settings. */
export const kafkaLimits = {
  /** Enough that a chunk is cheap, few enough that its answers are waited for together. */
  chunkEvents: 500,
  chunkBytes: 524_288,
  /** Below the one megabyte that brokers take by default; a topic that takes less is noticed and lowers it. */
  sendBytes: 700_000,
  /** A chunk that is stuck must not hide behind heartbeats; no healthy one takes a tenth of this. */
  chunkDeadlineMs: 120_000,
  /** Ten chunks: a partition with more to read is behind and waits by `enrich.catchUpShare`. */
  behindEvents: 5_000,
  concurrentPartitions: 8,
  /** Delivered events that are noted until their answers are there, some 60 bytes each. */
  pendingEvents: 500_000,
  /** How soon new partitions and topics are found. */
  refreshMs: 60_000,
} as const

export type KafkaSettings = {
  readonly brokers: readonly string[]
  readonly clientId: string
  readonly groupId: string
  readonly input: {
    readonly topics: readonly string[]
    readonly pattern: string
    readonly start: 'earliest' | 'latest'
  }
  readonly output: {
    readonly topic: string
    readonly partitionBy: 'input' | 'key'
    readonly compression: 'none' | 'gzip' | 'zstd'
  }
  readonly deadLetterTopic: string
  /** Empty: no alerts are written. */
  readonly alertsTopic?: string
  /** Empty: who waits for an answer is known only in memory. */
  readonly sightingsTopic?: string
  /** Empty: events that left before their answer are not written again. */
  readonly correctionsTopic?: string
  readonly delivery: 'at-least-once' | 'exactly-once'
  readonly transactionalIdPrefix: string
  readonly tls: {
    readonly enabled: boolean
    readonly caFile: string
    readonly certificateFile: string
    readonly keyFile: string
    readonly keyPassphrase: string
    readonly serverName: string
  }
  readonly sasl: {
    readonly mechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer'
    readonly username: string
    readonly password: string
    readonly tokenFile: string
  }
  /** How connections to brokers are made; absent: by Node. Every client is made from these settings, so that none can bypass it. */
  readonly sockets?: ISocketFactory | undefined
  readonly limits: {
    readonly chunkEvents: number
    readonly chunkBytes: number
    readonly sendBytes: number
    readonly chunkDeadlineMs: number
    readonly drainMs: number
    readonly behindEvents: number
    readonly sessionTimeoutMs: number
    readonly concurrentPartitions: number
    readonly pendingEvents: number
    readonly refreshMs: number
  }
}
