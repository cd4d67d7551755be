// What gateways tell each other about who calls: the one record of the control topic, and the word of the group's leader; signed where there is a key.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, parseObject } from '../base/json-object.js'
import type { Outgoing } from '../kafka/records.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Spending } from '../lookup/admission/budget.js'

export type ControlRecord = {
  /** The process that calls, or was the last to; absent where it has ended all of its calls. */
  readonly caller?: string
  readonly reserved: Spending
}

/** The topic, and the key that signs; empty: access rules alone decide who may write. */
export type ControlTopic = { readonly topic: string; readonly key: string }

const recordKey = 'gateways'
const signatureHeader = 'threatweave-signature'
const maxBytes = 2_048

export const writeControl = (
  { topic, key }: ControlTopic,
  { caller, reserved }: ControlRecord,
  now: number,
): Outgoing => {
  const value = Buffer.from(JSON.stringify({ schema_version: 1, caller: caller ?? null, reserved }))
  return {
    topic,
    partition: 0,
    key: Buffer.from(recordKey),
    value,
    headers: key === '' ? [] : [[signatureHeader, sign(key, topic, value)]],
    timestamp: String(now),
  }
}

/** Undefined where it is not exactly as we write it. */
export const readControl = (
  { topic, key }: ControlTopic,
  record: Pick<WireRecord, 'key' | 'value' | 'headers'>,
): ControlRecord | undefined => {
  const { value } = record
  if (!value || value.length > maxBytes || record.key?.toString() !== recordKey) return undefined
  if (key !== '') {
    const given = record.headers.find(([header]) => header === signatureHeader)?.[1]
    if (!given || !isSame(given, sign(key, topic, value))) return undefined
  }
  const members = parseObject(value)
  const reserved = members?.schema_version === 1 ? readReserved(members.reserved) : undefined
  if (!members || !reserved) return undefined
  if (members.caller === null) return { reserved }
  return typeof members.caller === 'string' ? { caller: members.caller, reserved } : undefined
}

/** The address under which the leader can be asked. */
export const writeWord = ({ topic, key }: ControlTopic, address: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      address,
      ...(key !== '' && { signature: sign(key, topic, Buffer.from(address)).toString('hex') }),
    }),
  )

/** Who is asked is given the keys of callers: an address is not believed that the key has not signed. */
export const readWord = ({ topic, key }: ControlTopic, word: Buffer): string | undefined => {
  const members = word.length > maxBytes ? undefined : parseObject(word)
  const address = members?.address
  if (typeof address !== 'string' || !isAddress(address)) return undefined
  if (key === '') return address
  const { signature } = members ?? {}
  const given = typeof signature === 'string' ? Buffer.from(signature, 'hex') : Buffer.alloc(0)
  return isSame(given, sign(key, topic, Buffer.from(address))) ? address : undefined
}

const isAddress = (text: string): boolean => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.username === '' && url.password === ''
}

const sign = (key: string, topic: string, value: Buffer): Buffer =>
  createHmac('sha256', key).update(`${topic}\0`).update(value).digest()

const isSame = (given: Uint8Array, expected: Uint8Array): boolean =>
  given.length === expected.length && timingSafeEqual(given, expected)

const readReserved = (value: unknown): Spending | undefined => {
  if (!isObject(value)) return undefined
  const hour = readCount(value.hour)
  const day = readCount(value.day)
  return hour && day && { hour, day }
}

const readCount = (value: unknown): Spending['hour'] | undefined => {
  if (!isObject(value)) return undefined
  const { index, count } = value
  return isAmount(index) && isAmount(count) ? { index, count } : undefined
}

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
