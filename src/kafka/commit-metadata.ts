// The metadata of a committed offset: the id of its topic, and the write that it belongs to.
import { parseObject } from '../base/json-object.js'

/** The group's commit for a partition. */
export type Commit = { readonly offset: string; readonly metadata: string }

/** `n` counts the writes of `owner`. */
type Write = { readonly owner: string; readonly n: number }

/** Further values that a delivery stores with a position. */
export type Beside = Readonly<Record<string, unknown>>

/** The topic id is left out if the brokers have none. */
export const metadataOf = (topicId: string | undefined, write?: Write, beside?: Beside): string =>
  topicId === undefined && !write && !beside ? '' : JSON.stringify({ ...beside, topic_id: topicId, ...write })

/** The values that a delivery stored. */
export const besideIn = (metadata: string | undefined): Beside => {
  const {
    topic_id: _,
    owner: __,
    n: ___,
    ...beside
  } = (metadata ? parseObject(Buffer.from(metadata)) : undefined) ?? {}
  return beside
}

/** Undefined for commits by reset tools or other consumers: their metadata is no topic id. */
const topicIdIn = (metadata: string | null): string | undefined => {
  const id = metadata ? parseObject(Buffer.from(metadata))?.topic_id : undefined
  return typeof id === 'string' && /^[0-9a-f]{32}$/.test(id) ? id : undefined
}

/**
 * Whether a commit was made for another topic than the current one. `before` is the fallback id for a commit without one: the topic in
 * which this process has read the partition.
 */
export const isOfFormerTopic = (metadata: string | null, now: string | undefined, before?: string): boolean => {
  const id = topicIdIn(metadata) ?? before
  return id !== undefined && now !== undefined && id !== now
}

/**
 * Whether the commits are the same, so that no other process has written in between. Commits without a write prove nothing: older
 * versions write late answers without one.
 */
export const areSameCommit = (one: Commit | undefined, other: Commit | undefined): boolean => {
  if (!one || !other) return one === other
  return one.offset === other.offset && one.metadata === other.metadata && writeIn(one.metadata) !== undefined
}

/** The write in a commit; undefined for older versions, reset tools and other consumers. */
export const writeIn = (metadata: string | undefined): Write | undefined => {
  const { owner, n } = (metadata ? parseObject(Buffer.from(metadata)) : undefined) ?? {}
  return typeof owner === 'string' && typeof n === 'number' ? { owner, n } : undefined
}
