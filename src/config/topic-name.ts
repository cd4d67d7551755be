// Whether Kafka takes a text as the name of a topic.

export const isTopicName = (text: string): boolean =>
  /^[A-Za-z0-9._-]{1,249}$/.test(text) && text !== '.' && text !== '..'
