// One record of the journal: a line with a checksum, so that what was torn or damaged is told from what was written.
import { crc32 } from 'node:zlib'
import type { Finding } from '../../domain/finding.js'
import type { Indicator } from '../../domain/indicator.js'
import { reasons } from '../../domain/reason.js'
import { isRememberable } from './lifetime.js'

export type Entry = { readonly indicator: Indicator; readonly finding: Finding }

/** A longer line is no record of ours. */
export const maxRecordBytes = 1_048_576

/** Digits of the checksum, and the space after them. */
const headBytes = 9

export const writeRecord = ({ type, value }: Indicator, finding: Finding): Buffer => {
  const body = Buffer.from(JSON.stringify({ v: 1, type, value, finding }))
  return Buffer.concat([Buffer.from(`${checksum(body)} `), body, Buffer.of(10)])
}

/** The entry in a line without its line feed; undefined when it is not as it was written. */
export const readRecord = (line: Buffer): Entry | undefined => {
  const body = line.subarray(headBytes)
  if (line.toString('latin1', 0, headBytes) !== `${checksum(body)} `) return undefined
  try {
    return entryOf(JSON.parse(body.toString()))
  } catch {
    return undefined
  }
}

const checksum = (body: Buffer): string => crc32(body).toString(16).padStart(8, '0')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The checksum says that it was written so; this says that it was written by a version that meant the same. */
const entryOf = (record: unknown): Entry | undefined => {
  if (!isObject(record) || record.v !== 1) return undefined
  const { type, value, finding } = record
  if ((type !== 'ip' && type !== 'domain') || typeof value !== 'string' || !isObject(finding)) return undefined
  if (typeof finding.at !== 'number') return undefined
  const isWhole =
    finding.status === 'known'
      ? typeof finding.source === 'string' && isFacts(finding.facts)
      : finding.status === 'unknown' && reasons.includes(finding.reason as never)
  if (!isWhole || !isRememberable(finding as Finding)) return undefined
  return { indicator: { type, value }, finding: finding as Finding }
}

const isFacts = (facts: unknown): boolean =>
  isObject(facts) &&
  isObject(facts.flags) &&
  Array.isArray(facts.categories) &&
  (facts.hosts === undefined || (Array.isArray(facts.hosts) && facts.hosts.every(isObject)))
