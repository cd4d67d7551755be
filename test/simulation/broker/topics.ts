// Creates, extends and deletes topics as the controller does, and stores their configuration.
import { errors } from '../wire.js'
import { withTopic, withoutTopic, type PartitionImage, type TopicImage } from './image.js'
import { newPartition, type Shared } from './state.js'

const defaults: Readonly<Record<string, string>> = {
  'cleanup.policy': 'delete',
  'compression.type': 'producer',
  'delete.retention.ms': '86400000',
  'max.compaction.lag.ms': '9223372036854775807',
  'max.message.bytes': '1048588',
  'message.timestamp.after.max.ms': '3600000',
  'message.timestamp.before.max.ms': '9223372036854775807',
  'message.timestamp.type': 'CreateTime',
  'min.cleanable.dirty.ratio': '0.5',
  'min.compaction.lag.ms': '0',
  'min.insync.replicas': '1',
  'retention.bytes': '-1',
  'retention.ms': '604800000',
  'segment.bytes': '1073741824',
  'segment.index.bytes': '10485760',
  'segment.jitter.ms': '0',
  'segment.ms': '604800000',
  'unclean.leader.election.enable': 'false',
}

export const configsOf = (topic: TopicImage | undefined): Readonly<Record<string, string>> => ({
  ...defaults,
  ...topic?.configs,
})

export type TopicOptions = {
  readonly replicationFactor?: number
  readonly configs?: Readonly<Record<string, string>>
  /** Validates without creating anything. */
  readonly isTried?: boolean
  readonly isInternal?: boolean
}

export const isTopicName = (name: string): boolean =>
  /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..'

export const createTopic = (
  shared: Shared,
  name: string,
  partitions: number,
  { replicationFactor = -1, configs = {}, isTried = false, isInternal = false }: TopicOptions = {},
): number => {
  const { took, image, change } = shared
  const refused = (error: number): number => {
    took('create refused: invalid')
    return error
  }
  if (!isTopicName(name)) return refused(errors.INVALID_TOPIC_EXCEPTION)
  if (image().topics.has(name)) {
    took('create refused: exists')
    return errors.TOPIC_ALREADY_EXISTS
  }
  const count = partitions === -1 ? 1 : partitions
  if (count <= 0) return refused(errors.INVALID_PARTITIONS)
  const brokers = [...image().brokers].sort((a, b) => a - b)
  const replicas = replicationFactor === -1 ? brokers.length : replicationFactor
  if (replicas <= 0 || replicas > brokers.length) return refused(errors.INVALID_REPLICATION_FACTOR)
  if (Object.keys(configs).some((config) => !(config in defaults))) return refused(errors.INVALID_CONFIG)
  if (isTried) return errors.NONE
  if (!isInternal) took('topic created')
  const topic: TopicImage = { name, id: shared.newTopicId(), isInternal, partitions: [], configs }
  grow(shared, topic, count)
  change((before) => withTopic(before, { ...topic, partitions: place(brokers, replicas, 0, count, topic.id) }))
  return errors.NONE
}

const grow = ({ took, partitions, appended }: Shared, { name, id }: TopicImage, count: number): void => {
  const list = partitions.get(id) ?? []
  for (let number = list.length; number < count; number++) list.push(newPartition(took, name, id, number, appended))
  partitions.set(id, list)
}

/** Leaders rotate, starting with a broker that the topic id determines. */
const place = (
  brokers: readonly number[],
  replicas: number,
  from: number,
  to: number,
  id: string,
): readonly PartitionImage[] => {
  const first = Number.parseInt(id.slice(0, 4), 16)
  return Array.from({ length: to - from }, (_, nth) => {
    const list = Array.from(
      { length: replicas },
      (_none, at) => brokers[(first + from + nth + at) % brokers.length] ?? -1,
    )
    return { leader: list[0] ?? -1, epoch: 0, replicas: list, isr: list }
  })
}

export const deleteTopic = ({ took, image, change }: Shared, name: string): number => {
  if (!image().topics.has(name)) {
    took('delete refused: unknown topic')
    return errors.UNKNOWN_TOPIC_OR_PARTITION
  }
  took('topic deleted')
  change((before) => withoutTopic(before, name))
  return errors.NONE
}

export const addPartitions = (shared: Shared, name: string, count: number, isTried = false): number => {
  const { took, image, change } = shared
  const topic = image().topics.get(name)
  if (!topic || count <= topic.partitions.length) {
    took('partitions refused')
    return topic ? errors.INVALID_PARTITIONS : errors.UNKNOWN_TOPIC_OR_PARTITION
  }
  if (isTried) return errors.NONE
  took('partitions added')
  const replicas = topic.partitions[0]?.replicas.length ?? 1
  const brokers = [...image().brokers].sort((a, b) => a - b)
  grow(shared, topic, count)
  const added = place(brokers, Math.min(replicas, brokers.length), topic.partitions.length, count, topic.id)
  change((before) => withTopic(before, { ...topic, partitions: [...topic.partitions, ...added] }))
  return errors.NONE
}
