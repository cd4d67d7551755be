// The notes of a partition's events that wait for an answer as records of the state topic: a block per chunk.
import { splitByCountAndBytes } from '../delivery/deliver.js'
import { parseObject } from '../base/json-object.js'
import type { Block, DueNote } from './pending.js'
import type { StateRecord } from './state-record.js'

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
export const blockValue = (
  { id, notes }: Block,
  /** Called with how much of what had fired was too much. */
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

type Blocks = {
  /** False for what cannot be ours. */
  readonly apply: (record: Pick<StateRecord, 'id' | 'value' | 'version'>) => boolean
  /** Oldest first. */
  readonly all: () => readonly StoredBlock[]
}

type StoredBlock = Block & Pick<StateRecord, 'version'>

/** Folds the records of an input partition. Of more than `max` notes the oldest blocks are left out, and `all` calls `dropped` with how many notes they had. */
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
      // It was rewritten since.
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

/** An offset, a time and the id of a topic. */
const idForm = /^\d{1,16}(?:\/\d{1,16}(?:\/[^/]{1,64})?)?$/
/** Of a rule, and of the member that it fired for. */
const maxRuleLength = 512

/** Undefined for what is not ours or not readable. */
const blockOf = (id: string, value: Buffer): Block | undefined => {
  const first = Number.parseInt(id, 10)
  const stored = idForm.test(id) ? parseObject(value) : undefined
  if (!Number.isSafeInteger(first) || !isKnown(stored?.schema_version)) return undefined
  if (!Array.isArray(stored?.offsets)) return undefined
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

const isKnown = (version: unknown): boolean => version === 1 || version === 2

const none: readonly string[] = []
const isRule = (rule: unknown): rule is string => typeof rule === 'string' && rule.length <= maxRuleLength
