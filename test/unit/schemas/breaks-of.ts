// What a changed schema breaks for those who rely on the released one: on what we write, or on what they may write.
import { membersOf, type Member, type Members } from './schema-members.js'

/** `written`: messages that others read. `read`: files that users write. */
export type Direction = 'written' | 'read'

type Schema = Parameters<typeof membersOf>[0]

/** Every break as `path: what`, in the order of the released schema; additions are none. */
export const breaksOf = (direction: Direction, released: Schema, current: Schema): readonly string[] => {
  const before = membersOf(released)
  const now = membersOf(current)
  const added = direction === 'read' ? [...now].filter(([path]) => !before.has(path)) : []
  return [
    ...[...before].flatMap(([path, member]) => changesOf(direction, member, now.get(path)).map(sayAt(path))),
    ...added.flatMap(([path, member]) => demandsOf(member, before).map(sayAt(path))),
  ]
}

const sayAt =
  (path: string) =>
  (what: string): string =>
    `${path === '' ? 'the whole' : path}: ${what}`

const changesOf = (direction: Direction, before: Member, now: Member | undefined): readonly string[] => {
  // That a member had to be absent was no promise: it may be added.
  if (before.types?.length === 0 && (direction === 'written' || now === undefined)) return []
  if (now === undefined) return ['is gone']
  const changes = direction === 'written' ? writtenOtherwise(before, now) : refusedSince(before, now)
  return changes.filter((what) => what !== undefined)
}

/** Those who read it may rely on everything that the released schema says. */
const writtenOtherwise = (before: Member, now: Member): readonly (string | undefined)[] => [
  beyond('type', typesOf(now), typesOf(before)),
  beyond('value', now.values, before.mayGrow ? undefined : before.values),
  before.values && missing('value', before.values, now.values),
  before.required && !now.required ? 'is no longer always there' : undefined,
  ...[...before.limits.keys()].map((name) =>
    isWithin(name, now.limits.get(name), before.limits.get(name)) ? undefined : `${name} is loosened`,
  ),
  ...[...before.forms].map(([name, form]) => (now.forms.get(name) === form ? undefined : `${name} is another`)),
]

/** Those who write it may go on with everything that the released schema allowed, and it means the same. */
const refusedSince = (before: Member, now: Member): readonly (string | undefined)[] => {
  const accepted = (keyword: string): boolean => accepts(before, typeOfKeyword(keyword))
  return [
    beyond('type', typesOf(before), typesOf(now), 'is refused'),
    beyond('value', before.values, now.values, 'is refused'),
    ...[...now.forbidden].filter((value) => !before.forbidden.has(value)).map((value) => `value ${value} is refused`),
    now.required && !before.required && now.default === undefined ? 'is required' : undefined,
    before.default === now.default ? undefined : 'has another default',
    ...[...now.limits.keys()].map((name) =>
      !accepted(name) || isWithin(name, before.limits.get(name), now.limits.get(name))
        ? undefined
        : `${name} is tightened`,
    ),
    ...[...now.forms].map(([name, form]) =>
      !accepted(name) || before.forms.get(name) === form ? undefined : `${name} is another`,
    ),
    now.isClosed && !before.isClosed && accepts(before, 'object') ? 'members of any name are refused' : undefined,
  ]
}

/** What is new asks nothing of files that were written before it. */
const demandsOf = ({ owner, isCondition, required, default: given }: Member, before: Members): readonly string[] => {
  if (owner === undefined || !before.has(owner)) return []
  if (isCondition) return ['is a new condition']
  return required && given === undefined ? ['is required'] : []
}

/** Which of `some` are not among `all`; none given means that every one is. */
const beyond = (
  kind: 'type' | 'value',
  some: readonly string[] | undefined,
  all: readonly string[] | undefined,
  what = 'is new',
): string | undefined => {
  if (all === undefined) return undefined
  if (some === undefined) return `any ${kind} ${what}`
  const others = some.filter((one) => !all.includes(one) && !(one === 'integer' && all.includes('number')))
  return others.length === 0 ? undefined : `${kind} ${others.join(', ')} ${what}`
}

const missing = (kind: string, before: readonly string[], now: readonly string[] | undefined): string | undefined => {
  const gone = before.filter((one) => now?.includes(one) === false)
  return gone.length === 0 ? undefined : `${kind} ${gone.join(', ')} is gone`
}

/** A list of values has their types, also where the schema does not say so. */
const typesOf = ({ types, values }: Member): readonly string[] | undefined =>
  types ?? (values && [...new Set(values.map(typeOfValue))])

const typeOfValue = (json: string): string => {
  const value: unknown = JSON.parse(json)
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

const accepts = (member: Member, type: string): boolean => {
  const types = typesOf(member)
  return types === undefined || types.includes(type) || (type === 'number' && types.includes('integer'))
}

/** The type that a keyword is about; it says nothing on values of others. */
const typeOfKeyword = (keyword: string): string => {
  if (/Items$/.test(keyword)) return 'array'
  if (/Properties$/.test(keyword)) return 'object'
  return /Length$|^pattern$|^format$/.test(keyword) ? 'string' : 'number'
}

/** Whether what keeps to the limit `inner` keeps to `outer` too; none given is none. */
const isWithin = (keyword: string, inner: number | undefined, outer: number | undefined): boolean =>
  /^max|Maximum$/.test(keyword)
    ? (inner ?? Infinity) <= (outer ?? Infinity)
    : (inner ?? -Infinity) >= (outer ?? -Infinity)
