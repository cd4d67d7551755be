// The consumer group of kafkajs, which says at every join in which generation of the group it is.

const joinName = 'consumer.group_join'

type Emitter = { readonly emit: (event: string, payload?: object) => void }
type ConsumerGroup = { readonly generationId: number; instrumentationEmitter: Emitter }
// TypeScript requires this form of a class that is extended without being known.
type ConsumerGroupClass = new (...given: any[]) => ConsumerGroup // eslint-disable-line @typescript-eslint/no-explicit-any

export const tellGeneration = (original: unknown): unknown =>
  class extends (original as ConsumerGroupClass) {
    constructor(...given: unknown[]) {
      super(...given)
      const { instrumentationEmitter: emitter } = this
      this.instrumentationEmitter = {
        emit: (event, payload) =>
          emitter.emit(event, event === joinName ? { ...payload, generationId: this.generationId } : payload),
      }
    }
  }

/** Of the payload of a join. */
export const generationOf = (payload: object): number => (payload as { readonly generationId: number }).generationId
