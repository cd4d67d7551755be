// The cluster metadata decided by the controller. Brokers learn of each version with a delay.

export type PartitionImage = {
  /** -1 without a leader. */
  readonly leader: number
  readonly epoch: number
  readonly replicas: readonly number[]
  readonly isr: readonly number[]
}

export type TopicImage = {
  readonly name: string
  readonly id: string
  readonly isInternal: boolean
  readonly partitions: readonly PartitionImage[]
  readonly configs: Readonly<Record<string, string>>
}

export type Image = {
  readonly topics: ReadonlyMap<string, TopicImage>
  /** Brokers that the controller considers up. */
  readonly brokers: ReadonlySet<number>
}

export const offsetsTopic = '__consumer_offsets'
export const transactionsTopic = '__transaction_state'

/** The partition of an internal topic for a group or transactional id, by Java's string hash. */
export const partitionFor = (key: string, count: number): number => {
  let hash = 0
  for (let at = 0; at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0
  return (hash & 0x7fffffff) % count
}

export const withTopic = (image: Image, topic: TopicImage): Image => ({
  ...image,
  topics: new Map([...image.topics, [topic.name, topic]]),
})

export const withoutTopic = (image: Image, name: string): Image => {
  const topics = new Map(image.topics)
  topics.delete(name)
  return { ...image, topics }
}

const mapPartitions = (
  image: Image,
  change: (partition: PartitionImage, topic: string, number: number) => PartitionImage,
): Image => ({
  ...image,
  topics: new Map(
    [...image.topics].map(([name, topic]) => [
      name,
      { ...topic, partitions: topic.partitions.map((partition, number) => change(partition, name, number)) },
    ]),
  ),
})

export const withLeader = (image: Image, topic: string, number: number, leader: number): Image =>
  mapPartitions(image, (partition, name, nth) =>
    name === topic && nth === number && partition.leader !== leader
      ? { ...partition, leader, epoch: partition.epoch + 1 }
      : partition,
  )

/** Removes a broker; its partitions move to other in-sync replicas where possible. */
export const withoutBroker = (image: Image, id: number): Image => {
  const brokers = new Set([...image.brokers].filter((one) => one !== id))
  return mapPartitions({ ...image, brokers }, (partition, _name, number) => {
    // Without a leader, only replicas that were in sync with the last one may become leader.
    if (partition.leader === -1) return partition
    const rest = partition.isr.filter((one) => one !== id && brokers.has(one))
    const isr = rest.length > 0 ? rest : partition.isr
    if (partition.leader !== id) return { ...partition, isr }
    return { ...partition, isr, leader: rest[number % rest.length] ?? -1, epoch: partition.epoch + 1 }
  })
}

/** Adds a returning broker: it leads partitions without a leader, and other brokers that are up get in sync. */
export const withBroker = (image: Image, id: number): Image => {
  const brokers = new Set([...image.brokers, id])
  return mapPartitions({ ...image, brokers }, (partition) => {
    const { leader, epoch, replicas, isr } = partition
    if (!replicas.includes(id)) return partition
    if (leader !== -1) return { ...partition, isr: isr.includes(id) ? isr : [...isr, id] }
    if (!isr.includes(id)) return partition
    return { ...partition, isr: replicas.filter((one) => brokers.has(one)), leader: id, epoch: epoch + 1 }
  })
}
