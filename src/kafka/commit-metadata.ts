// What stands beside a committed offset: the id of the topic that the offset is in, and the write it belongs to.
import { parseObject } from '../base/json-object.js'

/** What the group has committed of a partition. */
export type Commit = { readonly offset: string; readonly metadata: string }

/** `n` counts the writes of `owner`. */
type Write = { readonly owner: string; readonly n: number }

/** What a delivery keeps with a position, besides. */
export type Beside = Readonly<Record<string, unknown>>

/** Without an id where brokers have none. */
export const metadataOf = (topicId: string | undefined, write?: Write, beside?: Beside): string =>
  topicId === undefined && !write && !beside ? '' : JSON.stringify({ ...beside, topic_id: topicId, ...write })

/** What a delivery has kept with it. */
export const besideIn = (metadata: string | undefined): Beside => {
  const {
    topic_id: _,
    owner: __,
    n: ___,
    ...beside
  } = (metadata ? parseObject(Buffer.from(metadata)) : undefined) ?? {}
  return beside
}

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

/** Whether nobody has written in between. Commits that name no write say nothing about that: older versions write late answers without one. */
export const areSameCommit = (one: Commit | undefined, other: Commit | undefined): boolean => {
  if (!one || !other) return one === other
  return one.offset === other.offset && one.metadata === other.metadata && writeIn(one.metadata) !== undefined
}

/** The write that a commit names; undefined for those of older versions, of a reset tool or another consumer. */
export const writeIn = (metadata: string | undefined): Write | undefined => {
  const { owner, n } = (metadata ? parseObject(Buffer.from(metadata)) : undefined) ?? {}
  return typeof owner === 'string' && typeof n === 'number' ? { owner, n } : undefined
}
