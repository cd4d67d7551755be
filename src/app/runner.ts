// The Kafka runner: events from the input topics through the pipeline to the output topic, until it is stopped or cannot go on.
import { type Admin, createClient } from '../kafka/client.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { atLeastOnce } from '../delivery/acknowledged.js'
import { openBrokerWatch, type BrokerWatch, whenReachable } from '../kafka/broker-watch.js'
import { hasUsed, useAlone } from '../follow-up/one-group.js'
import { openFollowUps, type FollowUpParts } from '../follow-up/open-follow-ups.js'
import { deliverTo, type OutputContext } from '../delivery/deliver-to.js'
import { createOpenings } from '../delivery/opening.js'
import { createTasks } from '../delivery/tasks.js'
import { exactlyOnce } from '../delivery/exactly-once.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import { followPattern } from '../kafka/follow-pattern.js'
import type { WaitOf } from '../delivery/delivery.js'
import { recordHealth, type HealthRecord, type KafkaHealth } from '../kafka/health.js'
import type { Shared } from '../kafka/process-batch.js'
import { openReadAgain } from '../kafka/read-again.js'
import { startRestartingConsumer, type RestartingConsumer } from '../kafka/restarting-consumer.js'
import { countRecords, hasCommitted, openStartingOffsets, startAtTheEnd } from '../kafka/starting-offsets.js'
import { openTopicReader } from '../kafka/topic-reader.js'
import { openTopicIdentity } from '../kafka/topic-identity.js'
import { inspectTopics, missingTopics, withoutTopics, type Topics } from '../kafka/topics.js'

export type RunnerOptions = OutputContext &
  FollowUpParts & {
    readonly pipeline: Pipeline
    readonly waitOf: WaitOf
    /** Aborting it drains and stops. */
    readonly signal: AbortSignal
  }

export type Ended =
  | { readonly how: 'stopped' }
  /** `needsOperator`: a restart does not help, only another configuration or permission. */
  | { readonly how: 'failed'; readonly sentence: string; readonly needsOperator: boolean }

export type Runner = {
  readonly health: () => KafkaHealth
  readonly ended: Promise<Ended>
}

export const startRunner = (options: RunnerOptions): Runner => {
  const brokers = openBrokerWatch(options.settings, options.emit, options.now)
  const health = recordHealth(options.now, brokers)
  const ended = run(options, health, brokers)
    .catch(failed)
    .finally(brokers.close)
    .then((end) => {
      health.setState(end.how)
      return end
    })
  return { health: health.read, ended }
}

const failed = (error: unknown): Ended => {
  const { kind, message } = failureOf(error)
  const needsOperator =
    error instanceof FatalKafkaError ? error.needsOperator : kind === 'fatal' || kind === 'untrusted'
  return { how: 'failed', sentence: `Kafka cannot be used: ${message}`, needsOperator }
}

const run = async (given: RunnerOptions, health: HealthRecord, brokers: BrokerWatch): Promise<Ended> => {
  const { settings, emit, signal } = given
  const connect = (): ReturnType<typeof createClient> => createClient(settings, emit)
  const identity = openTopicIdentity(connect(), emit, given.now)
  const starting = openStartingOffsets(connect(), settings.groupId, { identity, emit })
  const admin = connect().admin()
  const closings: (() => Promise<unknown>)[] = []
  let consumer: RestartingConsumer | undefined
  let stopFollowing = (): Promise<void> => Promise.resolve()
  try {
    const topics = await prepare(given, admin, brokers)
    if ('how' in topics) return topics
    const options = { ...given, settings: withoutTopics(settings, missingTopics(settings, topics)) }
    const alone = await useSightings(options, admin, brokers, connect, closings)
    if (!alone) return { how: 'stopped' }
    if ('how' in alone) return alone
    const { pipeline, waitOf } = options
    const make = settings.delivery === 'exactly-once' ? exactlyOnce : atLeastOnce
    const to = deliverTo(options, topics)
    const { reachableMs } = brokers
    let fail: (sentence: string, needsOperator?: boolean) => void = () => undefined
    const failure = new Promise<Ended>((resolve) => {
      fail = (sentence, needsOperator = false) => resolve({ how: 'failed', sentence, needsOperator })
    })
    const delivery = make({
      connect,
      startingOffsets: starting.read,
      settings: options.settings,
      pipeline,
      waitOf,
      form: to,
      brokers,
      emit,
      fail,
    })
    const followUps = openFollowUps({ ...options, reachableMs }, topics, to.target, connect)
    const again = openReadAgain(connect, identity)
    const openings = createOpenings({ limitMs: settings.limits.chunkDeadlineMs, reachableMs, emit, fail })
    const tasks = createTasks({ delivery, openState: followUps?.open, health, openings, readAgain: again.read, fail })
    // The tasks first: from then on nothing is committed whose answers nobody waits for.
    closings.push(tasks.close, again.close)
    if (followUps) closings.push(followUps.close)
    const shared: Shared = { generation: 0, running: new Map(), resets: new Map() }
    const begin = (names: readonly string[]): RestartingConsumer =>
      startRestartingConsumer({
        connect,
        shared,
        brokers,
        settings,
        topics: names,
        identity,
        health,
        emit,
        fail,
        handle: tasks.deliver,
        joined: tasks.joined,
        topicIs: tasks.topicIs,
      })
    consumer = begin(topics.input)
    health.setState('running')
    if (settings.input.pattern !== '')
      stopFollowing = followPattern({ admin, settings, signal, emit }, topics.input, async (names) => {
        await consumer?.stop()
        consumer = begin(names)
      })
    const end = await Promise.race([failure, aborted(signal)])
    health.setState('draining')
    const { drainMs } = settings.limits
    const stopAll = async (): Promise<void> => {
      await stopFollowing()
      tasks.stopDelivering()
      await Promise.all(shared.running.values())
      // Before this process leaves its group: the next owners read it when they open their tasks.
      await followUps?.flush()
      await consumer?.stop()
      // The batch of a former membership is not the consumer's any more.
      await Promise.all(shared.running.values())
    }
    // After a failure too: other partitions go on until the consumer is stopped, and what is delivered then must be followed up.
    if ((await drained(stopAll, drainMs)) || end.how === 'failed') return end
    const away = brokers.unreachableSince() === undefined ? '' : ': no broker answers'
    const sentence = `not everything in progress was delivered within ${drainMs} ms of the stop${away}`
    return { how: 'failed', sentence, needsOperator: false }
  } finally {
    await closeInOrder([stopFollowing, ...closings, () => admin.disconnect(), identity.close, starting.close])
  }
}

