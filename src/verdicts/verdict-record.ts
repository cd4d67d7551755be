// A record of the verdicts topic: the answer of the provider or a source about an indicator, with time, process and operations; signed if there is a key.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { isObject, parseObject } from '../base/json-object.js'
import { parseAddress } from '../domain/address.js'
import { newestAt, sourceIdOf, type Answered, type Finding } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import type { Indicator } from '../domain/indicator.js'
import { addressOperations, nameOperations } from '../domain/operation-choice.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { Outgoing } from '../kafka/records.js'
import type { VerdictRefusal } from '../telemetry/labels.js'
import { readFacts } from './read-facts.js'

export type SharedVerdict = {
  readonly indicator: Indicator
  readonly finding: Finding
  /** The name of the process that made the lookup. */
  readonly by: string
}

/** The topic, its number of partitions, and the signing key; with an empty key every writer is trusted. */
export type VerdictsTopic = { readonly topic: string; readonly partitions: number; readonly key: string }

/** Operations with verdicts; answers of others are not shared. */
const sharedOperations: ReadonlySet<string> = new Set([
  ...addressOperations.map((name) => `ip/${name}`),
  ...nameOperations.map((name) => `domain/${name}`),
])

/** Larger records are not shared, because every process has to read them. */
const maxValueBytes = 4_096
const maxKeyBytes = 300
/** The tolerated clock difference between the writer and the broker. */
const maxAheadMs = 60_000
const signatureHeader = 'threatweave-signature'

/** Shares only answers of the provider or a source; never errors or feed listings. */
export const isShareable = (finding: Finding): boolean => {
  const { operations = [], at } = finding
  const source = sourceIdOf(finding)
  if (source !== undefined) return at !== undefined && isOfSource(source, finding)
  if (at === undefined || operations.length === 0 || !operations.every((name) => sharedOperations.has(name)))
    return false
  return finding.status === 'known'
    ? finding.source === 'service' && finding.isFeedMissing !== true && finding.stale !== true
    : finding.reason === 'not_found'
}

const sourceId = /^[a-z0-9][a-z0-9-]{0,39}$/
const sourceMembers = new Set(['flags', 'categories', 'listings', 'described', 'clearedBy'])

/** Accepts from a source only one listing of its own, or clean; other facts are reserved for the provider. */
const isOfSource = (id: string, finding: Finding): boolean => {
  if (!sourceId.test(id) || id === mainName) return false
  if (finding.status === 'unknown') return finding.reason === 'not_found'
  const { flags, categories, listings = [], clearedBy = [] } = finding.facts
  return (
    finding.isFeedMissing !== true &&
    finding.stale !== true &&
    Object.keys(finding.facts).every((name) => sourceMembers.has(name)) &&
    Object.keys(flags).length + categories.length === 0 &&
    listings.length <= 1 &&
    [...listings.map(({ feed }) => feed), ...clearedBy].every((name) => name === id)
  )
}

const mainName = 'service'

/** Undefined if it is too large to share. */
export const writeVerdict = (
  { topic, partitions, key }: VerdictsTopic,
  { indicator, finding, by }: SharedVerdict,
): Outgoing | undefined => {
  const name = `${sourceIdOf(finding) ?? mainName}|${indicator.type}:${indicator.value}`
  const obtained = new Date(finding.at ?? 0).toISOString()
  const valueOf = (answers: readonly Answered[] | undefined): Buffer =>
    Buffer.from(
      JSON.stringify({
        schema_version: 1,
        obtained_at: obtained,
        by,
        operations: finding.operations,
        ...(finding.status === 'known' ? { facts: finding.facts } : { reason: finding.reason }),
        ...(answers && { answers: answers.map(writeAnswered) }),
      }),
    )
  const whole = valueOf(finding.status === 'known' ? finding.answers : undefined)
  // Without separate answers the whole finding expires at once; nothing else is lost.
  const value = whole.length > maxValueBytes ? valueOf(undefined) : whole
  if (value.length > maxValueBytes || Buffer.byteLength(name) > maxKeyBytes) return undefined
  const signature = key === '' ? undefined : sign(key, topic, name, obtained, value)
  return {
    topic,
    partition: hashOf(name) % partitions,
    key: Buffer.from(name),
    value,
    headers: signature === undefined ? [] : [[signatureHeader, signature]],
    timestamp: String(newestAt(finding) ?? 0),
  }
}

