// Patches the kafkajs consumer to emit an event when a fetch fails, and another when it resets a position.
// It resets to the oldest offset when the broker has deleted the requested one.
import type { Consumer } from 'kafkajs'
import type { Cluster } from '../cluster.js'

type OffsetReset = {
  readonly topic: string
  readonly partition: number
  /** The requested offset. */
  readonly position: number
}

const eventName = 'consumer.offset_reset'
const failedName = 'consumer.fetch_failed'

/** The event names that `consumer.on` accepts, including ours. */
export const addOffsetResetEvent = (original: unknown): unknown => {
  const { events, ...rest } = original as { readonly events: object }
  return { ...rest, events: { ...events, OFFSET_RESET: eventName, FETCH_FAILED: failedName } }
}

type OutOfRange = { readonly topic: string; readonly partition: number }
type ConsumerGroup = {
  readonly offsetManager: {
    readonly nextOffset: (topic: string, partition: number) => { toString: () => string }
    readonly resolveOffset: (last: {
      readonly topic: string
      readonly partition: number
      readonly offset: string
    }) => void
  }
  assigned(): readonly { readonly topic: string; readonly partitions: readonly number[] }[]
  readonly cluster: Pick<Cluster, 'fetchTopicsOffset'>
  readonly instrumentationEmitter: { readonly emit: (event: string, payload: object) => void }
  recoverFromFetch(error: unknown): Promise<void>
  recoverFromOffsetOutOfRange(error: OutOfRange): Promise<void>
}
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any

/**
 * Emits the event before the position is reset. Unlike the original it does not commit the reset: that would delete the group's commit,
 * and with it the position and the topic id.
 */
export const emitOffsetReset = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    override async recoverFromFetch(error: unknown): Promise<void> {
      this.instrumentationEmitter.emit(failedName, {})
      return super.recoverFromFetch(error)
    }

    override async recoverFromOffsetOutOfRange(error: OutOfRange): Promise<void> {
      const { topic, partition } = error
      if (!this.assigned().some((one) => one.topic === topic && one.partitions.includes(partition))) return
      const manager = this.offsetManager
      const next = (): number => Number(manager.nextOffset(topic, partition).toString())
      const position = next()
      const asked = { topic, partitions: [{ partition }], fromBeginning: true }
      const [found] = await this.cluster.fetchTopicsOffset([asked])
      const oldest = Number(found?.partitions[0]?.offset ?? 0)
      // Another join may have happened meanwhile, and its position must not change.
      if (this.offsetManager !== manager || next() !== position) return
      this.instrumentationEmitter.emit(eventName, { topic, partition, position })
      manager.resolveOffset({ topic, partition, offset: String(oldest - 1) })
    }
  }

type Listening = { on: (event: string, listener: (event: { payload: OffsetReset }) => void) => void }

export const onOffsetReset = (consumer: Consumer, listener: (reset: OffsetReset) => void): void =>
  (consumer as unknown as Listening).on(eventName, ({ payload }) => listener(payload))

/** Called before the consumer reacts to the failure. */
export const onFailedFetch = (consumer: Consumer, listener: () => void): void =>
  (consumer as unknown as Listening).on(failedName, listener)
