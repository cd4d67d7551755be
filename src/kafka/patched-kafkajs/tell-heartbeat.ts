// Patches the consumer group of kafkajs to attach a function to every join event that sends a heartbeat at once.

const joinName = 'consumer.group_join'

type Emitter = { readonly emit: (event: string, payload?: object) => void }
type ConsumerGroup = {
  instrumentationEmitter: Emitter
  heartbeat(options: { readonly interval: number }): Promise<void>
}
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any

export const tellHeartbeat = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    constructor(...given: unknown[]) {
      super(...given)
      const { instrumentationEmitter: emitter } = this
      const heartbeat = (): Promise<void> => this.heartbeat({ interval: 0 })
      this.instrumentationEmitter = {
        emit: (event, payload) => emitter.emit(event, event === joinName ? { ...payload, heartbeat } : payload),
      }
    }
  }

type Told = {
  /** Sends a heartbeat before it is due, or waits for the one in flight. */
  readonly heartbeat: () => Promise<void>
}
/** The additional payload of a join event. */
export const toldOf = (payload: object): Told => payload as Told
