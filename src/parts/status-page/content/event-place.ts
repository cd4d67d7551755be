// The place of an event in its topic, and the command that shows it.

type Place = {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** The index within a record that has many events. */
  readonly member?: number
}

/** Undefined if the origin is not a place in a topic. */
export const placeOfOrigin = (origin: string): Place | undefined => {
  const [, topic, partition, offset, member] = /^([\w.-]+)\/(\d+)\/(\d+)(?:#(\d+))?$/.exec(origin) ?? []
  if (topic === undefined) return undefined
  return {
    topic,
    partition: Number(partition),
    offset: Number(offset),
    ...(member !== undefined && { member: Number(member) }),
  }
}

export const commandOf = (origin: string): string | undefined =>
  placeOfOrigin(origin) === undefined ? undefined : `threatweave explain '${origin}'`.replace(/'([\w./-]+)'/, '$1')
