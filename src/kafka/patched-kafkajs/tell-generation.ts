// The consumer group of kafkajs, which says at every join in which generation of the group it is, and how a heartbeat is sent at once.

const joinName = 'consumer.group_join'

type Emitter = { readonly emit: (event: string, payload?: object) => void }
type ConsumerGroup = {
  readonly generationId: number
  instrumentationEmitter: Emitter
  heartbeat(options: { readonly interval: number }): Promise<void>
}
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any

export const tellGeneration = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    constructor(...given: unknown[]) {
      super(...given)
      const { instrumentationEmitter: emitter } = this
      const heartbeat = (): Promise<void> => this.heartbeat({ interval: 0 })
      this.instrumentationEmitter = {
        emit: (event, payload) =>
          emitter.emit(
            event,
            event === joinName ? { ...payload, generationId: this.generationId, heartbeat } : payload,
          ),
      }
    }
  }

type Told = {
  readonly generationId: number
  /** Sends one without waiting until it is due. If one is on its way already, that is it. */
  readonly heartbeat: () => Promise<void>
}
/** What the payload of a join tells besides. */
export const toldOf = (payload: object): Told => payload as Told
