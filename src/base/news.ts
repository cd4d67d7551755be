// News between parts: one part announces, others listen, and neither knows the other.

export type News<Topics extends Readonly<Record<string, readonly unknown[]>>> = {
  readonly announce: <Topic extends keyof Topics>(topic: Topic, ...about: Topics[Topic]) => void
  /** Returns a function that ends the subscription. */
  readonly subscribe: <Topic extends keyof Topics>(
    topic: Topic,
    listener: (...about: Topics[Topic]) => void,
  ) => () => void
}

export const createNews = <Topics extends Readonly<Record<string, readonly unknown[]>>>(): News<Topics> => {
  const listeners: { [Topic in keyof Topics]?: Set<(...about: Topics[Topic]) => void> } = {}
  return {
    announce: (topic, ...about) => {
      for (const listener of listeners[topic] ?? []) listener(...about)
    },
    subscribe: (topic, listener) => {
      const ofTopic = (listeners[topic] ??= new Set())
      ofTopic.add(listener)
      return () => void ofTopic.delete(listener)
    },
  }
}
