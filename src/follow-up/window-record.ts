// Converts alert windows to records of the state topic and back: whole windows, and the matches that a chunk adds to some.
import { createHash } from 'node:crypto'
import { isObject, parseObject } from '../base/json-object.js'
import { maxNames, peerDueIn, type Held, type Window } from '../alerts/window.js'
import { ruleLevels, type RuleLevel } from '../alerts/sigma/rule.js'
import type { StateRecord } from './state-record.js'

type Named = Pick<Window, 'group' | 'windowMs' | 'number'>

/** Cached, because each chunk with a match names the windows that it counts in. */
const ids = new WeakMap<Named, string>()

/** Identical for every window with this group and time. */
export const windowId = (window: Named): string => {
  const known = ids.get(window)
  if (known !== undefined) return known
  const { group, windowMs, number } = window
  const id = createHash('sha256').update(`${group}\0${windowMs}\0${number}`).digest('hex').slice(0, 32)
  ids.set(window, id)
  return id
}

const maxText = 256
const maxTags = 64
const maxDescription = 2_048
/** Beyond this size a whole window keeps fewer names. */
const maxHeldBytes = 65_536
const fewNames = 32

/** `topicId` is the topic that the offsets belong to. */
export const windowValue = (window: Window, topicId: string | undefined): Buffer => {
  const { group, windowMs, number, groupId, rule, value, peer, origin, shown, upTo, held, matchedAt } = window
  const { id, title, level, tags, description } = rule
  const clipped = {
    id,
    title: title.slice(0, maxText),
    level,
    tags: tags.slice(0, maxTags).map((tag) => tag.slice(0, maxText)),
    ...(description !== undefined && { description: description.slice(0, maxDescription) }),
  }
  const start = { schema_version: 2, group, window_ms: windowMs, number, group_id: groupId, rule: clipped }
  const rest = {
    value,
    peer,
    origin,
    shown,
    ...(upTo >= 0 && { up_to: upTo }),
    matched_at: matchedAt,
    topic_id: topicId,
  }
  const bytesWith = (max: number): Buffer =>
    Buffer.from(JSON.stringify({ ...start, ...rest, ...(held && { held: heldValue(held, max) }) }))
  const whole = bytesWith(maxNames)
  return whole.length > maxHeldBytes ? bytesWith(fewNames) : whole
}

const heldValue = ({ count, first, last, users, sources, peers, peerDueAt }: Held, max: number): object => ({
  count,
  first: [first.origin, first.time],
  last: [last.origin, last.time],
  ...(users.size > 0 && { users: [...users].slice(0, max) }),
  ...(sources.size > 0 && { sources: [...sources].slice(0, max) }),
  ...(peers.size > 0 && { peers: [...peers].slice(0, max) }),
  ...(Number.isFinite(peerDueAt) && { peer_due_at: peerDueAt }),
})

/** The matches that a write adds to a window. */
type Matches = { readonly window: Window; readonly more: Held }

/** Windows per record: thousands of groups may match in one chunk. */
const maxPerRecord = 500

/** Splits the matches of a chunk into one part per record. */
export const splitMatches = (all: readonly Matches[]): readonly (readonly Matches[])[] =>
  Array.from({ length: Math.ceil(all.length / maxPerRecord) }, (_, nth) =>
    all.slice(nth * maxPerRecord, (nth + 1) * maxPerRecord),
  )

/** Writes offsets and times as distances from the first ones, and only the names that are new to the window. */
export const matchesValue = (matches: readonly Matches[], topicId: string | undefined): Buffer => {
  const offset = Math.min(...matches.map(({ more }) => placeIn(more.first.origin).offset))
  const time = Math.min(...matches.map(({ more }) => Math.min(more.first.time, more.last.time)))
  const placed = ({ origin, time: at }: Held['first']): readonly (number | string)[] => {
    const place = placeIn(origin)
    return [place.offset - offset, at - time, ...(place.member === undefined ? [] : [place.member])]
  }
  const windows = matches.map(({ window, more }) => {
    const { held } = window
    const fresh = (names: ReadonlySet<string>, known: ReadonlySet<string> | undefined): readonly string[] =>
      known ? [...names].filter((name) => !known.has(name)) : [...names]
    const [users, sources, peers] = [
      fresh(more.users, held?.users),
      fresh(more.sources, held?.sources),
      fresh(more.peers, held?.peers),
    ]
    const isNewPeer = Number.isFinite(more.peerDueAt)
    const names = {
      ...(users.length > 0 && { u: users }),
      ...(sources.length > 0 && { s: sources }),
      ...(peers.length > 0 && { p: peers }),
      ...(isNewPeer && { n: 1 }),
    }
    const first = placed(more.first)
    return [
      windowId(window).slice(0, shortId),
      more.count,
      first,
      ...(more.count > 1 ? [placed(more.last)] : [0]),
      ...(Object.keys(names).length > 0 ? [names] : []),
    ]
  })
  return Buffer.from(JSON.stringify({ schema_version: 2, offset, time, topic_id: topicId, windows }))
}

const shortId = 16

const placeIn = (origin: string): { readonly offset: number; readonly member: number | undefined } => {
  const [offset = '', member] = origin.slice(origin.lastIndexOf('/') + 1).split('#')
  return { offset: Number(offset), member: member === undefined ? undefined : Number(member) }
}

/** A window, and the id of the topic that its offsets belong to. */
export type StoredWindow = { readonly window: Window; topicId: string | undefined }

