// The sightings topic: the notes of a partition's events that wait for an answer, a block per chunk, so that its next owner knows them.
import { splitByCountAndBytes } from '../delivery/deliver.js'
import { parseObject } from '../base/json-object.js'
import type { Block, DueNote } from './pending.js'
import type { WireRecord } from '../kafka/wire/record.js'
import type { InputPartition } from '../kafka/fetched.js'
import type { Outgoing } from '../kafka/records.js'

/** A topic and how many partitions it has. */
export type TopicOf = { readonly topic: string; readonly partitions: number }

/** Under a key that begins so are notes of events that wait for an answer. */
export const pendingKey = ({ topic, partition }: InputPartition): string => `${topic}/${partition}/pending/`

/**
 * With the time of delivery: an event that is delivered twice, pending the first time and complete the second, must not lose its note, for
 * readers may keep either copy. With the id of the input topic, if brokers have ids: an offset means nothing in the next topic of that name.
 */
export const blockId = ([first]: readonly DueNote[], now: number, topicId: string | undefined): string =>
  `${first?.offset ?? 0}/${now}${topicId === undefined ? '' : `/${topicId}`}`

/** Whether the notes of a block are about events of the topic with this id. */
export const isAbout = ({ id }: Pick<Block, 'id'>, topicId: string | undefined): boolean => {
  const [, , noted] = id.split('/')
  return noted === undefined || topicId === undefined || noted === topicId
}

/** Of what had fired for the events of one block: far below what a topic takes by default. */
const maxFiredBytes = 131_072

const bytesOf = (firings: readonly string[]): number =>
  firings.reduce((sum, firing) => sum + Buffer.byteLength(firing) + 4, 16)

/** Notes of one chunk, as blocks of a bounded size. */
export const splitNotes = <Note extends Pick<DueNote, 'fired'>>(
  notes: readonly Note[],
): readonly (readonly Note[])[] => {
  const bytes = ({ fired }: Note): number => bytesOf(boundedFirings(fired))
  if (notes.length < 2 || notes.reduce((sum, note) => sum + note.fired.length, 0) <= maxPerRule) return [notes]
  return splitByCountAndBytes(notes, bytes, { count: Infinity, bytes: maxFiredBytes })
}

/** Offsets are written as their distance from the one that the block's id begins with. A block without notes is deleted. */
export const blockRecord = (
  { topic, partitions }: TopicOf,
  input: InputPartition,
  { id, notes }: Block,
  now: number,
  /** Called with how much of what had fired was too much. */
  left: (firings: number) => void = () => undefined,
): Outgoing => {
  const first = Number.parseInt(id, 10)
  let bytes = 0
  let omitted = 0
  const fits = (firing: string): boolean => {
    bytes += Buffer.byteLength(firing) + 4
    if (bytes > maxFiredBytes) omitted++
    return bytes <= maxFiredBytes
  }
  const fired = notes.flatMap((note) => {
    const written = note.fired.length > 0 ? boundedFirings(note.fired).filter(fits) : none
    return written.length > 0 ? [[note.offset - first, written] as const] : []
  })
  if (omitted > 0) left(omitted)
  const free = notes.flatMap(({ offset, isFree }) => (isFree ? [offset - first] : []))
  const value = {
    schema_version: 1,
    offsets: notes.map(({ offset }) => offset - first),
    ...(fired.length > 0 && { fired: Object.fromEntries(fired) }),
    ...(free.length > 0 && { free: free.length === notes.length ? true : free }),
  }
  return {
    topic,
    partition: input.partition % partitions,
    key: Buffer.from(`${pendingKey(input)}${id}`),
    value: notes.length === 0 ? null : Buffer.from(JSON.stringify(value)),
    headers: [],
    timestamp: String(now),
  }
}

/** A rule that fired for more indicators of an event is noted without them: it has fired for all. */
const maxPerRule = 16
/** A rule, of a batch with the index of the member. */
const ruleIn = /^(?:\d+ )?\S+/

const boundedFirings = (firings: readonly string[]): readonly string[] => {
  if (firings.length <= maxPerRule) return firings
  const ofRule = new Map<string, string[]>()
  for (const firing of firings) {
    const [rule] = ruleIn.exec(firing) ?? [firing]
    const others = ofRule.get(rule)
    if (others) others.push(firing)
    else ofRule.set(rule, [firing])
  }
  return [...ofRule].flatMap(([rule, all]) => (all.length > maxPerRule ? [rule] : all))
}

/**
 * All blocks of an input partition, oldest first. Of more
 * than `max` notes the oldest blocks are left out, and `dropped` is called with how many notes they had.
 */
export const readBlocks = async (
  eachRecord: (use: (record: Pick<WireRecord, 'key' | 'value'>) => void) => Promise<void>,
  input: InputPartition,
  { max, dropped }: { readonly max: number; readonly dropped: (notes: number) => void },
): Promise<readonly Block[]> => {
  const start = pendingKey(input)
  const blocks = new Map<string, Block>()
  let notes = 0
  let left = 0
  const remove = (name: string): number => {
    const count = blocks.get(name)?.notes.length ?? 0
    blocks.delete(name)
    notes -= count
    return count
  }
  const take = ({ key, value }: Pick<WireRecord, 'key' | 'value'>): void => {
    const name = key?.toString() ?? ''
    if (!name.startsWith(start)) return
    remove(name)
    const block = value && blockOf(name.slice(start.length), value)
    if (!block) return
    blocks.set(name, block)
    notes += block.notes.length
    for (const oldest of blocks.keys()) {
      if (notes <= max) break
      left += remove(oldest)
    }
  }
  await eachRecord(take)
  if (left > 0) dropped(left)
  return [...blocks.values()]
}

/** An offset, a time and the id of a topic. */
const idForm = /^\d{1,16}(?:\/\d{1,16}(?:\/[^/]{1,64})?)?$/
/** Of a rule, and of the member that it fired for. */
const maxRuleLength = 512

/** Undefined for what is not ours or not readable: the topic is only as trustworthy as those who may write to it. */
const blockOf = (id: string, value: Buffer): Block | undefined => {
  const first = Number.parseInt(id, 10)
  const stored = idForm.test(id) ? parseObject(value) : undefined
  if (!Number.isSafeInteger(first) || stored?.schema_version !== 1 || !Array.isArray(stored.offsets)) return undefined
  const fired = (stored.fired ?? {}) as Readonly<Record<string, unknown>>
  const free = new Set<unknown>(Array.isArray(stored.free) ? stored.free : [])
  // Ascending, so that each offset is noted once.
  let before = -1
  const notes = stored.offsets.flatMap((distance: unknown): DueNote[] => {
    if (typeof distance !== 'number' || !Number.isSafeInteger(first + distance) || distance <= before) return []
    if (!Number.isInteger(distance)) return []
    before = distance
    const rules = fired[distance]
    const note = { offset: first + distance, fired: Array.isArray(rules) ? rules.filter(isRule) : none }
    return [stored.free === true || free.has(distance) ? { ...note, isFree: true } : note]
  })
  return { id, notes }
}

/** What a block notes. */
export const notesIn = (id: string, value: Buffer): readonly DueNote[] => blockOf(id, value)?.notes ?? []

const none: readonly string[] = []
const isRule = (rule: unknown): rule is string => typeof rule === 'string' && rule.length <= maxRuleLength
