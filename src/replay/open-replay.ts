// Opens a replay: connects, and resolves its ranges or loads those of an earlier start.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Admin, createClient } from '../kafka/client.js'
import type { ReadWritten } from '../pipeline/batch/read-written.js'
import type { Emit } from '../telemetry/event.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import type { KafkaSettings, Placement } from '../kafka/settings.js'
import { readFormer, type Former } from './former.js'
import { keeping } from './keep-ranges.js'
import { keepPlan, makePlan, type Plan, type PlanRequest } from './plan.js'
import { openTopicReader, readToEnd, type TopicReader } from '../kafka/topic-reader.js'
import type { WireRecord } from '../kafka/wire/record.js'
import { readRange, type RangeOptions } from './read-range.js'
import { replay, type Progress, type ReplayOptions } from './replay.js'
import { maxFailures, openReplayTask, type ReplayTaskOptions } from './replay-task.js'
import type { Restored } from './restore.js'
import { growthBytes, lookAgain, makeTopics, readFacts, type TopicFacts } from '../kafka/topics.js'

type ReplayRequest = PlanRequest & Pick<RangeOptions, 'kind' | 'times' | 'only'>

type ReplayContext = {
  readonly settings: KafkaSettings
  readonly placement: Placement
  readonly key: string
  readonly readWritten: ReadWritten
  readonly emit: Emit
  readonly now: () => number
  readonly signal: AbortSignal
}

export type ReplayRefused = {
  readonly refused: string
  /** Another start with the same id has stored its ranges meanwhile. Open the replay again to use those. */
  readonly isOvertaken?: boolean
}

export type OpenReplay = {
  readonly plan: Plan
  /** Reads the ranges and writes nothing. */
  readonly readRanges: (each: (records: readonly Restored[]) => Promise<void>) => Promise<void>
  readonly former: (topic: string) => Promise<Former | { readonly refused: string }>
  /** Calls back with every value of a topic, up to its present end. */
  readonly valuesOf: (topic: string, each: (value: Buffer) => void) => Promise<void>
  readonly run: (form: Run) => Promise<Progress | ReplayRefused>
  readonly close: () => Promise<void>
}

type Run = Pick<
  ReplayOptions,
  'pipeline' | 'wait' | 'mayRaise' | 'beginAlerts' | 'raiseAll' | 'former' | 'eventsPerSecond' | 'moved'
> & {
  readonly alertsTopic: string | undefined
  /** Called once no other process writes with the same id, and before the first write. */
  readonly ready: () => Promise<void>
}

export const openReplay = async (
  request: ReplayRequest,
  context: ReplayContext,
): Promise<OpenReplay | ReplayRefused> => {
  const { settings, emit, signal, key, readWritten } = context
  const opened: (() => Promise<void>)[] = []
  const close = async (): Promise<void> => {
    await Promise.allSettled(opened.map((closeOne) => closeOne()))
  }
  try {
    const kafka = createClient(settings, emit)
    const admin = kafka.admin()
    await admin.connect()
    opened.push(() => admin.disconnect())
    const existing = await admin.listTopics()
    if (!existing.includes(request.topic)) {
      await close()
      return { refused: `topic ${request.topic} does not exist` }
    }
    const reader = await openTopicReader(kafka)
    opened.push(reader.close)
    const plan = await makePlan(reader, request)
    if ('refused' in plan) {
      await close()
      return plan
    }
    const { topic, kind, times, only } = request
    const reading: RangeOptions = { topic, kind, key, readWritten, times, only, signal }
    return {
      plan,
      readRanges: async (each) => {
        for (const range of plan.ranges)
          await readRange(reader, reading, range, async (records, next) => {
            await each(records)
            return next
          })
      },
      former: (against) => {
        const fromTime = request.from.kind === 'time' ? Math.max(0, request.from.time - dayMs) : undefined
        const corrections = existing.filter((one) => one === settings.correctionsTopic)
        return readFormer(
          reader,
          { topic, ranges: plan.ranges, readWritten },
          { topics: [against, ...corrections], fromTime },
          signal,
        )
      },
      valuesOf: (ofTopic, each) => valuesOf(reader, admin, ofTopic, each, signal),
      run: (form) => start(request, context, { admin, reader, plan, reading }, form),
      close,
    }
  } catch (error) {
    await close()
    return { refused: `Kafka cannot be used: ${failureOf(error).message}` }
  }
}

const dayMs = 86_400_000

type Open = {
  readonly admin: Admin
  readonly reader: TopicReader
  readonly plan: Plan
  readonly reading: RangeOptions
}

const start = async (
  request: ReplayRequest,
  context: ReplayContext,
  open: Open,
  form: Run,
): Promise<Progress | ReplayRefused> => {
  const { reader, plan } = open
  const settings = {
    ...context.settings,
    groupId: plan.groupId,
    alertsTopic: form.alertsTopic ?? '',
    output: { ...context.settings.output, topic: request.output },
    deadLetterTopic:
      context.settings.deadLetterTopic === '' ? `${request.output}-dead` : context.settings.deadLetterTopic,
  }
  // Separate from the reader's client: a client counts offsets of its own open transactions as committed.
  const kafka = createClient(settings, context.emit)
  const connected = { ...context, settings, connect: () => kafka }
  const ready = await prepare(request, connected, open, form).catch((error: unknown) => {
    throw error instanceof FatalKafkaError
      ? error
      : new FatalKafkaError(`Kafka cannot be used: ${failureOf(error).message}`)
  })
  if ('refused' in ready) return ready
  const ended = await replay(ready).catch((error: unknown) => {
    if (error instanceof FatalKafkaError) return error
    throw error
  })
  const isFailed = ended instanceof FatalKafkaError
  // If the topic was created again, the range now contains other events, at any position.
  if (!context.signal.aborted && (await isMadeAgain(reader, request.topic, plan, isFailed)))
    return {
      refused: `topic ${request.topic} was deleted and created again while it was replayed; a start with the same --id begins anew`,
    }
  if (isFailed) throw ended
  return ended
}

