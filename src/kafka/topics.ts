// Checks the topics against the requirements before any record is read; it never changes them silently.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Admin, ITopicConfig } from 'kafkajs'
import { failureOf } from './failure.js'
import { ConfigResourceTypes } from './patched-kafkajs/patched-kafkajs.js'
import type { KafkaSettings } from './settings.js'

export type TopicFacts = {
  readonly partitions: number
  readonly maxBytes: number
  readonly retentionMs: number
  readonly cleanup: string
  /** Whether the producer or the broker sets record times. */
  readonly times: string
}

export type TopicRemark = {
  readonly topic: string
  /** An error prevents the start of the runner. */
  readonly level: 'error' | 'warning'
  readonly message: string
}

export type Topics = {
  readonly input: readonly string[]
  readonly facts: ReadonlyMap<string, TopicFacts>
  readonly remarks: readonly TopicRemark[]
}

/** The annotation takes at most 4 KB; our headers and the batch overhead take less than 1 KB. */
export const growthBytes = 5_120
/** Limit on the size of an alert, a note or a verdict. */
const attachmentBytes = 262_144
const dayMs = 86_400_000

const sightingsMs = 14 * dayMs
/** The longest time that a verdict is served, and the default retention of its history. */
const verdictsMs = { least: 9 * dayMs, usual: 30 * dayMs }

const writtenTopics = (settings: KafkaSettings): readonly string[] => {
  const { output, deadLetterTopic, alertsTopic = '', sightingsTopic = '', correctionsTopic = '' } = settings
  const { verdictsTopic = '', gatewaysTopic = '' } = settings
  const optional = [
    deadLetterTopic,
    alertsTopic,
    sightingsTopic,
    correctionsTopic,
    verdictsTopic,
    gatewaysTopic,
  ].filter((topic) => topic !== '')
  return [...new Set([output.topic, ...optional])]
}

export const inputTopics = (settings: KafkaSettings, existing: readonly string[]): readonly string[] => {
  const written = new Set(writtenTopics(settings))
  const { topics, pattern } = settings.input
  const matches = pattern === '' ? undefined : new RegExp(`^(?:${pattern})$`)
  const matched = matches
    ? existing.filter(
        (topic) => topic.length <= 249 && matches.test(topic) && !topic.startsWith('__') && !written.has(topic),
      )
    : []
  return [...new Set([...topics, ...matched])].sort()
}

/** A listed topic that the next broker does not know has just been created or deleted, so look again. */
const looks = { most: 10, apartMs: 300 }

export const lookAgain = async <T>(look: () => Promise<T>): Promise<T> => {
  for (let nth = 1; ; nth++)
    try {
      return await look()
    } catch (error) {
      if (nth === looks.most || failureOf(error).name !== 'UNKNOWN_TOPIC_OR_PARTITION') throw error
      await sleep(looks.apartMs)
    }
}

export const inspectTopics = (admin: Admin, settings: KafkaSettings): Promise<Topics> =>
  lookAgain(() => inspectOnce(admin, settings))

const inspectOnce = async (admin: Admin, settings: KafkaSettings): Promise<Topics> => {
  const existing = await admin.listTopics()
  const input = inputTopics(settings, existing)
  const remarks: TopicRemark[] = []
  const isDerived = (topic: string): boolean => settings.derivedTopics?.includes(topic) === true
  for (const topic of [...input, ...writtenTopics(settings)])
    if (!existing.includes(topic))
      remarks.push({
        topic,
        // Events do not depend on these topics, and the program uses them as soon as they exist.
        level:
          topic === settings.verdictsTopic || topic === settings.gatewaysTopic || isDerived(topic)
            ? 'warning'
            : 'error',
        message: input.includes(topic)
          ? 'does not exist; it is the input, and only you know how many partitions it needs: create it, or correct kafka.input.topics'
          : `does not exist${isDerived(topic) ? `, so ${withoutTopic(settings, topic)}` : ''}; \`threatweave check --online --create-topics\` creates it`,
      })
  for (const topic of input)
    if (writtenTopics(settings).includes(topic))
      remarks.push({ topic, level: 'error', message: 'is read and written: its events would circulate forever' })
  if (input.length === 0)
    remarks.push({ topic: settings.input.pattern, level: 'error', message: 'matches no topic to read' })
  const present = [...new Set([...input, ...writtenTopics(settings)])].filter((topic) => existing.includes(topic))
  const { facts, isKept } = await readFactsBut(admin, present, settings.verdictsTopic ?? '')
  if (isKept)
    remarks.push({
      topic: settings.verdictsTopic ?? '',
      level: 'warning',
      message:
        'has settings that this user may not see, so that nobody checks them: allow DescribeConfigs, as the verdicts topic',
    })
  remarks.push(...unfit(settings, input, facts))
  return { input, facts, remarks }
}

