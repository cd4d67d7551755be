// Checks that a text is a valid Kafka topic name.

export const isTopicName = (text: string): boolean =>
  /^[A-Za-z0-9._-]{1,249}$/.test(text) && text !== '.' && text !== '..'
