// Patches the consumer group of kafkajs to find a moved coordinator and continue as the same member, like the Java client.
// The restart of a broker then causes no rebalance.
import { failureOf } from '../failure.js'

type Options = { readonly interval: number }
type ConsumerGroup = {
  readonly groupId: string
  readonly sessionTimeout: number
  readonly cluster: { readonly findGroupCoordinator: (which: { readonly groupId: string }) => Promise<unknown> }
  coordinator: unknown
  /** When a heartbeat was answered. */
  lastRequest: number
  readonly offsetManager: { coordinator: unknown } | null
  heartbeat(options: Options): Promise<void>
  commitOffsets(offsets: unknown): Promise<void>
  joinAndSync(): Promise<void>
}
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any

export const followCoordinator = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    private finding: Promise<void> | undefined
    private state: 'joined' | 'joining' | 'failed to join' = 'joined'

    /**
     * A heartbeat without an answer is no refusal; only after a session without any answer is the membership lost. None is sent during a
     * join, because it would belong to the new generation and prove nothing about the old partitions. After a failed join kafkajs would
     * keep those partitions forever, so an error makes it join again.
     */
    override async heartbeat(options: Options): Promise<void> {
      if (this.state === 'joining') return
      if (this.state === 'failed to join') throw new NotJoined()
      const asked = this.coordinator
      try {
        await super.heartbeat(options)
      } catch (error) {
        if (!isAway(error)) throw error
        if (Date.now() > this.lastRequest + this.sessionTimeout) throw new CoordinatorLost(error)
        // Not awaited, because it may take long and the member continues meanwhile.
        void this.findAgain(asked)
      }
    }

    override async commitOffsets(offsets: unknown): Promise<void> {
      const asked = this.coordinator
      try {
        await super.commitOffsets(offsets)
      } catch (error) {
        if (!isAway(error)) throw error
        await this.findAgain(asked)
        await super.commitOffsets(offsets)
      }
    }

    override async joinAndSync(): Promise<void> {
      this.state = 'joining'
      try {
        await super.joinAndSync()
        this.lastRequest = Date.now()
        this.state = 'joined'
      } catch (error) {
        this.state = 'failed to join'
        throw error
      }
    }

    private findAgain(asked: unknown): Promise<void> {
      if (this.coordinator !== asked) return Promise.resolve()
      return (this.finding ??= this.cluster
        .findGroupCoordinator({ groupId: this.groupId })
        .then((found) => {
          if (this.coordinator !== asked) return
          this.coordinator = found
          if (this.offsetManager) this.offsetManager.coordinator = found
        })
        .catch(() => undefined) // the next heartbeat fails as well, and asks again
        .finally(() => {
          this.finding = undefined
        }))
    }
  }

const isAway = (error: unknown): boolean => failureOf(error).kind === 'unavailable'

// kafkajs joins again after both.
class NotJoined extends Error {
  readonly type = 'REBALANCE_IN_PROGRESS'
  constructor() {
    super('the last attempt to join the group failed')
  }
}
class CoordinatorLost extends Error {
  readonly type = 'NOT_COORDINATOR_FOR_GROUP'
  constructor(cause: unknown) {
    super(`no coordinator has answered for a session: ${failureOf(cause).message}`, { cause })
  }
}