const withoutTopic = (settings: KafkaSettings, topic: string): string => {
  switch (topic) {
    case settings.deadLetterTopic:
      return 'a record that the output topic cannot take stops the worker'
    case settings.alertsTopic:
      return 'no alerts are raised'
    case settings.correctionsTopic:
      return 'events that leave before an answer are not corrected'
    case settings.sightingsTopic:
      return 'a restart forgets which events wait for an answer and who has seen what'
    default:
      return 'other processes and the next start pay for the same answers again'
  }
}

/** The missing topics with derived names, without which the program continues. */
export const missingTopics = (settings: KafkaSettings, { facts }: Pick<Topics, 'facts'>): readonly string[] =>
  (settings.derivedTopics ?? []).filter((topic) => !facts.has(topic) && topic !== settings.verdictsTopic)

export const withoutTopics = (settings: KafkaSettings, missing: readonly string[]): KafkaSettings => {
  const present = (topic = ''): string => (missing.includes(topic) ? '' : topic)
  return {
    ...settings,
    deadLetterTopic: present(settings.deadLetterTopic),
    alertsTopic: present(settings.alertsTopic),
    correctionsTopic: present(settings.correctionsTopic),
    sightingsTopic: present(settings.sightingsTopic),
  }
}

/** Events do not depend on the optional topic, so missing permission to read its settings does not prevent the start. */
const readFactsBut = async (
  admin: Admin,
  topics: readonly string[],
  optional: string,
): Promise<{ readonly facts: Topics['facts']; readonly isKept: boolean }> => {
  try {
    return { facts: await readFacts(admin, topics), isKept: false }
  } catch (error) {
    if (failureOf(error).name !== 'TOPIC_AUTHORIZATION_FAILED' || !topics.includes(optional)) throw error
    const others = topics.filter((topic) => topic !== optional)
    return { facts: await readFacts(admin, others), isKept: true }
  }
}

const unfit = (
  settings: KafkaSettings,
  input: readonly string[],
  facts: ReadonlyMap<string, TopicFacts>,
): readonly TopicRemark[] => {
  const remarks: TopicRemark[] = []
  const warn = (topic: string, message: string): void => {
    remarks.push({ topic, level: 'warning', message })
  }
  const output = facts.get(settings.output.topic)
  const dead = facts.get(settings.deadLetterTopic)
  const largest = Math.max(0, ...input.map((topic) => facts.get(topic)?.maxBytes ?? 0))
  const widest = Math.max(0, ...input.map((topic) => facts.get(topic)?.partitions ?? 0))
  if (output && output.partitions < widest)
    warn(settings.output.topic, `has ${output.partitions} partitions for ${widest} of the input: several share one`)
  if (output && output.maxBytes < largest + growthBytes)
    warn(
      settings.output.topic,
      `takes ${output.maxBytes} bytes a batch; the input allows ${largest}, so give it ${largest + growthBytes} or large events lose their details`,
    )
  if (dead && dead.maxBytes < largest + growthBytes)
    warn(
      settings.deadLetterTopic,
      `takes ${dead.maxBytes} bytes a batch; give it ${largest + growthBytes}, or a dead letter of a large event can only point to it`,
    )
  const { alertsTopic = '', correctionsTopic = '' } = settings
  const corrections = facts.get(correctionsTopic)
  if (corrections && output && corrections.maxBytes < output.maxBytes)
    warn(
      correctionsTopic,
      `takes ${corrections.maxBytes} bytes a batch; the output takes ${output.maxBytes}, so give it as much or large events are not corrected`,
    )
  for (const topic of new Set([alertsTopic, settings.sightingsTopic ?? '', settings.verdictsTopic ?? ''])) {
    const { maxBytes = Infinity } = facts.get(topic) ?? {}
    if (maxBytes < attachmentBytes)
      warn(topic, `takes ${maxBytes} bytes a batch; give it ${attachmentBytes}, or large alerts and notes are left out`)
  }
  for (const [topic, found] of [
    [settings.output.topic, output],
    [settings.deadLetterTopic, dead],
  ] as const)
    if (found && found.retentionMs >= 0 && found.retentionMs < dayMs)
      warn(
        topic,
        `keeps records for ${Math.round(found.retentionMs / 60_000)} minutes; older events are deleted as soon as they are written`,
      )
  const { sightingsTopic = '' } = settings
  const sightings = facts.get(sightingsTopic)
  if (sightings && sightings.cleanup.split(',').sort().join() !== 'compact,delete')
    remarks.push({
      topic: sightingsTopic,
      level: 'error',
      message: `has cleanup.policy ${sightings.cleanup}; as the sightings topic it needs compact,delete, or it grows without end or loses what is still needed`,
    })
  if (sightings && sightings.retentionMs >= 0 && sightings.retentionMs < sightingsMs)
    warn(sightingsTopic, `keeps records for less than 14 days: set retention.ms to ${sightingsMs}`)
  const { verdictsTopic = '' } = settings
  const verdicts = facts.get(verdictsTopic)
  const refuse = (message: string): void => {
    remarks.push({ topic: verdictsTopic, level: 'error', message: `${message}, as the verdicts topic` })
  }
  if (verdicts && verdicts.cleanup !== 'delete')
    refuse(`has cleanup.policy ${verdicts.cleanup}; it needs delete, because it is also the history of a verdict`)
  if (verdicts && verdicts.times !== 'LogAppendTime')
    refuse(
      'needs message.timestamp.type LogAppendTime: by the time of the broker a verdict from the future is recognised',
    )
  if (verdicts && verdicts.retentionMs >= 0 && verdicts.retentionMs < verdictsMs.least)
    refuse(
      `keeps records for less than 9 days, which is how long a verdict may be served: set retention.ms to ${verdictsMs.usual}`,
    )
  const { gatewaysTopic = '' } = settings
  const gateways = facts.get(gatewaysTopic)
  if (gateways && (gateways.cleanup !== 'compact' || gateways.partitions !== 1))
    remarks.push({
      topic: gatewaysTopic,
      level: 'error',
      message: `has ${gateways.partitions} partitions and cleanup.policy ${gateways.cleanup}; as the gateways topic it needs one and compact, or who called last and what is spent is forgotten`,
    })
  return remarks
}

