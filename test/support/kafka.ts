// Kafka for integration tests, with plain kafkajs: unique topics, numbered events and counts of the output.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel, Partitioners, type Admin, type IHeaders, type Message } from 'kafkajs'
import { inject } from 'vitest'
import { clusterOf } from '../../src/kafka/cluster.js'
import { openTopicReader } from '../../src/kafka/topic-reader.js'
import type { KafkaSettings } from '../../src/kafka/settings.js'
import { topicIdsRequest, type TopicIds } from '../../src/kafka/wire/topic-ids.js'

export const soak = process.env.THREATWEAVE_SOAK !== undefined

/** Soak runs print their figures besides passing. */
export const report = (what: string, figures: Readonly<Record<string, number>>): void => {
  if (soak) process.stderr.write(`${what}: ${JSON.stringify(figures)}\n`)
}

export const client = (broker = inject('broker').plain): Kafka =>
  new Kafka({ brokers: broker.split(','), logLevel: logLevel.NOTHING })

export type Names = { readonly input: string; readonly output: string; readonly dead: string; readonly groupId: string }

export const makeTopics = async (
  options: {
    readonly partitions?: number
    readonly broker?: string
    readonly config?: Readonly<Partial<Record<'input' | 'output' | 'dead', Readonly<Record<string, string>>>>>
  } = {},
): Promise<Names> => {
  const id = randomUUID().slice(0, 8)
  const names = { input: `in-${id}`, output: `out-${id}`, dead: `dead-${id}`, groupId: `group-${id}` }
  await withAdmin(async (admin) => {
    await admin.createTopics({
      waitForLeaders: false,
      topics: (['input', 'output', 'dead'] as const).map((role) => ({
        topic: names[role],
        numPartitions: role === 'dead' ? 1 : (options.partitions ?? 4),
        configEntries: Object.entries(options.config?.[role] ?? {}).map(([name, value]) => ({ name, value })),
      })),
    })
    for (const topic of [names.input, names.output, names.dead]) await untilServed(() => admin.fetchTopicOffsets(topic))
  }, options.broker)
  return names
}

export const withAdmin = async <T>(work: (admin: Admin) => Promise<T>, broker?: string): Promise<T> => {
  const admin = client(broker).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

/** Creates another topic; resolves when the broker knows it. */
export const makeTopic = (
  topic: string,
  numPartitions: number,
  broker?: string,
  config: Readonly<Record<string, string>> = {},
): Promise<void> =>
  withAdmin(async (admin) => {
    const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }))
    await admin.createTopics({ waitForLeaders: false, topics: [{ topic, numPartitions, configEntries }] })
    await untilServed(() => admin.fetchTopicOffsets(topic))
  }, broker)

/**
 * Deletes a topic and creates it again. The broker answers both requests before it is done: until the id has changed and every partition is
 * empty, new records may go to the old topic and be deleted with it.
 *
 * Also waits until the offsets of the deleted topic are removed. Brokers do that later, by name; if it hits a commit of the new topic, its
 * events are repeated (docs/kafka.md), which must not disturb other tests.
 */
export const makeTopicAgain = async (topic: string, numPartitions: number): Promise<void> => {
  const former = await topicIdOf(topic)
  const groupId = `gone-${randomUUID()}`
  await withAdmin((admin) => admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: '0' }] }))
  await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
  await untilServed(() => makeTopic(topic, numPartitions))
  await untilServed(async () => {
    const id = await topicIdOf(topic)
    const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic))
    const isNew = id !== undefined && id !== former
    if (!isNew || ends.length !== numPartitions || ends.some(({ high }) => high !== '0'))
      throw new Error(`${topic} is still the former topic`)
    const [committed] = await withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [topic] }))
    if (committed?.partitions.some(({ offset }) => offset !== '-1'))
      throw new Error(`offsets of the former ${topic} are not removed yet`)
  })
}

const topicIdOf = async (topic: string): Promise<string | undefined> => {
  const cluster = clusterOf(client())
  try {
    const { connectionPool } = await cluster.brokerPool.findConnectedBroker()
    return ((await connectionPool.send(topicIdsRequest([topic]))) as TopicIds).get(topic)
  } finally {
    await cluster.disconnect()
  }
}

