// A request for committed offsets that reports pending transactional ones, which the versions in kafkajs hide.
import { compactText, flexibleRequest, noTags, readFlexible, unsigned, type FlexibleRequest } from './flexible.js'

/** The first version with this feature, from Kafka 2.5 on. */
export const stableOffsetsVersion = 7

export const unstableOffsetCommit = 88

type StableOffset = {
  readonly partition: number
  readonly offset: string
  readonly metadata: string
  readonly errorCode: number
}

export type StableOffsets = { readonly partitions: readonly StableOffset[]; readonly errorCode: number }

export const stableOffsetsRequest = (
  groupId: string,
  topic: string,
  partitions: readonly number[],
  check: (answer: StableOffsets) => void,
): FlexibleRequest<StableOffsets> =>
  flexibleRequest(
    { apiKey: 9, apiVersion: stableOffsetsVersion, apiName: 'OffsetFetch' },
    encodeStableOffsets(groupId, topic, partitions),
    decodeStableOffsets,
    check,
  )

export const encodeStableOffsets = (groupId: string, topic: string, partitions: readonly number[]): Buffer => {
  const numbers = Buffer.alloc(4 * partitions.length)
  for (const [nth, partition] of partitions.entries()) numbers.writeInt32BE(partition, 4 * nth)
  const requireStable = Buffer.from([1])
  return Buffer.concat([
    noTags,
    compactText(groupId),
    unsigned(2), // one topic
    compactText(topic),
    unsigned(partitions.length + 1),
    numbers,
    noTags,
    requireStable,
    noTags,
  ])
}

export const decodeStableOffsets = (bytes: Buffer): StableOffsets => {
  const partitions: StableOffset[] = []
  const { skip, int16, int32, int64, text, tags, each } = readFlexible(bytes, 'an answer about committed offsets')
  tags()
  skip(4) // how long we are throttled
  each(() => {
    text()
    each(() => {
      const partition = int32()
      const offset = String(int64())
      skip(4) // the epoch of the leader
      partitions.push({ partition, offset, metadata: text(), errorCode: int16() })
      tags()
    })
    tags()
  })
  return { partitions, errorCode: int16() }
}