export const readWindow = ({ id, value, at }: Pick<StateRecord, 'id' | 'value' | 'at'>): StoredWindow | undefined => {
  const stored = value && parseObject(value)
  if (!stored || stored.schema_version !== 2) return undefined
  const { group, window_ms: windowMs, number, group_id: groupId, value: about, peer, origin, shown } = stored
  const { up_to: upTo = -1, matched_at: matchedAt = at } = stored
  const rule = ruleIn(stored.rule)
  const held = stored.held === undefined ? undefined : heldIn(stored.held)
  if (!rule || (stored.held !== undefined && !held) || !isShown(shown)) return undefined
  if (![group, groupId, about, peer, origin].every((text) => isText(text, 2 * maxText))) return undefined
  if (!isWhole(windowMs) || windowMs < 1 || !isWhole(number) || !isWhole(matchedAt)) return undefined
  if (upTo !== -1 && !isWhole(upTo)) return undefined
  if (windowId({ group: group as string, windowMs, number }) !== id) return undefined
  const window: Window = {
    group: group as string,
    windowMs,
    number,
    groupId: groupId as string,
    rule,
    value: about as string,
    peer: peer as string,
    origin: origin as string,
    shown,
    upTo,
    held,
    matchedAt,
  }
  return { window, topicId: topicIdIn(stored.topic_id) }
}

const topicIdIn = (stored: unknown): string | undefined => (isText(stored, 64) ? stored : undefined)

const isShown = (stored: unknown): stored is Window['shown'] =>
  isObject(stored) &&
  Object.entries(stored).every(([name, value]) => {
    if (name === 'score') return typeof value === 'number'
    if (name === 'categories') return areTexts(value, maxTags)
    if (name === 'as')
      return isObject(value) && Object.values(value).every((one) => isText(one, maxText) || isWhole(one))
    return isText(value, maxDescription)
  })

const ruleIn = (stored: unknown): Window['rule'] | undefined => {
  if (!isObject(stored)) return undefined
  const { id, title, level, tags, description } = stored
  if (!isText(id, maxText) || !isText(title, maxText) || !ruleLevels.includes(level as RuleLevel)) return undefined
  if (!areTexts(tags, maxTags) || (description !== undefined && !isText(description, maxDescription))) return undefined
  return { id, title, level: level as RuleLevel, tags, ...(description !== undefined && { description }) }
}

const heldIn = (stored: unknown): Held | undefined => {
  if (!isObject(stored)) return undefined
  const { count, first, last, users = [], sources = [], peers = [], peer_due_at: peerDueAt = Infinity } = stored
  const [from, to] = [spokenPlace(first), spokenPlace(last)]
  if (!isCount(count) || !from || !to || typeof peerDueAt !== 'number') return undefined
  if (!areTexts(users, maxNames) || !areTexts(sources, maxNames) || !areTexts(peers, maxNames)) return undefined
  return {
    count,
    first: from,
    last: to,
    users: new Set(users),
    sources: new Set(sources),
    peers: new Set(peers),
    peerDueAt,
  }
}

const spokenPlace = (stored: unknown): Held['first'] | undefined => {
  const [origin, time] = Array.isArray(stored) ? (stored as unknown[]) : []
  return isText(origin, 2 * maxText) && Number.isSafeInteger(time) ? { origin, time: time as number } : undefined
}

type StoredMatches = {
  readonly topicId: string | undefined
  readonly windows: ReadonlyMap<string, { readonly upTo: number; readonly more: Held }>
}

/** Reads the matches in a record, by shortened window id; undefined if the record cannot be ours. */
export const readMatches = (
  { value, at }: Pick<StateRecord, 'value' | 'at'>,
  /** `topic/partition` */
  name: string,
): StoredMatches | undefined => {
  const stored = value && parseObject(value)
  if (!stored || stored.schema_version !== 2) return undefined
  const { offset, time, windows } = stored
  if (!isWhole(offset) || !Number.isSafeInteger(time) || !Array.isArray(windows)) return undefined
  if (windows.length > maxPerRecord) return undefined
  const place = (distance: unknown): (Held['first'] & { readonly offset: number }) | undefined => {
    const [more, later, member] = Array.isArray(distance) ? (distance as unknown[]) : []
    if (!isWhole(more) || !isWhole(later) || (member !== undefined && !isWhole(member))) return undefined
    const origin = `${name}/${offset + more}${member === undefined ? '' : `#${member}`}`
    return { origin, time: (time as number) + later, offset: offset + more }
  }
  const found = new Map<string, { readonly upTo: number; readonly more: Held }>()
  for (const one of windows as unknown[]) {
    const [id, count, from, to, names = {}] = Array.isArray(one) ? (one as unknown[]) : []
    const first = place(from)
    const last = to === 0 ? first : place(to)
    if (!isText(id, shortId) || !isCount(count) || !first || !last || !isObject(names)) return undefined
    const { u = [], s = [], p = [], n } = names
    if (!areTexts(u, maxNames) || !areTexts(s, maxNames) || !areTexts(p, maxNames)) return undefined
    found.set(id, {
      upTo: last.offset,
      more: {
        count,
        first: { origin: first.origin, time: first.time },
        last: { origin: last.origin, time: last.time },
        users: new Set(u),
        sources: new Set(s),
        peers: new Set(p),
        peerDueAt: n === 1 ? at + peerDueIn : Infinity,
      },
    })
  }
  return { topicId: topicIdIn(stored.topic_id), windows: found }
}

/** The shortened id that match records use. */
export const shortIdOf = (window: Window): string => windowId(window).slice(0, shortId)

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0
const isCount = (value: unknown): value is number => isWhole(value) && value > 0 && value <= 0xffff_ffff
const isText = (value: unknown, max: number): value is string => typeof value === 'string' && value.length <= max
const areTexts = (value: unknown, max: number): value is readonly string[] =>
  Array.isArray(value) && value.length <= max && value.every((one) => isText(one, maxText))