/** A new topic is not always known at once. */
const untilServed = async (ask: () => Promise<unknown>): Promise<void> => {
  for (let tries = 1; ; tries++)
    try {
      await ask()
      return
    } catch (error) {
      if (tries === 300) throw error
      await sleep(100)
    }
}

type Changes = Partial<Omit<KafkaSettings, 'limits' | 'input' | 'output'>> & {
  readonly limits?: Partial<KafkaSettings['limits']>
  readonly input?: Partial<KafkaSettings['input']>
  readonly output?: Partial<KafkaSettings['output']>
}

export const settingsFor = (names: Names, changes: Changes = {}): KafkaSettings => ({
  brokers: [inject('broker').plain],
  clientId: 'threatweave-test',
  groupId: names.groupId,
  deadLetterTopic: names.dead,
  delivery: 'at-least-once',
  transactionalIdPrefix: 'test',
  tls: { enabled: false, caFile: '', certificateFile: '', keyFile: '', keyPassphrase: '', serverName: '' },
  sasl: { mechanism: 'none', username: '', password: '', tokenFile: '' },
  ...changes,
  input: { topics: [names.input], pattern: '', start: 'earliest', ...changes.input },
  output: { topic: names.output, partitionBy: 'input', compression: 'none', ...changes.output },
  limits: {
    chunkEvents: 100,
    chunkBytes: 524_288,
    sendBytes: 700_000,
    chunkDeadlineMs: 60_000,
    drainMs: 60_000,
    behindEvents: 1_000_000,
    // Long enough for a busy machine; tests that kill a worker use a shorter one.
    sessionTimeoutMs: 30_000,
    concurrentPartitions: 8,
    pendingEvents: 500_000,
    refreshMs: 2_000,
    ...changes.limits,
  },
})

/** Writes numbered events, the same number on every partition and each once. Mixed: four of five are in a batch, the fifth is a record. */
export const fill = async (
  topic: string,
  partitions: number,
  from: number,
  to: number,
  broker?: string,
  isMixed = false,
): Promise<void> => {
  const producer = client(broker).producer({ idempotent: true, createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  const valueOf = (partition: number, seq: number): string =>
    JSON.stringify({ seq, partition, message: `event ${seq} of ${partition} from 192.0.2.${seq % 250}` })
  const batchOf = (partition: number, seq: number): string =>
    `[${[0, 1, 2, 3].map((nth) => valueOf(partition, seq + nth)).join(', ')}]`
  for (let start = from; start < to; start += 250) {
    const messages: Message[] = []
    for (let seq = start; seq < Math.min(to, start + 250); seq++)
      for (let partition = 0; partition < partitions; partition++) {
        const isBatch = isMixed && seq % 5 === 0
        if (isMixed && !isBatch && seq % 5 !== 4) continue
        messages.push({
          partition,
          key: `${partition}-${seq}`,
          value: isBatch ? batchOf(partition, seq) : valueOf(partition, seq),
        })
      }
    await producer.send({ topic, messages })
  }
  await producer.disconnect()
}

export type Read = {
  readonly partition: number
  readonly offset: string
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: IHeaders
  readonly timestamp: string
}

/** Reads a topic with read_committed until `enough` returns true, and for `calmMs` longer to catch duplicates. */
export const readTopic = async (
  topic: string,
  enough: (records: readonly Read[]) => boolean,
  options: { readonly limitMs?: number; readonly calmMs?: number; readonly broker?: string } = {},
): Promise<readonly Read[]> => {
  const consumer = client(options.broker).consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 100 })
  const records: Read[] = []
  const last = new Map<number, number>()
  await consumer.connect()
  await consumer.subscribe({ topic, fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachBatch: ({ batch: { partition, messages } }) => {
      for (const { offset, key, value, headers = {}, timestamp } of messages) {
        // A reader that rejoins its group starts again, so skip records that it has read already.
        if (Number(offset) <= (last.get(partition) ?? -1)) continue
        last.set(partition, Number(offset))
        records.push({ partition, offset, key, value, headers, timestamp })
      }
      return Promise.resolve()
    },
  })
  const until = Date.now() + (options.limitMs ?? 600_000)
  while (Date.now() < until && !enough(records)) await sleep(50)
  await sleep(options.calmMs ?? 300)
  await consumer.disconnect()
  return records
}

