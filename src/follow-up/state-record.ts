// A record of the state topic: of which group and input partition it is, of which kind, and signed where there is a key.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InputPartition } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { StateRefusal } from '../telemetry/labels.js'
import type { TopicOf } from './sightings-topic.js'

/** The topic, whose state it holds, and the key that signs; empty: access rules alone decide who may write. */
export type StateTopic = TopicOf & { readonly groupId: string; readonly signingKey: string }

type StateKind = 'window' | 'matches'

/** What a record of the partition says. */
export type StateRecord = {
  readonly kind: string
  readonly id: string
  readonly value: Buffer | null
  /** Epoch milliseconds. */
  readonly at: number
}

const signatureHeader = 'threatweave-signature'
const maxKeyBytes = 1_024
const maxValueBytes = 262_144

const startOf = (groupId: string, { topic, partition }: InputPartition): string =>
  `v2/${encodeURIComponent(groupId)}/${topic}/${partition}/`

/** Without a value it is deleted. */
export const stateRecord = (
  { topic, partitions, groupId, signingKey }: StateTopic,
  input: InputPartition,
  [kind, id]: readonly [kind: StateKind, id: string],
  value: Buffer | null,
  now: number,
): Outgoing => {
  const key = `${startOf(groupId, input)}${kind}/${id}`
  return {
    topic,
    partition: input.partition % partitions,
    key: Buffer.from(key),
    value,
    headers: signingKey === '' ? [] : [[signatureHeader, sign(signingKey, topic, key, value)]],
    timestamp: String(now),
  }
}

/** What records say of a partition; undefined for those of others. Every byte may come from somebody else. */
export const createReadState = (
  { topic, groupId, signingKey }: StateTopic,
  input: InputPartition,
): ((record: WireRecord) => StateRecord | { readonly refused: StateRefusal } | undefined) => {
  const start = startOf(groupId, input)
  const ofAny = `/${input.topic}/${input.partition}/`
  const isOther = (name: string): boolean => name.startsWith('v2/') && name.startsWith(ofAny, name.indexOf('/', 3))
  return ({ key, value, headers, timestamp }) => {
    const name = key?.toString() ?? ''
    if (!name.startsWith(start)) return isOther(name) ? { refused: 'other_group' } : undefined
    if (name.length > maxKeyBytes || (value && value.length > maxValueBytes)) return { refused: 'too_large' }
    if (signingKey !== '') {
      const given = headers.find(([header]) => header === signatureHeader)?.[1]
      if (!given) return { refused: 'unsigned' }
      const expected = sign(signingKey, topic, name, value)
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { refused: 'bad_signature' }
    }
    const rest = name.slice(start.length)
    const at = rest.indexOf('/')
    if (at < 1) return { refused: 'malformed' }
    return { kind: rest.slice(0, at), id: rest.slice(at + 1), value, at: Number(timestamp) }
  }
}

const sign = (key: string, topic: string, name: string, value: Buffer | null): Buffer =>
  createHmac('sha256', key)
    .update(`${topic}\0${name}\0${value ? 'is' : 'gone'}\0`)
    .update(value ?? '')
    .digest()
