// The Kafka service: topic in, line, topic out, until it is stopped or cannot go on.
import type { Kafka } from 'kafkajs'
import type { AlertOut } from './alert-record.js'
import type { EventOut, Pipeline } from '../pipeline/pipeline.js'
import type { Tell } from '../telemetry/event.js'
import { atLeastOnce, type Delivery } from './at-least-once.js'
import { deliverTo } from './deliver-to.js'
import { exactlyOnce } from './exactly-once.js'
import { failureOf } from './failure.js'
import { recordHealth, type KafkaHealth } from './health.js'
import { link } from './link.js'
import type { KafkaSettings, Placement } from './settings.js'
import { openSameTopic, type SameTopic } from './same-topic.js'
import { startSource, type Source } from './source.js'
import { startAtTheEnd } from './start-at-the-end.js'
import { inputTopics, inspectTopics, type Topics } from './topics.js'
import { createWriteLate, type WriteLate } from './write-late.js'

export type ServiceOptions = {
  readonly settings: KafkaSettings
  readonly placement: Placement
  /** The annotation's key. */
  readonly key: string
  readonly pipeline: Pipeline
  /** The alerts of a chunk's events; they go to `alertsTopic`. */
  readonly raise?: ((events: readonly EventOut[]) => readonly AlertOut[]) | undefined
  readonly tell: Tell
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
  const health = recordHealth(options.now)
  let alertPartitions = 1
  const ended = serve(options, health, ({ facts }) => {
    alertPartitions = facts.get(options.settings.alertsTopic ?? '')?.partitions ?? 1
  }).then(
    (end) => {
      health.turn(end.how)
      return end
    },
    (error: unknown): Ended => {
      health.turn('failed')
      const { kind, message } = failureOf(error)
      return { how: 'failed', sentence: `Kafka cannot be used: ${message}`, isRefused: kind === 'hopeless' }
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
  health: ReturnType<typeof recordHealth>,
  learnt: (topics: Topics) => void,
): Promise<Ended> => {
  const { settings, tell, signal, pipeline } = options
  const skips = new Set<string>()
  const connect = (): Kafka =>
    link(settings, tell, ({ message, topic, partition }) => {
      if (!message.startsWith('Offset out of range, resetting')) return
      skips.add(`${topic ?? ''}/${partition ?? 0}`)
      same.doubt()
    })
  const same: SameTopic = openSameTopic(link(settings, tell), tell, options.now)
  const admin = connect().admin()
  await admin.connect()
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
    const topics = await inspectTopics(admin, settings)
    const errors = topics.remarks.filter(({ level }) => level === 'error')
    if (errors.length > 0)
      return {
        how: 'failed',
        sentence: errors.map(({ topic, message }) => `topic ${topic} ${message}`).join('; '),
        isRefused: true,
      }
    learnt(topics)
    if (settings.input.start === 'latest') await startAtTheEnd(admin, connect(), settings.groupId, topics.input)
    const how = deliverTo(options, topics)
    const make = settings.delivery === 'exactly-once' ? exactlyOnce : atLeastOnce
    delivery = make({ connect, admin, settings, pipeline, how, health, tell })
    const { handle } = delivery
    const begin = (names: readonly string[]): Promise<Source> =>
      startSource({
        kafka: connect(),
        settings,
        topics: names,
        same,
        health,
        tell,
        fail,
        handle: (fetched) => {
          const [first] = fetched.records
          if (first && skips.delete(fetched.name)) {
            const count = Number(first.offset) - (health.positionOf(fetched.name) ?? Number(first.offset))
            // A topic that was made again begins before the position in the former one, and that has been told.
            if (count > 0) tell({ event: 'offsets_skipped', topic: fetched.topic, partition: fetched.partition, count })
          }
          return handle(fetched)
        },
      })
    source = await begin(topics.input)
    health.turn('running')
    if (settings.input.pattern !== '') {
      let known = topics.input
      const look = async (): Promise<void> => {
        const found = inputTopics(settings, await admin.listTopics())
        if (found.length === 0 || found.join() === known.join() || signal.aborted) return
        tell({ event: 'topics_changed', topics: found })
        known = [] // until they are read: if that fails, the next look tries again
        await source?.stop()
        source = await begin(found)
        known = found
      }
      let busy = false
      refresh = setInterval(() => {
        if (busy) return
        busy = true
        looking = look()
          .catch((error: unknown) =>
            tell({ event: 'kafka_complained', about: 'topics', message: failureOf(error).message }),
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
    return await drained(() => looking.then(() => source?.stop()), settings.limits.drainMs)
  } finally {
    clearInterval(refresh)
    await hurry(async () =>
      Promise.allSettled([delivery?.close() ?? Promise.resolve(), admin.disconnect(), same.close()]),
    )
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

const drained = async (stop: () => Promise<void>, limitMs: number): Promise<Ended> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Ended>((resolve) => {
    timer = setTimeout(() => {
      const sentence = `not everything in progress was through ${limitMs} ms after the stop`
      resolve({ how: 'failed', sentence, isRefused: false })
    }, limitMs)
  })
  try {
    return await Promise.race([stop().then((): Ended => ({ how: 'stopped' })), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Closing connections politely, but not for ever: the process is about to end. */
const hurry = async (close: () => Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, 1_000)
  })
  await Promise.race([close(), late])
  clearTimeout(timer)
}
