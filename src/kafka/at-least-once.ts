// At least once: a chunk's output is acknowledged before its offsets move.
import type { Kafka } from 'kafkajs'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Tell } from '../telemetry/event.js'
import type { BrokerWatch } from './broker-watch.js'
import { deliver, deliverBeside, prepare, type Deliver } from './deliver.js'
import type { HealthRecord } from './health.js'
import { openLane, type Lane } from './lane.js'
import type { KafkaSettings } from './settings.js'
import type { Fetched } from './fetched.js'
import { startChunks } from './work.js'
import { within } from './within.js'

export type Delivery = {
  readonly handle: (fetched: Fetched) => Promise<void>
  readonly close: () => Promise<void>
}

export type DeliveryOptions = {
  /** Makes a client of its own. */
  readonly connect: () => Kafka
  readonly settings: KafkaSettings
  readonly pipeline: Pipeline
  readonly how: Deliver
  readonly health: HealthRecord
  readonly brokers: BrokerWatch
  readonly tell: Tell
}

export const atLeastOnce = ({ connect, settings, pipeline, how, health, brokers, tell }: DeliveryOptions): Delivery => {
  const { limits } = settings
  const kafka = connect()
  const idle: Lane[] = []
  const all: Lane[] = []
  const take = (): Lane => {
    const free = idle.pop()
    if (free) return free
    const replaced: Parameters<typeof openLane>[2] = ([first], cause) =>
      tell({ event: 'producer_replaced', topic: first?.topic ?? '', partition: first?.partition ?? 0, cause })
    const lane = openLane(kafka, settings.output.compression, replaced, brokers.reachableMs)
    all.push(lane)
    return lane
  }
  return {
    handle: async (fetched) => {
      const { topic, partition, name } = fetched
      const lane = take()
      try {
        const chunks = startChunks(fetched.records, pipeline, fetched.lag > limits.behindEvents, {
          count: limits.chunkEvents,
          bytes: limits.chunkBytes,
        })
        for (const chunk of chunks) {
          if (!fetched.goesOn()) break
          health.chunkBegan(name, lane.clock)
          await within(
            limits.chunkDeadlineMs,
            `${name}, offsets ${chunk.first} to ${chunk.last}`,
            async () => {
              const { items, beside } = await prepare(chunk, how)
              await deliver(items, lane.send, how, chunk.again)
              if (beside) await deliverBeside(beside(), lane.send, how)
            },
            lane.clock,
          )
          health.chunkEnded(name)
          fetched.resolve(chunk.last)
          health.moved(name, chunk.records.length, Number(chunk.last) + 1, fetched.lag)
          tell({
            event: 'chunk_delivered',
            topic,
            partition,
            events: chunk.records.length,
            oldestMs: how.now() - Number(chunk.records[0]?.timestamp),
          })
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
