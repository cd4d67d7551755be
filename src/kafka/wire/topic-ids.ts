// A metadata request that asks for topic ids, which the versions that kafkajs knows do not have.

/** The first version with ids; brokers have it from Kafka 2.8 on. */
export const topicIdsVersion = 10

type Encoded = { readonly buf: Buffer; readonly buffer: Buffer; readonly size: () => number }

/** Name → id, for the topics that exist. */
export type TopicIds = ReadonlyMap<string, string>

export const topicIdsRequest = (
  topics: readonly string[],
): {
  readonly request: object
  readonly response: {
    readonly decode: (bytes: Buffer) => Promise<TopicIds>
    readonly parse: (ids: TopicIds) => Promise<TopicIds>
  }
} => ({
  request: {
    apiKey: 3,
    apiVersion: topicIdsVersion,
    apiName: 'Metadata',
    encode: (): Promise<Encoded> => {
      const buffer = encodeTopicIds(topics)
      return Promise.resolve({ buf: buffer, buffer, size: () => buffer.length })
    },
  },
  response: {
    decode: (bytes) => Promise.resolve(decodeTopicIds(bytes)),
    parse: (ids) => Promise.resolve(ids),
  },
})

const noTags = 0

export const encodeTopicIds = (topics: readonly string[]): Buffer => {
  const parts: Buffer[] = [Buffer.from([noTags]), unsigned(topics.length + 1)]
  for (const topic of topics) {
    const name = Buffer.from(topic)
    parts.push(Buffer.alloc(16), unsigned(name.length + 1), name, Buffer.from([noTags]))
  }
  // Creates no topic and does not ask for permissions.
  parts.push(Buffer.from([0, 0, 0, noTags]))
  return Buffer.concat(parts)
}

export const decodeTopicIds = (bytes: Buffer): TopicIds => {
  const ids = new Map<string, string>()
  let at = 0
  const skip = (count: number): void => {
    at += count
  }
  const length = (): number => {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes.readUInt8(at++)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new Error('a number in a metadata response is too long')
  }
  const text = (): string => {
    const from = at
    const size = Math.max(0, length() - 1)
    const start = at
    at += size
    if (at > bytes.length) throw new Error(`a text in a metadata response ends too early, at ${from}`)
    return bytes.toString('utf8', start, at)
  }
  const tags = (): void => {
    for (let left = length(); left > 0; left--) {
      length()
      skip(length())
    }
  }
  const each = (item: () => void): void => {
    for (let left = length() - 1; left > 0; left--) item()
  }
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
    const failed = bytes.readInt16BE(at) !== 0
    skip(2)
    const name = text()
    const id = bytes.toString('hex', at, at + 16)
    skip(16 + 1)
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

const unsigned = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}