export const readFacts = async (admin: Admin, topics: readonly string[]): Promise<ReadonlyMap<string, TopicFacts>> => {
  if (topics.length === 0) return new Map()
  const { topics: described } = await admin.fetchTopicMetadata({ topics: [...topics] })
  const configs = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({
      type: ConfigResourceTypes.TOPIC,
      name,
      configNames: ['max.message.bytes', 'retention.ms', 'cleanup.policy', 'message.timestamp.type'],
    })),
  })
  return new Map(
    described.map(({ name, partitions }) => {
      const entries = configs.resources.find(({ resourceName }) => resourceName === name)?.configEntries ?? []
      const text = (config: string): string | undefined =>
        entries.find(({ configName }) => configName === config)?.configValue
      const number = (config: string, otherwise: number): number => Number(text(config) ?? otherwise)
      return [
        name,
        {
          partitions: partitions.length,
          maxBytes: number('max.message.bytes', 1_048_588),
          retentionMs: number('retention.ms', -1),
          cleanup: text('cleanup.policy') ?? 'delete',
          times: text('message.timestamp.type') ?? 'CreateTime',
        },
      ]
    }),
  )
}

/** Creates the missing output topics; input topics are left to their owners. */
export const createTopics = async (admin: Admin, settings: KafkaSettings): Promise<readonly string[]> => {
  const { input, facts } = await inspectTopics(admin, settings)
  const partitions = Math.max(1, ...input.map((topic) => facts.get(topic)?.partitions ?? 1))
  const maxBytes = Math.max(1_048_588, ...input.map((topic) => facts.get(topic)?.maxBytes ?? 0)) + growthBytes
  const existing = await admin.listTopics()
  const missing = writtenTopics(settings).filter((topic) => topic !== '' && !existing.includes(topic))
  if (missing.length === 0) return []
  const single = [settings.deadLetterTopic, settings.alertsTopic, settings.verdictsTopic, settings.gatewaysTopic]
  await makeTopics(
    admin,
    missing.map((topic) => ({
      topic,
      numPartitions: single.includes(topic) ? 1 : partitions,
      replicationFactor: -1,
      configEntries: [
        { name: 'max.message.bytes', value: String(maxBytes) },
        ...(topic === settings.deadLetterTopic ? [{ name: 'retention.ms', value: String(30 * dayMs) }] : []),
        ...(topic === settings.sightingsTopic
          ? [
              { name: 'cleanup.policy', value: 'compact,delete' },
              { name: 'retention.ms', value: String(sightingsMs) },
            ]
          : []),
        ...(topic === settings.gatewaysTopic
          ? [
              { name: 'cleanup.policy', value: 'compact' },
              // Keeps today's spending records, even if an older record is written after them.
              { name: 'min.compaction.lag.ms', value: String(2 * dayMs) },
            ]
          : []),
        ...(topic === settings.verdictsTopic
          ? [
              { name: 'cleanup.policy', value: 'delete' },
              { name: 'message.timestamp.type', value: 'LogAppendTime' },
              { name: 'retention.ms', value: String(verdictsMs.usual) },
            ]
          : []),
      ],
    })),
  )
  return missing
}

/** Waits until the topics can be written, because kafkajs fails on a new topic without known leaders. */
export const makeTopics = async (admin: Admin, topics: ITopicConfig[]): Promise<void> => {
  await admin.createTopics({ waitForLeaders: false, topics })
  const names = topics.map(({ topic }) => topic)
  for (let tries = 1; ; tries++)
    try {
      const { topics: described } = await admin.fetchTopicMetadata({ topics: names })
      if (described.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return
      if (tries === 100) return
      await sleep(100)
    } catch (error) {
      if (tries === 100) throw error
      await sleep(100)
    }
}
