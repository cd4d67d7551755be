// The id of a topic in the metadata of a committed offset: it says which of the topics that had this name the offset is in.
import { parseObject } from '../base/json-object.js'

/** Empty where brokers have no ids. */
export const metadataOf = (topicId: string | undefined): string =>
  topicId === undefined ? '' : JSON.stringify({ topic_id: topicId })

/** Undefined for what a reset tool or another consumer has committed: whatever else is there is nobody's id. */
const topicIdIn = (metadata: string | null): string | undefined => {
  const id = metadata ? parseObject(Buffer.from(metadata))?.topic_id : undefined
  return typeof id === 'string' && /^[0-9a-f]{32}$/.test(id) ? id : undefined
}

/**
 * Whether a commit was made for another topic than the one that has the id now. `before` is the id that decides where the commit names
 * none: that of the topic in which this process has read the partition.
 */
export const isOfFormerTopic = (metadata: string | null, now: string | undefined, before?: string): boolean => {
  const id = topicIdIn(metadata) ?? before
  return id !== undefined && now !== undefined && id !== now
}
