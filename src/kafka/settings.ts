// The settings of the Kafka runner.

export type Placement = 'json' | 'headers' | 'topic'

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
  readonly limits: {
    readonly chunkEvents: number
    readonly chunkBytes: number
    readonly sendBytes: number
    readonly chunkDeadlineMs: number
    readonly drainMs: number
    readonly behindEvents: number
    readonly sessionTimeoutMs: number
    readonly concurrentPartitions: number
    readonly refreshMs: number
  }
}
