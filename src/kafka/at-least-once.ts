// At least once: a chunk's output is acknowledged before its offsets move.
import type { Kafka } from 'kafkajs'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Wait } from '../pipeline/wait.js'
import type { Emit } from '../telemetry/event.js'
import type { BrokerWatch } from './broker-watch.js'
import { startChunks, takeOn, type Chunk } from './chunks.js'
import { deliver, deliverBeside, type Deliver } from './deliver.js'
import type { HealthRecord } from './health.js'
import { openLane, type Lane } from './idempotent-sender.js'
import type { KafkaSettings } from './settings.js'
import type { Fetched } from './fetched.js'
import { within } from './within.js'

export type Delivery = {
  readonly handle: (fetched: Fetched) => Promise<void>
  readonly close: () => Promise<void>
}

/** How long the events of a batch wait for their answers. */
export type WaitOf = (fetched: Pick<Fetched, 'records' | 'lag' | 'goesOn'>) => Wait

export type DeliveryOptions = {
  /** Makes a client of its own. */
  readonly connect: () => Kafka
  readonly settings: KafkaSettings
  readonly pipeline: Pipeline
  readonly waitOf: WaitOf
  readonly how: Deliver
  readonly health: HealthRecord
  readonly brokers: BrokerWatch
  readonly emit: Emit
}

export const atLeastOnce = (options: DeliveryOptions): Delivery => {
  const { connect, settings, pipeline, waitOf, how, health, brokers, emit } = options
  const { limits } = settings
  const kafka = connect()
  const idle: Lane[] = []
  const all: Lane[] = []
  const take = (): Lane => {
    const free = idle.pop()
    if (free) return free
    const replaced: Parameters<typeof openLane>[2] = ([first], cause) =>
      emit({ event: 'producer_replaced', topic: first?.topic ?? '', partition: first?.partition ?? 0, cause })
    const lane = openLane(kafka, settings.output.compression, replaced, brokers.reachableMs)
    all.push(lane)
    return lane
  }
  const deliverChunk = async (fetched: Fetched, chunk: Chunk, lane: Lane): Promise<boolean> => {
    const { topic, partition, name } = fetched
    health.chunkBegan(name, lane.clock)
    const isThrough = await within(
      limits.chunkDeadlineMs,
      `${name}, offsets ${chunk.first} to ${chunk.last}`,
      async () => {
        if (!(await chunk.ready)) return false
        await deliver(chunk.items, lane.send, how, chunk.again)
        if (how.beside) await deliverBeside(how.beside(chunk.events), lane.send, how)
        return true
      },
      lane.clock,
    )
    health.chunkEnded(name)
    if (!isThrough) return false
    fetched.resolve(chunk.last)
    health.moved(name, chunk.records.length, Number(chunk.last) + 1, fetched.lag)
    const oldestMs = how.now() - Number(chunk.records[0]?.timestamp)
    emit({ event: 'chunk_delivered', topic, partition, events: chunk.records.length, oldestMs })
    return true
  }
  return {
    handle: async (fetched) => {
      const lane = take()
      const wait = waitOf(fetched)
      const max = { count: limits.chunkEvents, bytes: limits.chunkBytes }
      try {
        for (const records of takeOn(fetched.records))
          for (const chunk of await startChunks(records, { pipeline, wait, how, max })) {
            if (!fetched.goesOn()) return
            // Nobody but the provider says how long that takes, so it has no limit.
            if (wait.kind === 'complete' && !(await chunk.ready)) return
            if (!(await deliverChunk(fetched, chunk, lane))) return
          }
      } finally {
        idle.push(lane)
      }
    },
    close: async () => {
      await Promise.all(all.map((lane) => lane.close()))
    },
  }
}
