// What the values of a topic are, as it is set for the topic and never seen from the bytes.

/** `text`: JSON and everything else that is text, as ever. Values of the others come out byte for byte, the annotation in a header. */
export const topicFormats = ['text', 'registry', 'otlp_proto', 'binary'] as const
export type TopicFormat = (typeof topicFormats)[number]
export type ValueFormat = Exclude<TopicFormat, 'text'>

/** One format for all topics, or one for each that is named; the others are text. */
export type FormatSetting = TopicFormat | Readonly<Record<string, TopicFormat>>

export const isTopicFormat = (text: string): text is TopicFormat => (topicFormats as readonly string[]).includes(text)

export const formatOfTopic = (setting: FormatSetting, topic: string): TopicFormat =>
  typeof setting === 'string' ? setting : Object.hasOwn(setting, topic) ? (setting[topic] ?? 'text') : 'text'

export const usesFormat = (setting: FormatSetting, wanted: TopicFormat): boolean =>
  typeof setting === 'string' ? setting === wanted : Object.values(setting).includes(wanted)