/** After a failure the check is best effort, so that the original error is reported. */
const isMadeAgain = async (reader: TopicReader, topic: string, plan: Plan, isFailed: boolean): Promise<boolean> => {
  const asked = reader.topicIdOf(topic)
  const now = await (isFailed ? asked.catch(() => undefined) : asked)
  return now !== undefined && plan.topicId !== undefined && now !== plan.topicId
}

/** Completes all Kafka requests that must precede the first event. */
const prepare = async (
  request: ReplayRequest,
  context: ReplayContext & Pick<ReplayTaskOptions, 'connect'>,
  { admin, reader, plan, reading }: Open,
  form: Run,
): Promise<ReplayOptions | ReplayRefused> => {
  const { now, settings } = context
  const { topic, output } = request
  const topics = await prepareTopics(admin, {
    input: topic,
    output,
    deadLetters: settings.deadLetterTopic,
    alerts: form.alertsTopic,
    ageMs: now() - (await oldest(reader, topic, plan, now())),
  })
  if ('refused' in topics) return topics
  const isKept = await persistently(() =>
    keeping(topic, plan, { ...context, reader }, (keep) => keepPlan(reader, request, plan, keep)),
  )
  if (!isKept)
    return { refused: 'another start with the same --id has resolved its range meanwhile', isOvertaken: true }
  const options: ReplayOptions = { ...form, ...context, ...reading, topics, reader, plan }
  // Claim each range to end a transaction left open by a killed start: it hides later committed records, including alerts.
  if (plan.isResumed && settings.delivery === 'exactly-once')
    for (const range of plan.ranges) {
      const left = openReplayTask(range, options)
      await left.claim()
      await left.close()
    }
  await form.ready()
  return options
}

/** Retries, because brokers may need a while to end the transaction of a killed process. */
const persistently = async <T>(claim: () => Promise<T>): Promise<T> => {
  for (let failures = 0; ; failures++)
    try {
      return await claim()
    } catch (error) {
      if (error instanceof FatalKafkaError || failures === maxFailures) throw error
      await sleep(100 * 2 ** failures)
    }
}

/** The oldest time among the first records; later records may be slightly older. */
const oldest = async (reader: TopicReader, topic: string, { ranges }: Plan, now: number): Promise<number> => {
  let time = now
  for (const { partition, start, end } of ranges) {
    if (start >= end) continue
    const { records } = await reader.fetch(topic, partition, start)
    for (const { timestamp } of records) if (Number(timestamp) > 0) time = Math.min(time, Number(timestamp))
  }
  return time
}

const valuesOf = async (
  reader: TopicReader,
  admin: Admin,
  topic: string,
  each: (value: Buffer) => void,
  signal: AbortSignal,
): Promise<void> => {
  if (!(await admin.listTopics()).includes(topic)) return
  const use = ({ value }: WireRecord): void => {
    if (value) each(value)
  }
  await readToEnd(reader, topic, use, () => !signal.aborted)
}

// Creates the topics of a replay with unlimited retention, because its records are as old as the events.
// Refuses an existing output topic with a shorter retention.

type Written = {
  readonly input: string
  readonly output: string
  readonly deadLetters: string
  readonly alerts: string | undefined
  /** The age of the oldest event in the range. */
  readonly ageMs: number
}

/** Kafka's default record limit. */
const usualBytes = 1_048_588

const prepareTopics = async (
  admin: Admin,
  { input, output, deadLetters, alerts, ageMs }: Written,
): Promise<{ readonly facts: ReadonlyMap<string, TopicFacts> } | { readonly refused: string }> => {
  const existing = new Set(await admin.listTopics())
  const wanted = [...new Set([output, deadLetters, ...(alerts === undefined ? [] : [alerts])])]
  const facts = (topics: readonly string[]): Promise<ReadonlyMap<string, TopicFacts>> =>
    lookAgain(() => readFacts(admin, [input, ...topics.filter((topic) => topic !== input)]))
  const found = await facts(wanted.filter((topic) => existing.has(topic)))
  const kept = found.get(output)?.retentionMs ?? -1
  if (kept >= 0 && kept < ageMs)
    return {
      refused: `topic ${output} keeps records for ${days(kept)}, and the oldest event is ${days(ageMs)} old: it would be deleted as soon as it is written. Give the topic retention.ms -1, or name another --output`,
    }
  const { partitions = 1, maxBytes = usualBytes } = found.get(input) ?? {}
  const missing = wanted.filter((topic) => !existing.has(topic))
  if (missing.length === 0) return { facts: found }
  await makeTopics(
    admin,
    missing.map((topic) => ({
      topic,
      numPartitions: topic === output ? partitions : 1,
      replicationFactor: -1,
      configEntries: [
        { name: 'retention.ms', value: '-1' },
        { name: 'retention.bytes', value: '-1' },
        { name: 'message.timestamp.type', value: 'CreateTime' },
        { name: 'max.message.bytes', value: String(Math.max(usualBytes, maxBytes) + growthBytes) },
      ],
    })),
  )
  return { facts: await facts(wanted) }
}

const days = (ms: number): string =>
  ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} hours` : `${Math.round(ms / 86_400_000)} days`
