// A record of the state topic: keyed by group, input partition and kind, and signed if a key is configured.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { InputPartition } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'
import type { Header, WireRecord } from '../kafka/wire/record.js'
import type { StateRefusal } from '../telemetry/labels.js'

/** A topic and its number of partitions. */
export type TopicOf = { readonly topic: string; readonly partitions: number }

/** The state topic, the group whose state it holds, and the signing key. With an empty key access rules alone decide who may write. */
export type StateTopic = TopicOf & { readonly groupId: string; readonly signingKey: string }

/**
 * `window`, `matches`: alert windows. `pending`: events of a chunk that wait for an answer. `count`: an indicator on one day. `counted`:
 * the offset up to which the counts hold. `began`: the offset at which an owner began to count. `accused`: indicators delivered as
 * malicious that the counts may not contain yet.
 */
export type StateKind = 'window' | 'matches' | 'pending' | 'count' | 'counted' | 'began' | 'accused'

/** The identity of a record. Version 1 does not name the group. */
type Place = InputPartition & { readonly kind: string; readonly id: string; readonly version: 1 | 2 }

/** The content of a record. */
export type StateRecord = Place & {
  readonly value: Buffer | null
  /** Epoch milliseconds. */
  readonly at: number
}

const signatureHeader = 'threatweave-signature'
/** Above the longest names of a group and a topic, with an indicator. */
const maxKeyBytes = 2_048
const maxValueBytes = 262_144

/** Composes records of a partition; a null value is a tombstone. */
export type WriteState = (kind: StateKind, id: string, value: Buffer | null) => Outgoing

export const createWriteState = (
  { topic, partitions, groupId, signingKey }: StateTopic,
  input: InputPartition,
  now: () => number,
): WriteState => {
  const start = `v2/${encodeURIComponent(groupId)}/${input.topic}/${input.partition}/`
  const partition = input.partition % partitions
  return (kind, id, value) => {
    const key = `${start}${kind}/${id}`
    const headers: readonly Header[] = signingKey === '' ? [] : [[signatureHeader, sign(signingKey, topic, key, value)]]
    return { topic, partition, key: Buffer.from(key), value, headers, timestamp: String(now()) }
  }
}

/** Deletes a record of version 1. */
export const deleteFormer = (
  { topic, partitions }: TopicOf,
  input: InputPartition,
  kind: StateKind,
  id: string,
  now: number,
): Outgoing => ({
  topic,
  partition: input.partition % partitions,
  key: Buffer.from(`${input.topic}/${input.partition}/${kind}/${id}`),
  value: null,
  headers: [],
  timestamp: String(now),
})

/** Reads a record; undefined if it is unwanted or no state record. Treat every byte as untrusted. */
export const createReadState = (
  { topic, groupId, signingKey }: StateTopic,
  isWanted: (place: Place) => boolean,
): ((record: WireRecord) => StateRecord | { readonly refused: StateRefusal } | undefined) => {
  const group = encodeURIComponent(groupId)
  return ({ key, value, headers, timestamp }) => {
    const name = key?.toString() ?? ''
    const found = placeIn(name)
    if (!found || !isWanted(found.place)) return undefined
    const { place, group: ofGroup } = found
    if (ofGroup !== undefined && ofGroup !== group) return { refused: 'other_group' }
    if (name.length > maxKeyBytes || (value && value.length > maxValueBytes)) return { refused: 'too_large' }
    if (place.version === 2 && signingKey !== '') {
      const given = headers.find(([header]) => header === signatureHeader)?.[1]
      if (!given) return { refused: 'unsigned' }
      const expected = sign(signingKey, topic, name, value)
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { refused: 'bad_signature' }
    }
    return { ...place, value, at: Number(timestamp) }
  }
}

const keyForm = /^v2\/([^/]*)\/([^/]+)\/(\d{1,9})\/([a-z]+)\/(.*)$/s
const formerKeyForm = /^([^/]+)\/(\d{1,9})\/(?:(pending|began|accused)\/(.+)|(counted)|(\d{4}-\d{2}-\d{2}\/[^/]+))$/s

const placeIn = (name: string): { readonly place: Place; readonly group?: string | undefined } | undefined => {
  const [, group, topic = '', partition, kind = '', id = ''] = keyForm.exec(name) ?? []
  if (group !== undefined) return { group, place: { topic, partition: Number(partition), kind, id, version: 2 } }
  const former = formerKeyForm.exec(name)
  if (!former) return undefined
  const [, formerTopic = '', number, ...rest] = former
  const [named, namedId = '', counted, count = ''] = rest
  const at = { topic: formerTopic, partition: Number(number), version: 1 } as const
  return { place: { ...at, kind: named ?? counted ?? 'count', id: named === undefined ? count : namedId } }
}

const sign = (key: string, topic: string, name: string, value: Buffer | null): Buffer =>
  createHmac('sha256', key)
    .update(`${topic}\0${name}\0${value ? 'is' : 'gone'}\0`)
    .update(value ?? '')
    .digest()
