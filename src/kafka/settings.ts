// The settings of the Kafka runner.
import type { ISocketFactory } from 'kafkajs'
import type { SettingProblem } from '../domain/problem.js'
import type { Login } from './login.js'
import type { FormatSetting } from '../domain/topic-format.js'
import { canWrite } from './wire/codecs.js'

export type Placement = 'json' | 'headers' | 'topic'

/** Limits that suit every known cluster; those that depend on a deployment are settings. */
export const kafkaLimits = {
  /** Large enough to make a chunk cheap, small enough to wait for its answers together. */
  chunkEvents: 500,
  chunkBytes: 524_288,
  /** Below the default limit of brokers, one megabyte. A topic with a lower limit reduces it. */
  sendBytes: 700_000,
  /** Ends a stuck chunk, which heartbeats would hide. A healthy chunk takes less than a tenth of this. */
  chunkDeadlineMs: 120_000,
  /** Ten chunks: a partition with a larger lag is behind and waits by `enrich.catchUpShare`. */
  behindEvents: 5_000,
  concurrentPartitions: 8,
  /** Limit on notes of delivered events with open answers, at some 60 bytes each. */
  pendingEvents: 500_000,
  /** Interval at which new partitions and topics are found. */
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
    readonly format?: FormatSetting
  }
  readonly output: {
    readonly topic: string
    readonly partitionBy: 'input' | 'key'
    readonly compression: 'none' | 'gzip' | 'zstd'
  }
  /** Empty: a record that the output topic refuses stops the worker. */
  readonly deadLetterTopic: string
  /** Empty: no alerts are written. */
  readonly alertsTopic?: string
  /** Empty: pending events are noted in memory only. */
  readonly sightingsTopic?: string
  /** Empty: events delivered before their answer are not corrected. */
  readonly correctionsTopic?: string
  /** Empty: paid answers are not shared. */
  readonly verdictsTopic?: string
  /** Empty: there is one gateway. */
  readonly gatewaysTopic?: string
  /** Signs shared records. Empty: access rules alone decide who may write. */
  readonly verdictsKey?: string
  /** Topics with derived names: if one is missing, the program continues without it. */
  readonly derivedTopics?: readonly string[]
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
    readonly mechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer' | 'aws-msk-iam'
    readonly username: string
    readonly password: string
    readonly tokenFile: string
    /** Sent to the brokers with the token. */
    readonly extensions?: Readonly<Record<string, string>>
  }
  /** Provides the token if it is not in a file. */
  readonly login?: Login | undefined
  /** Opens broker connections; absent: Node does. Every client is created from these settings, so none bypasses it. */
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

// Finds invalid combinations of Kafka settings that are valid one by one.

export const settingsProblems = (settings: KafkaSettings): readonly SettingProblem[] => {
  const { brokers, input, output, deadLetterTopic, tls, sasl } = settings
  const {
    alertsTopic = '',
    sightingsTopic = '',
    correctionsTopic = '',
    verdictsTopic = '',
    gatewaysTopic = '',
  } = settings
  const problems: SettingProblem[] = []
  const refuse = (setting: string, message: string): void => {
    problems.push({ setting: `kafka.${setting}`, message })
  }
  if (brokers.length === 0) refuse('brokers', 'must name at least one broker, as host:port')
  if (input.topics.length === 0 && input.pattern === '')
    refuse('input.topics', 'must name a topic to read, or input.pattern describe some')
  if (output.topic === '') refuse('output.topic', 'must name the topic to write')
  if (output.topic !== '' && output.topic === deadLetterTopic)
    refuse('deadLetterTopic', 'must be another topic than output.topic')
  for (const [setting, topic] of [
    ['output.topic', output.topic],
    ['deadLetterTopic', deadLetterTopic],
    ['alertsTopic', alertsTopic],
    ['sightingsTopic', sightingsTopic],
    ['correctionsTopic', correctionsTopic],
    ['verdictsTopic', verdictsTopic],
    ['gatewaysTopic', gatewaysTopic],
  ] as const)
    if (topic !== '' && input.topics.includes(topic))
      refuse(setting, `is also read: ${topic} would feed itself forever`)
  if (sightingsTopic !== '' && [output.topic, deadLetterTopic, alertsTopic, correctionsTopic].includes(sightingsTopic))
    refuse('sightingsTopic', 'must be a topic of its own: it is compacted')
  if (
    verdictsTopic !== '' &&
    [output.topic, deadLetterTopic, alertsTopic, correctionsTopic, sightingsTopic].includes(verdictsTopic)
  )
    refuse('verdictsTopic', 'must be a topic of its own')
  if (
    gatewaysTopic !== '' &&
    [output.topic, deadLetterTopic, alertsTopic, correctionsTopic, sightingsTopic, verdictsTopic].includes(
      gatewaysTopic,
    )
  )
    refuse('gatewaysTopic', 'must be a topic of its own')
  problems.push(...verdictsProblems(settings))
  if (!canWrite(output.compression))
    refuse('output.compression', `cannot be ${output.compression} on this Node.js, which supports it from 22.15 on`)
  if ((tls.certificateFile === '') !== (tls.keyFile === ''))
    refuse('tls.keyFile', 'and tls.certificateFile go together')
  if (!tls.enabled && [tls.caFile, tls.certificateFile, tls.keyFile].some((file) => file !== ''))
    refuse('tls.enabled', 'must be true for the files of tls to be used')
  if (
    ['plain', 'scram-sha-256', 'scram-sha-512'].includes(sasl.mechanism) &&
    (sasl.username === '' || sasl.password === '')
  )
    refuse('sasl.username', `and sasl.password are needed for ${sasl.mechanism}`)
  problems.push(...formatProblems(settings))
  return problems
}

const formatProblems = ({ input }: KafkaSettings): readonly SettingProblem[] => {
  const { format = 'text', topics, pattern } = input
  const problems: SettingProblem[] = []
  if (typeof format === 'object' && pattern === '')
    for (const topic of Object.keys(format))
      if (!topics.includes(topic))
        problems.push({ setting: `kafka.input.format.${topic}`, message: 'is not one of kafka.input.topics' })
  return problems
}

/** Checks the settings of a process that uses only the verdicts topic. */
export const verdictsProblems = ({
  brokers,
  verdictsTopic = '',
  gatewaysTopic = '',
  verdictsKey = '',
}: KafkaSettings): readonly SettingProblem[] => [
  ...(verdictsTopic !== '' && brokers.length === 0
    ? [{ setting: 'kafka.verdictsTopic', message: 'needs kafka.brokers' }]
    : []),
  ...(gatewaysTopic !== '' && brokers.length === 0
    ? [{ setting: 'kafka.gatewaysTopic', message: 'needs kafka.brokers' }]
    : []),
  ...(verdictsKey !== '' && verdictsKey.length < 32
    ? [
        {
          setting: 'kafka.verdictsKey',
          message: 'must have at least 32 characters: who can guess it can make the fleet believe anything',
        },
      ]
    : []),
]
