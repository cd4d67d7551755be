// A metadata request for topic ids, which the versions in kafkajs do not have.
import { compactText, flexibleRequest, noTags, readFlexible, unsigned, type FlexibleRequest } from './flexible.js'

/** The first version with ids, from Kafka 2.8 on. */
export const topicIdsVersion = 10

/** Name → id, for the topics that exist. */
export type TopicIds = ReadonlyMap<string, string>

export const topicIdsRequest = (topics: readonly string[]): FlexibleRequest<TopicIds> =>
  flexibleRequest(
    { apiKey: 3, apiVersion: topicIdsVersion, apiName: 'Metadata' },
    encodeTopicIds(topics),
    decodeTopicIds,
  )

export const encodeTopicIds = (topics: readonly string[]): Buffer =>
  Buffer.concat([
    noTags,
    unsigned(topics.length + 1),
    ...topics.flatMap((topic) => [Buffer.alloc(16), compactText(topic), noTags]),
    // Creates no topic and does not ask for permissions.
    Buffer.from([0, 0, 0]),
    noTags,
  ])

export const decodeTopicIds = (bytes: Buffer): TopicIds => {
  const ids = new Map<string, string>()
  const { skip, int16, raw, text, tags, each } = readFlexible(bytes, 'a metadata response')
  const node = (): void => skip(4)
  tags()
  skip(4) // how long we are throttled
  each(() => {
    skip(4)
    text()
    skip(4)
    text()
    tags()
  })
  text() // the cluster
  skip(4) // its controller
  each(() => {
    const failed = int16() !== 0
    const name = text()
    const id = raw(16).toString('hex')
    skip(1)
    each(() => {
      skip(2 + 4 + 4 + 4)
      each(node)
      each(node)
      each(node)
      tags()
    })
    skip(4)
    tags()
    if (!failed && !/^0*$/.test(id)) ids.set(name, id)
  })
  return ids
}
