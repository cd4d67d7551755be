// The format of the values of a topic, which is configured and never guessed from the bytes.

/** `text`: JSON and any other text. Values in other formats are written unchanged, with the annotation in a header. */
export const topicFormats = ['text', 'registry', 'otlp_proto', 'binary'] as const
export type TopicFormat = (typeof topicFormats)[number]
export type ValueFormat = Exclude<TopicFormat, 'text'>

/** One format for all topics, or one per topic; unlisted topics are text. */
export type FormatSetting = TopicFormat | Readonly<Record<string, TopicFormat>>

export const isTopicFormat = (text: string): text is TopicFormat => (topicFormats as readonly string[]).includes(text)

export const formatOfTopic = (setting: FormatSetting, topic: string): TopicFormat =>
  typeof setting === 'string' ? setting : Object.hasOwn(setting, topic) ? (setting[topic] ?? 'text') : 'text'

export const usesFormat = (setting: FormatSetting, wanted: TopicFormat): boolean =>
  typeof setting === 'string' ? setting === wanted : Object.values(setting).includes(wanted)
