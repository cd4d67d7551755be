// The Kafka runner: passes events from the input topics through the pipeline to the output topic until stopped or failed.
import { openParts, type Scope } from '../base/scope.js'
import { type Admin, createClient } from '../kafka/client.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import { atLeastOnce } from '../delivery/acknowledged.js'
import { type BrokerWatch, whenReachable } from '../kafka/broker-watch.js'
import { hasUsed, useAlone } from '../follow-up/one-group.js'
import { openFollowUps, type FollowUpParts } from '../follow-up/open-follow-ups.js'
import { deliverTo, type OutputContext } from '../delivery/deliver-to.js'
import { createOpenings } from '../delivery/opening.js'
import { createTasks } from '../delivery/tasks.js'
import { exactlyOnce } from '../delivery/exactly-once.js'
import { failureOf, FatalKafkaError } from '../kafka/failure.js'
import { followPattern } from '../kafka/follow-pattern.js'
import type { WaitOf } from '../delivery/delivery.js'
import type { HealthRecord } from '../kafka/health.js'
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
    readonly brokers: BrokerWatch
    /** Updated here, and reported to people and orchestrators. */
    readonly health: HealthRecord
    /** Aborting it drains and stops. */
    readonly signal: AbortSignal
  }

export type Ended =
  | { readonly how: 'stopped' }
  /** `needsOperator`: only a change of configuration or permissions helps, not a restart. */
  | { readonly how: 'failed'; readonly sentence: string; readonly needsOperator: boolean }

/** Never rejects. */
export const runTopics = async (options: RunnerOptions): Promise<Ended> => {
  const { end, close } = await openParts(async (scope) => ({ end: await runIn(scope, options).catch(failed) }))
  // Brokers clean up after a process that exits before this is done.
  await drained(() => close().catch(() => undefined), closeMs)
  options.health.setState(end.how)
  return end
}

const failed = (error: unknown): Ended => {
  const { kind, message } = failureOf(error)
  const needsOperator =
    error instanceof FatalKafkaError ? error.needsOperator : kind === 'fatal' || kind === 'untrusted'
  return { how: 'failed', sentence: `Kafka cannot be used: ${message}`, needsOperator }
}

const runIn = async (scope: Scope, given: RunnerOptions): Promise<Ended> => {
  const { emit, signal, health, brokers } = given
  const connect = (): ReturnType<typeof createClient> => createClient(given.settings, emit)
  const identity = openTopicIdentity(connect(), emit, given.now)
  const starting = scope.use(openStartingOffsets(connect(), given.settings.groupId, { identity, emit }))
  scope.use(identity)
  const admin = connect().admin()
  scope.defer(() => admin.disconnect())
  const topics = await prepare(given, admin)
  if ('how' in topics) return topics
  const options = { ...given, settings: withoutTopics(given.settings, missingTopics(given.settings, topics)) }
  const { settings, pipeline, waitOf } = options
  const refused = await useSightings(scope, options, admin, connect)
  if (refused) return refused
  const make = settings.delivery === 'exactly-once' ? exactlyOnce : atLeastOnce
  const to = deliverTo(options, topics)
  const { reachableMs } = brokers
  const { fail, failure } = createFailure()
  const delivery = make({
    connect,
    startingOffsets: starting.read,
    settings,
    pipeline,
    waitOf,
    form: to,
    brokers,
    emit,
    fail,
  })
  const followUps = scope.use(openFollowUps({ ...options, reachableMs }, topics, to.target, connect))
  const again = scope.use(openReadAgain(connect, identity))
  const openings = createOpenings({ limitMs: settings.limits.chunkDeadlineMs, reachableMs, emit, fail })
  // Closed first: after that, no offset is committed for events whose answers are no longer awaited.
  const tasks = scope.use(
    createTasks({ delivery, openState: followUps?.open, health, openings, readAgain: again.read, fail }),
  )
  const shared: Shared = { generation: 0, running: new Map(), resets: new Map() }
  const consumer = startOn(topics.input, (names) =>
    startRestartingConsumer({
      connect,
      shared,
      brokers,
      settings: given.settings,
      topics: names,
      identity,
      health,
      emit,
      fail,
      handle: tasks.deliver,
      joined: tasks.joined,
      topicIs: tasks.topicIs,
    }),
  )
  health.setState('running')
  const stopFollowing =
    settings.input.pattern === ''
      ? undefined
      : followPattern({ admin, settings: given.settings, signal, emit }, topics.input, consumer.restart)
  if (stopFollowing) scope.defer(stopFollowing)
  const end = await Promise.race([failure, aborted(signal)])
  health.setState('draining')
  const { drainMs } = settings.limits
  const stopAll = async (): Promise<void> => {
    await stopFollowing?.()
    tasks.stopDelivering()
    await Promise.all(shared.running.values())
    // Before leaving the group, because the next owners read this state when they open their tasks.
    await followUps?.flush()
    await consumer.stop()
    // Batches from a former membership are not the consumer's, so wait for them here.
    await Promise.all(shared.running.values())
  }
  // Also after a failure: other partitions continue until the consumer stops, and their events need follow-up.
  if ((await drained(stopAll, drainMs)) || end.how === 'failed') return end
  const away = brokers.unreachableSince() === undefined ? '' : ': no broker answers'
  const sentence = `not everything in progress was delivered within ${drainMs} ms of the stop${away}`
  return { how: 'failed', sentence, needsOperator: false }
}