/** Treats every byte as untrusted; rejects anything but our exact format, with the reason. */
export const readVerdict = (
  { topic, key }: { readonly topic: string; readonly key: string },
  record: Pick<WireRecord, 'key' | 'value' | 'headers' | 'timestamp'>,
): SharedVerdict | { readonly refused: VerdictRefusal } => {
  const { value } = record
  if (!record.key || !value) return { refused: 'malformed' }
  if (value.length > maxValueBytes || record.key.length > maxKeyBytes) return { refused: 'too_large' }
  const name = record.key.toString()
  const members = parseObject(value)
  if (!members || typeof members.obtained_at !== 'string') return { refused: 'malformed' }
  if (key !== '') {
    const given = record.headers.find(([header]) => header === signatureHeader)?.[1]
    if (!given) return { refused: 'unsigned' }
    const expected = sign(key, topic, name, members.obtained_at, value)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { refused: 'bad_signature' }
  }
  if (members.schema_version !== 1) return { refused: 'version' }
  const [, source = '', rest = ''] = /^([a-z0-9-]+)\|(.+)$/s.exec(name) ?? []
  const indicator = indicatorOf(rest)
  const finding = findingOf(members, source)
  if (!indicator || !finding || !isShareable(finding)) return { refused: 'malformed' }
  // Compared with the timestamp of the broker, the only clock that writer and reader share.
  if ((newestAt(finding) ?? 0) > Number(record.timestamp) + maxAheadMs) return { refused: 'future' }
  return { indicator, finding, by: typeof members.by === 'string' ? members.by.slice(0, maxByLength) : '' }
}

const maxByLength = 200

const sign = (key: string, topic: string, name: string, obtained: string, value: Buffer): Buffer =>
  createHmac('sha256', key).update(`${topic}\0${name}\0${obtained}\0`).update(value).digest()

const indicatorOf = (name: string): Indicator | undefined => {
  const [, type, value = ''] = /^(ip|domain):(.+)$/s.exec(name) ?? []
  if (type === 'ip') return parseAddress(value) === value ? { type, value } : undefined
  return type === 'domain' && parseHostname(value) === value ? { type, value } : undefined
}

const writeAnswered = ({ operation, at, facts }: Answered): object => ({
  operation,
  obtained_at: new Date(at).toISOString(),
  ...(facts && { facts }),
})

/** One answer per operation, none older than the finding; undefined otherwise. */
const readAnswers = (given: unknown, names: readonly string[], at: number): readonly Answered[] | undefined => {
  if (!Array.isArray(given) || given.length !== names.length) return undefined
  const answers: Answered[] = []
  for (const [nth, each] of (given as unknown[]).entries()) {
    if (!isObject(each) || each.operation !== names[nth]) return undefined
    const obtained = Date.parse(String(each.obtained_at))
    const facts = each.facts === undefined ? undefined : readFacts(each.facts)
    if (!(obtained >= at) || (each.facts !== undefined && !facts)) return undefined
    answers.push({ operation: String(each.operation), at: obtained, ...(facts && { facts }) })
  }
  return answers
}

const findingOf = (
  { obtained_at, operations, facts, reason, answers }: Readonly<Record<string, unknown>>,
  source: string,
): Finding | undefined => {
  const at = Date.parse(String(obtained_at))
  if (!Number.isFinite(at) || !Array.isArray(operations) || operations.length > sharedOperations.size) return undefined
  const names = operations.map(String)
  // The record key and the operations must agree on the origin.
  const isMain = source === mainName
  if (isMain ? names.some((name) => !name.includes('/')) : names.length !== 1 || names[0] !== source) return undefined
  if (facts === undefined)
    return reason === 'not_found' ? { status: 'unknown', reason, at, operations: names } : undefined
  const read = isObject(facts) ? readFacts(facts) : undefined
  const parts = answers === undefined ? undefined : readAnswers(answers, names, at)
  if (answers !== undefined && !parts) return undefined
  return (
    read && {
      status: 'known',
      facts: read,
      source: isMain ? mainName : `source:${source}`,
      at,
      operations: names,
      ...(parts && { answers: parts }),
    }
  )
}

/** FNV-1a keeps an indicator on one partition, which orders its records. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
