// Stores the notes of events that wait for an answer as records of the state topic, one block per chunk.
import { splitByCountAndBytes } from '../delivery/deliver.js'
import { parseObject } from '../base/json-object.js'
import type { Block, DueNote } from './pending.js'
import type { StateRecord } from './state-record.js'

/**
 * Contains the delivery time, so that a second delivery of an event cannot overwrite its note: the event may be pending in the first copy
 * and complete in the second, and consumers may keep either. Also contains the topic id, if the brokers have one, because an offset means
 * nothing in a later topic of the same name.
 */
export const blockId = ([first]: readonly DueNote[], now: number, topicId: string | undefined): string =>
  `${first?.offset ?? 0}/${now}${topicId === undefined ? '' : `/${topicId}`}`

/** Whether the notes of a block refer to the topic with this id. */
export const isAbout = ({ id }: Pick<Block, 'id'>, topicId: string | undefined): boolean => {
  const [, , noted] = id.split('/')
  return noted === undefined || topicId === undefined || noted === topicId
}

/** Limit on the stored firings of one block, far below the default record limit of a topic. */
const maxFiredBytes = 131_072

const bytesOf = (firings: readonly string[]): number =>
  firings.reduce((sum, firing) => sum + Buffer.byteLength(firing) + 4, 16)

/** Splits the notes of a chunk into blocks of bounded size. */
export const splitNotes = <Note extends Pick<DueNote, 'fired'>>(
  notes: readonly Note[],
): readonly (readonly Note[])[] => {
  const bytes = ({ fired }: Note): number => bytesOf(boundedFirings(fired))
  if (notes.length < 2 || notes.reduce((sum, note) => sum + note.fired.length, 0) <= maxPerRule) return [notes]
  return splitByCountAndBytes(notes, bytes, { count: Infinity, bytes: maxFiredBytes })
}

/** Writes each offset as the distance from the first one, which begins the block's id. A block without notes becomes a tombstone. */
export const blockValue = (
  { id, notes }: Block,
  /** Called with the number of firings that did not fit. */
  left: (firings: number) => void = () => undefined,
): Buffer | null => {
  if (notes.length === 0) return null
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
    schema_version: 2,
    offsets: notes.map(({ offset }) => offset - first),
    ...(fired.length > 0 && { fired: Object.fromEntries(fired) }),
    ...(free.length > 0 && { free: free.length === notes.length ? true : free }),
  }
  return Buffer.from(JSON.stringify(value))
}

/** A rule that fired for more indicators of an event is stored without them, which means all indicators. */
const maxPerRule = 16
/** The rule of a firing; for a batch, preceded by the index of the member. */
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

type Blocks = {
  /** False for a record that cannot be ours. */
  readonly apply: (record: Pick<StateRecord, 'id' | 'value' | 'version'>) => boolean
  /** Oldest first. */
  readonly all: () => readonly StoredBlock[]
}

type StoredBlock = Block & Pick<StateRecord, 'version'>

/**
 * Folds the records of an input partition into blocks. Beyond `max` notes it drops the oldest blocks, and `all` reports the number of
 * lost notes through `dropped`.
 */
export const createBlocks = ({
  max,
  dropped,
}: {
  readonly max: number
  readonly dropped: (notes: number) => void
}): Blocks => {
  const blocks = new Map<string, StoredBlock>()
  let notes = 0
  let left = 0
  const remove = (name: string): number => {
    const count = blocks.get(name)?.notes.length ?? 0
    blocks.delete(name)
    notes -= count
    return count
  }
  return {
    apply: ({ id, value, version }) => {
      const name = `${version}/${id}`
      remove(name)
      if (!value) return true
      const block = blockOf(id, value)
      if (!block) return false
      // The version 2 record replaces the version 1 record of the same block.
      if (version === 2) remove(`1/${id}`)
      blocks.set(name, { ...block, version })
      notes += block.notes.length
      for (const oldest of blocks.keys()) {
        if (notes <= max) break
        left += remove(oldest)
      }
      return true
    },
    all: () => {
      if (left > 0) dropped(left)
      return [...blocks.values()]
    },
  }
}

/** An offset, a time and a topic id. */
const idForm = /^\d{1,16}(?:\/\d{1,16}(?:\/[^/]{1,64})?)?$/
/** Limit on the length of a firing. */
const maxRuleLength = 512

/** Undefined for a record that is not ours or not readable. */
const blockOf = (id: string, value: Buffer): Block | undefined => {
  const first = Number.parseInt(id, 10)
  const stored = idForm.test(id) ? parseObject(value) : undefined
  if (!Number.isSafeInteger(first) || !isKnown(stored?.schema_version)) return undefined
  if (!Array.isArray(stored?.offsets)) return undefined
  const fired = (stored.fired ?? {}) as Readonly<Record<string, unknown>>
  const free = new Set<unknown>(Array.isArray(stored.free) ? stored.free : [])
  // Accept ascending offsets only, so that each offset has one note.
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

const isKnown = (version: unknown): boolean => version === 1 || version === 2

const none: readonly string[] = []
const isRule = (rule: unknown): rule is string => typeof rule === 'string' && rule.length <= maxRuleLength
