// The Kafka service: topic in, line, topic out, until it is stopped or cannot go on.
import type { Kafka } from 'kafkajs'
import type { AlertOut } from './alert-record.js'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { atLeastOnce, type Delivery, type WaitOf } from './at-least-once.js'
import { openBrokerWatch, type BrokerWatch } from './broker-watch.js'
import type { Shared } from './consume.js'
import { deliverTo } from './deliver-to.js'
import { closeAll, drained } from './drain.js'
import { exactlyOnce } from './exactly-once.js'
import { failureOf } from './failure.js'
import { recordHealth, type HealthRecord, type KafkaHealth } from './health.js'
import { link } from './client.js'
import type { KafkaSettings, Placement } from './settings.js'
import { openSameTopic, type SameTopic } from './same-topic.js'
import { startSource, type Source } from './source.js'
import { startAtTheEnd } from './start-at-the-end.js'
import { inputTopics, inspectTopics, type Topics } from './topics.js'
import { whenReachable } from './when-reachable.js'
import { createWriteLate, type WriteLate } from './write-late.js'

export type ServiceOptions = {
  readonly settings: KafkaSettings
  readonly placement: Placement
  /** The annotation's key. */
  readonly key: string
  readonly pipeline: Pipeline
  readonly waitOf: WaitOf
  /** The alerts of a chunk's events; they go to `alertsTopic`. */
  readonly raise?: ((events: readonly EventOut[]) => readonly AlertOut[]) | undefined
  readonly emit: Emit
  readonly now: () => number
  /** Aborting it drains and stops. */
  readonly signal: AbortSignal
}

export type Ended =
  | { readonly how: 'stopped' }
  /** `isRefused`: no restart cures it, only another configuration or permission. */
  | { readonly how: 'failed'; readonly sentence: string; readonly isRefused: boolean }

export type Service = {
  readonly health: () => KafkaHealth
  readonly ended: Promise<Ended>
  readonly writeLate: WriteLate
}

export const startService = (options: ServiceOptions): Service => {
  const brokers = openBrokerWatch(options.settings, options.emit, options.now)
  const health = recordHealth(options.now, brokers)
  let alertPartitions = 1
  const ended = serve(options, health, brokers, ({ facts }) => {
    alertPartitions = facts.get(options.settings.alertsTopic ?? '')?.partitions ?? 1
  }).then(
    (end) => {
      health.turn(end.how)
      return end
    },
    (error: unknown): Ended => {
      health.turn('failed')
      const { kind, message } = failureOf(error)
      return {
        how: 'failed',
        sentence: `Kafka cannot be used: ${message}`,
        isRefused: kind === 'hopeless' || kind === 'untrusted',
      }
    },
  )
  return {
    health: health.read,
    ended,
    writeLate: createWriteLate({ ...options, ended, partitions: () => alertPartitions }),
  }
}

const serve = async (
  options: ServiceOptions,
  health: HealthRecord,
  brokers: BrokerWatch,
  learnt: (topics: Topics) => void,
): Promise<Ended> => {
  const { settings, emit, signal, pipeline, waitOf } = options
  const skips = new Set<string>()
  const connect = (): Kafka =>
    link(settings, emit, ({ message, topic, partition }) => {
      if (!message.startsWith('Offset out of range, resetting')) return
      skips.add(`${topic ?? ''}/${partition ?? 0}`)
      same.doubt()
    })
  const same: SameTopic = openSameTopic(link(settings, emit), emit, options.now)
  const admin = connect().admin()
  const shared: Shared = { generation: 0, running: new Map() }
  let delivery: Delivery | undefined
  let source: Source | undefined
  let refresh: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  let fail: (sentence: string, isRefused?: boolean) => void = () => undefined
  const failed = new Promise<Ended>((resolve) => {
    fail = (sentence, isRefused = false) => {
      resolve({ how: 'failed', sentence, isRefused })
    }
  })
  try {
    const inspect = async (): Promise<Topics> => {
      await admin.connect()
      return inspectTopics(admin, settings)
    }
    const topics = await whenReachable(inspect, { brokers, signal, emit })
    if (!topics) return { how: 'stopped' }
    const errors = topics.remarks.filter(({ level }) => level === 'error')
    if (errors.length > 0)
      return {
        how: 'failed',
        sentence: errors.map(({ topic, message }) => `topic ${topic} ${message}`).join('; '),
        isRefused: true,
      }
    learnt(topics)
    const { start } = settings.input
    const place = (): Promise<void> => startAtTheEnd(admin, connect(), settings.groupId, topics.input)
    if (start === 'latest') await whenReachable(place, { brokers, signal, emit })
    // Without its place a new group would begin at the beginning, if only for the moment until it stops.
    if (signal.aborted) return { how: 'stopped' }
    const how = deliverTo(options, topics)
    const make = settings.delivery === 'exactly-once' ? exactlyOnce : atLeastOnce
    delivery = make({ connect, admin, settings, pipeline, waitOf, how, health, brokers, emit })
    const { handle } = delivery
    const begin = (names: readonly string[]): Source =>
      startSource({
        connect,
        shared,
        brokers,
        settings,
        topics: names,
        same,
        health,
        emit,
        fail,
        handle: (fetched) => {
          const [first] = fetched.records
          if (first && skips.delete(fetched.name)) {
            const count = Number(first.offset) - (health.positionOf(fetched.name) ?? Number(first.offset))
            // A topic that was made again begins before the position in the former one, and that has been told.
            if (count > 0) emit({ event: 'offsets_skipped', topic: fetched.topic, partition: fetched.partition, count })
          }
          return handle(fetched)
        },
      })
    source = begin(topics.input)
    health.turn('running')
    if (settings.input.pattern !== '') {
      let known = topics.input
      const look = async (): Promise<void> => {
        const found = inputTopics(settings, await admin.listTopics())
        if (found.length === 0 || found.join() === known.join() || signal.aborted) return
        emit({ event: 'topics_changed', topics: found })
        await source?.stop()
        source = begin(found)
        known = found
      }
      let busy = false
      refresh = setInterval(() => {
        if (busy) return
        busy = true
        looking = look()
          .catch((error: unknown) =>
            emit({ event: 'kafka_client_warned', about: 'topics', message: failureOf(error).message }),
          )
          .finally(() => {
            busy = false
          })
      }, settings.limits.refreshMs)
    }
    const end = await Promise.race([failed, aborted(signal)])
    clearInterval(refresh)
    if (end.how === 'failed') return end
    health.turn('draining')
    const { drainMs } = settings.limits
    if (await drained(() => looking.then(() => source?.stop()), drainMs)) return { how: 'stopped' }
    const away = brokers.unreachableSince() === undefined ? '' : ': no broker answers'
    return {
      how: 'failed',
      sentence: `not everything in progress was through ${drainMs} ms after the stop${away}`,
      isRefused: false,
    }
  } finally {
    clearInterval(refresh)
    brokers.close()
    await closeAll([delivery?.close() ?? Promise.resolve(), admin.disconnect(), same.close()])
  }
}

const aborted = (signal: AbortSignal): Promise<Ended> =>
  new Promise((resolve) => {
    const stop = (): void => {
      resolve({ how: 'stopped' })
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
