// Sends the alerts of a topic to all sinks until stopped. Each sink has its own consumer group, so a slow sink delays no other.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../base/clock.js'
import { openBrokerWatch, whenReachable, type BrokerWatch } from '../../kafka/broker-watch.js'
import { createClient, type Admin } from '../../kafka/client.js'
import { failureOf, FatalKafkaError } from '../../kafka/failure.js'
import type { KafkaHealth } from '../../kafka/health.js'
import type { KafkaSettings } from '../../kafka/settings.js'
import { countRecords, hasCommitted, startAtTheEnd } from '../../kafka/starting-offsets.js'
import { openTopicIdentity } from '../../kafka/topic-identity.js'
import { openTopicReader, type TopicReader } from '../../kafka/topic-reader.js'
import { makeTopics } from '../../kafka/topics.js'
import type { Emit } from '../../telemetry/event.js'
import { consumeAlerts } from './consume-alerts.js'
import { openDeadLetters } from './dead-letters.js'
import { routeAlerts } from './route-alerts.js'
import type { Silences } from './silences.js'
import type { SinkClient } from './sink-client.js'
import { createSinkDelivery, type SinkStatus } from './sink-delivery.js'
import type { Sink } from './sink-file.js'

type NotifyOptions = {
  readonly settings: KafkaSettings
  readonly alertsTopic: string
  readonly deadLetterTopic: string
  readonly sinks: readonly { readonly sink: Sink; readonly client: SinkClient }[]
  readonly silences: Silences
  readonly maxAgeMs: number
  readonly clock: Clock
  readonly random: () => number
  readonly emit: Emit
  readonly signal: AbortSignal
}

type NotifyEnded = { readonly sentence: string; readonly needsOperator: boolean } | undefined

export type Notifying = {
  readonly sinks: () => readonly (SinkStatus & { readonly lags: ReadonlyMap<number, number> })[]
  /** One entry per consumer group; empty during startup. */
  readonly health: () => readonly KafkaHealth[]
  readonly unreachableSince: () => number | undefined
  /** Undefined after a requested stop. */
  readonly ended: Promise<NotifyEnded>
}

const tickMs = 5_000
const endsMs = 10_000

export const startNotify = (options: NotifyOptions): Notifying => {
  const { settings, sinks, silences, maxAgeMs, clock, random, emit, signal } = options
  const brokers = openBrokerWatch(settings, emit, clock.now)
  const kafka = createClient(settings, emit)
  const letters = openDeadLetters({ kafka, topic: options.deadLetterTopic, emit, now: clock.now })
  const route = routeAlerts(sinks.map(({ sink }) => sink))
  const deliveries = sinks.map(({ sink, client }) =>
    createSinkDelivery({
      sink,
      client,
      silences,
      wants: ({ whole }) => route(sink, whole),
      writeDeadLetters: letters.write,
      maxAgeMs,
      emit,
      now: clock.now,
      random,
    }),
  )
  const consumers: ReturnType<typeof consumeAlerts>[] = []
  let ends: ReadonlyMap<number, number> = new Map()

  const run = async (): Promise<NotifyEnded> => {
    const admin = kafka.admin()
    const identity = openTopicIdentity(createClient(settings, emit), emit, clock.now)
    let reader: TopicReader | undefined
    let cancel = (): void => undefined
    try {
      const refused = await whenReachable(() => prepare(options, admin), { brokers, signal, emit })
      if (signal.aborted || refused === undefined) return undefined
      if (refused !== 'ready') return { sentence: refused, needsOperator: true }
      reader = await whenReachable(() => openTopicReader(createClient(settings, emit)), { brokers, signal, emit })
      if (!reader) return undefined
      const opened = reader
      const readEnds = async (): Promise<void> => {
        // The broker watch reports outages; keep the last known end offsets.
        ends = await opened.offsetsAt(options.alertsTopic, 'latest').catch(() => ends)
      }
      const failed = new Promise<NotifyEnded>((resolve) => {
        sinks.forEach(({ sink }, nth) => {
          const delivery = deliveries[nth]
          if (!delivery) return
          consumers.push(
            consumeAlerts({
              connect: () => createClient(settings, emit),
              settings: { ...settings, groupId: groupOf(settings, sink), delivery: 'at-least-once' },
              topic: options.alertsTopic,
              delivery,
              rememberMs: sink.sends === 'everything' ? 0 : maxAgeMs,
              reader: opened,
              identity,
              brokers,
              emit,
              now: clock.now,
              fail: (sentence, needsOperator = false) => resolve({ sentence, needsOperator }),
            }),
          )
        })
      })
      const cancels = [
        repeat(clock, tickMs, async () => {
          await Promise.all(deliveries.map(({ tick }) => tick()))
        }),
        repeat(clock, endsMs, readEnds),
      ]
      cancel = () => cancels.forEach((stop) => stop())
      return await Promise.race([failed, aborted(signal)])
    } finally {
      cancel()
      const stopped = Promise.all(consumers.map(({ stop }) => stop()))
      // On timeout, unanswered requests are abandoned; their alerts are sent again after the next start.
      await Promise.race([stopped, sleep(settings.limits.drainMs, undefined, { ref: false })])
      await letters.close()
      await reader?.close()
      await identity.close()
      await admin.disconnect()
      brokers.close()
    }
  }
  return {
    sinks: () =>
      deliveries.map(({ status }) => {
        const found = status()
        const lags = [...found.positions].map(
          ([partition, position]) => [partition, Math.max(0, (ends.get(partition) ?? position) - position)] as const,
        )
        return { ...found, lags: new Map(lags) }
      }),
    health: () => consumers.map(({ health }) => health()),
    unreachableSince: (brokers satisfies BrokerWatch).unreachableSince,
    ended: run().catch((error: unknown) => {
      const { kind, message } = failureOf(error)
      const needsOperator = error instanceof FatalKafkaError ? error.needsOperator : kind !== 'unavailable'
      return { sentence: `Kafka cannot be used: ${message}`, needsOperator }
    }),
  }
}

const groupOf = ({ groupId }: { readonly groupId: string }, { id }: Pick<Sink, 'id'>): string =>
  `${groupId}-notify-${id}`

/** Returns `ready`, or the reason why notify cannot start. */
const prepare = async (
  { settings, alertsTopic, deadLetterTopic, sinks, emit }: NotifyOptions,
  admin: Admin,
): Promise<string> => {
  await admin.connect()
  const existing = await admin.listTopics()
  if (!existing.includes(alertsTopic))
    return `topic ${alertsTopic} does not exist; \`threatweave check --online --create-topics\` creates it`
  if (!existing.includes(deadLetterTopic))
    await makeTopics(admin, [{ topic: deadLetterTopic, numPartitions: 1, replicationFactor: -1 }])
  for (const { sink } of sinks) {
    const group = groupOf(settings, sink)
    if (await hasCommitted(admin, group, [alertsTopic])) continue
    const records = await countRecords(admin, [alertsTopic])
    if (await startAtTheEnd(admin, createClient(settings, emit), group, [alertsTopic]))
      emit({ event: 'sink_is_new', sink: sink.id, group, records })
  }
  return 'ready'
}

const repeat = ({ after }: Clock, everyMs: number, task: () => Promise<void>): (() => void) => {
  let isStopped = false
  let cancel = (): void => undefined
  const again = (): void => {
    if (!isStopped) cancel = after(everyMs, () => void task().finally(again))
  }
  void task().finally(again)
  return () => {
    isStopped = true
    cancel()
  }
}

const aborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