/**
 * Like `readTopic`, but filters aborted transactions itself: kafkajs misses some if transactions of several producers interleave, as in a
 * topic of alerts.
 */
export const readAmongAborted = async (
  topic: string,
  enough: (records: readonly Read[]) => boolean,
  options: { readonly limitMs?: number; readonly calmMs?: number; readonly broker?: string } = {},
): Promise<readonly Read[]> => {
  const reader = await openTopicReader(client(options.broker))
  const records: Read[] = []
  const positions = new Map(await reader.offsetsAt(topic, 'earliest'))
  const readOn = async (): Promise<void> => {
    for (const [partition, position] of positions) {
      const fetched = await reader.fetch(topic, partition, position)
      positions.set(partition, fetched.next)
      // kafkajs returns headers as an object here, without the correction in src/.
      for (const { offset, key, value, headers, timestamp } of fetched.records)
        records.push({ partition, offset, key, value, headers: headers as unknown as IHeaders, timestamp })
    }
  }
  const until = Date.now() + (options.limitMs ?? 600_000)
  while (Date.now() < until && !enough(records)) await readOn()
  const calm = Date.now() + (options.calmMs ?? 300)
  while (Date.now() < calm) await readOn()
  await reader.close()
  return records
}

export type Tally = {
  /** Events missing from the output. */
  readonly missing: number
  /** Events that were repeated in the output. */
  readonly repeated: number
  /** Events whose first occurrence follows a later one of their partition. */
  readonly outOfOrder: number
}

export const tally = (records: readonly Read[], partitions: number, count: number): Tally => {
  const seen = Array.from({ length: partitions }, () => new Set<number>())
  const last = Array.from({ length: partitions }, () => -1)
  let repeated = 0
  let outOfOrder = 0
  for (const { value } of records) {
    const { seq, partition } = JSON.parse(value?.toString() ?? '{}') as { seq: number; partition: number }
    if (seen[partition]!.has(seq)) {
      repeated++
      continue
    }
    if (seq !== last[partition]! + 1) outOfOrder++
    last[partition] = Math.max(last[partition]!, seq)
    seen[partition]!.add(seq)
  }
  return { missing: partitions * count - seen.reduce((sum, set) => sum + set.size, 0), repeated, outOfOrder }
}

/** The origins in the annotations: topic, partition and offset of each input record. */
export const originsOf = (records: readonly Read[]): readonly string[] =>
  records.map(
    ({ value }) => (JSON.parse(value?.toString() ?? '{}') as { threatweave: { origin: string } }).threatweave.origin,
  )

/** The first `count` origins of every partition. */
export const originsIn = (topic: string, partitions: number, count: number): readonly string[] =>
  Array.from({ length: partitions * count }, (_, place) => `${topic}/${Math.floor(place / count)}/${place % count}`)

/** Whether every numbered event was seen at least once. */
export const complete =
  (partitions: number, count: number) =>
  (records: readonly Read[]): boolean =>
    records.length >= partitions * count && tally(records, partitions, count).missing === 0

export const committed = async (names: Names, broker?: string): Promise<readonly number[]> => {
  const [topic] = await withAdmin(
    (admin) => admin.fetchOffsets({ groupId: names.groupId, topics: [names.input] }),
    broker,
  )
  return (topic?.partitions ?? [])
    .toSorted((a, b) => a.partition - b.partition)
    .map(({ offset }) => Math.max(0, Number(offset)))
}

/** Writes alerts to a topic in order. */
export const writeAlerts = async (topic: string, alerts: readonly (object | string)[]): Promise<void> => {
  const producer = client().producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  for (let from = 0; from < alerts.length; from += 500)
    await producer.send({
      topic,
      messages: alerts.slice(from, from + 500).map((alert) => ({
        partition: 0,
        value: typeof alert === 'string' ? alert : JSON.stringify(alert),
      })),
    })
  await producer.disconnect()
}