/** The topics as they are once a broker answers, and a new group's offsets where it shall begin; or why it ends here. */
const prepare = async (
  { settings, signal, emit }: RunnerOptions,
  admin: Admin,
  brokers: BrokerWatch,
): Promise<Topics | Ended> => {
  const inspect = async (): Promise<Topics> => {
    await admin.connect()
    return inspectTopics(admin, settings)
  }
  const topics = await whenReachable(inspect, { brokers, signal, emit })
  if (!topics) return { how: 'stopped' }
  const errors = topics.remarks.filter(({ level }) => level === 'error')
  if (errors.length > 0) {
    const sentence = errors.map(({ topic, message }) => `topic ${topic} ${message}`).join('; ')
    return { how: 'failed', sentence, needsOperator: true }
  }
  tellTopics(settings, topics, emit)
  const begin = (): Promise<void> => beginAtTheEnd(admin, settings, topics, emit)
  if (settings.input.start === 'latest') await whenReachable(begin, { brokers, signal, emit })
  // Without its offsets a new group would begin at the beginning, if only for the moment until it stops.
  return signal.aborted ? { how: 'stopped' } : topics
}

const useSightings = async (
  { settings, signal, emit, now }: RunnerOptions,
  admin: Admin,
  brokers: BrokerWatch,
  connect: () => ReturnType<typeof createClient>,
  closings: (() => Promise<unknown>)[],
): Promise<{ readonly close: () => Promise<void> } | Ended | undefined> => {
  const { sightingsTopic: topic = '', groupId } = settings
  if (topic === '') return { close: () => Promise.resolve() }
  let last: ReturnType<typeof useAlone> | undefined
  const use = (): ReturnType<typeof useAlone> => (last = useAlone({ connect, admin, topic, groupId, emit, now }))
  // A stop does not wait for it, so it may be on its way still.
  closings.push(async () => {
    const used = await last?.catch(() => undefined) // it was retried, or the run has ended
    if (used && 'close' in used) await used.close()
  })
  const used = await whenReachable(use, { brokers, signal, emit })
  if (!used || 'close' in used) return used
  const sentence = `topic ${topic} is used by the group ${used.other}, and two groups would take each other's notes for their own: give each a kafka.sightingsTopic of its own`
  return { how: 'failed', sentence, needsOperator: true }
}

const tellTopics = (settings: OutputContext['settings'], topics: Topics, emit: OutputContext['emit']): void => {
  const { output, verdictsTopic = '', derivedTopics = [] } = settings
  const { deadLetterTopic, alertsTopic, correctionsTopic, sightingsTopic } = withoutTopics(
    settings,
    missingTopics(settings, topics),
  )
  emit({
    event: 'topics_used',
    output: output.topic,
    deadLetters: deadLetterTopic,
    alerts: alertsTopic ?? '',
    corrections: correctionsTopic ?? '',
    sightings: sightingsTopic ?? '',
    verdicts: verdictsTopic,
  })
  for (const { topic, message } of topics.remarks)
    if (derivedTopics.includes(topic) && !topics.facts.has(topic)) emit({ event: 'topic_missing', topic, message })
}

/** Only a group that is new: one whose offsets have expired has events to make up for. */
const beginAtTheEnd = async (
  admin: Admin,
  settings: OutputContext['settings'],
  { input, facts }: Topics,
  emit: OutputContext['emit'],
): Promise<void> => {
  const { groupId, sightingsTopic = '' } = settings
  if (await hasCommitted(admin, groupId, input)) return
  const records = await countRecords(admin, input)
  if (facts.has(sightingsTopic)) {
    const reader = await openTopicReader(createClient(settings, emit))
    const isKnown = await hasUsed(reader, sightingsTopic, groupId).finally(reader.close)
    if (isKnown) {
      emit({ event: 'group_offsets_lost', group: groupId, records })
      return
    }
  }
  if (await startAtTheEnd(admin, createClient(settings, emit), groupId, input))
    emit({ event: 'group_is_new', group: groupId, topics: input, records })
}

const aborted = (signal: AbortSignal): Promise<Ended> =>
  new Promise((resolve) => {
    const stop = (): void => resolve({ how: 'stopped' })
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })

// The end of a run: what is in progress is finished within a limit, and closing connections is not waited for without one.

/** False where the limit came first. */
const drained = async (stop: () => Promise<void>, limitMs: number): Promise<boolean> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  try {
    return await Promise.race([stop().then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}

/** The process is about to end. */
const closeMs = 1_000

const closeInOrder = async (closings: readonly (() => Promise<unknown>)[]): Promise<void> => {
  const closeAll = async (): Promise<void> => {
    for (const close of closings) await close().catch(() => undefined) // the process ends: what it leaves behind, brokers clean up
  }
  await drained(closeAll, closeMs)
}
