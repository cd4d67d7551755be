// Messages of the leader election between gateways: the record of the control topic, and the announcement of the leader; signed if there is a key.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, parseObject } from '../base/json-object.js'
import type { Outgoing } from '../kafka/records.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Spending } from '../lookup/admission/budget.js'

export type ControlRecord = {
  /** The current or last leader; absent once it has ended all of its calls. */
  readonly caller?: string
  readonly reserved: Spending
}

/** Sequence numbers detect replayed records. */
export type NumberedRecord = ControlRecord & { readonly sequence: number }

/** The topic and the signing key; with an empty key every writer is trusted. */
export type ControlTopic = { readonly topic: string; readonly key: string }

const recordKey = 'gateways'
const signatureHeader = 'threatweave-signature'
const maxBytes = 2_048

export const writeControl = (
  { topic, key }: ControlTopic,
  { caller, reserved, sequence }: NumberedRecord,
  now: number,
): Outgoing => {
  const value = Buffer.from(JSON.stringify({ schema_version: 1, sequence, caller: caller ?? null, reserved }))
  return {
    topic,
    partition: 0,
    key: Buffer.from(recordKey),
    value,
    headers: key === '' ? [] : [[signatureHeader, sign(key, topic, value)]],
    timestamp: String(now),
  }
}

type ReadRecord = Pick<WireRecord, 'key' | 'value' | 'headers'>

/** Whether a gateway wrote the record; without a key every writer is trusted. */
export const isOfGateway = ({ topic, key }: ControlTopic, record: ReadRecord): boolean => {
  if (key === '') return true
  const { value } = record
  const given = record.headers.find(([header]) => header === signatureHeader)?.[1]
  return !!value && !!given && value.length <= maxBytes && isSame(given, sign(key, topic, value))
}

/** Undefined unless it has exactly our format. A record of an earlier version has no sequence number and counts as the oldest. */
export const readControl = (record: ReadRecord): NumberedRecord | undefined => {
  const { value } = record
  if (!value || value.length > maxBytes || record.key?.toString() !== recordKey) return undefined
  const members = parseObject(value)
  const reserved = members?.schema_version === 1 ? readReserved(members.reserved) : undefined
  const { caller, sequence = 0 } = members ?? {}
  if (!reserved || !isAmount(sequence)) return undefined
  if (caller === null) return { reserved, sequence }
  return typeof caller === 'string' ? { caller, reserved, sequence } : undefined
}

/** Writes the announcement: the address of the leader. */
export const writeWord = ({ topic, key }: ControlTopic, address: string): Buffer =>
  Buffer.from(
    JSON.stringify({
      address,
      ...(key !== '' && { signature: sign(key, topic, Buffer.from(address)).toString('hex') }),
    }),
  )

/** Rejects an address without a valid signature, because the leader receives the keys of clients. */
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