/** Lets any part end the run. The first failure wins. */
const createFailure = () => {
  const failed = new AbortController()
  const failure = new Promise<Ended>((resolve) => {
    failed.signal.addEventListener('abort', () => resolve(failed.signal.reason as Ended))
  })
  const fail = (sentence: string, needsOperator = false): void =>
    failed.abort({ how: 'failed', sentence, needsOperator } satisfies Ended)
  return { fail, failure }
}

/** A consumer that is replaced when its topics change. */
const startOn = (topics: readonly string[], start: (topics: readonly string[]) => RestartingConsumer) => {
  let current = start(topics)
  return {
    restart: async (names: readonly string[]): Promise<void> => {
      await current.stop()
      current = start(names)
    },
    stop: () => current.stop(),
  }
}

/** Inspects the topics once a broker answers and sets the start offsets of a new group, or returns why the run ends. */
const prepare = async ({ settings, signal, emit, brokers }: RunnerOptions, admin: Admin): Promise<Topics | Ended> => {
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
  // Do not start after an abort: without offsets, a new group would read from the beginning until it stops.
  return signal.aborted ? { how: 'stopped' } : topics
}

/** Returns why the run ends, if it does: it was stopped, or another group uses the sightings topic. */
const useSightings = async (
  scope: Scope,
  { settings, signal, emit, now, brokers }: RunnerOptions,
  admin: Admin,
  connect: () => ReturnType<typeof createClient>,
): Promise<Ended | undefined> => {
  const { sightingsTopic: topic = '', groupId } = settings
  if (topic === '') return undefined
  const tries: ReturnType<typeof useAlone>[] = []
  const use = (): ReturnType<typeof useAlone> => (tries[0] = useAlone({ connect, admin, topic, groupId, emit, now }))
  // A stop does not wait for this, so it may still be in progress.
  scope.defer(async () => {
    const used = await tries[0]?.catch(() => undefined) // it was retried, or the run has ended
    if (used && 'close' in used) await used.close()
  })
  const used = await whenReachable(use, { brokers, signal, emit })
  if (!used) return { how: 'stopped' }
  if ('close' in used) return undefined
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

/** Only for a new group. A group whose offsets expired still has a backlog. */
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

// The end of a run: finishing work in progress and closing connections both have a time limit.

/** Returns false if the limit came first. */
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

/** Short, because the process is about to exit. */
const closeMs = 1_000
