// Adds ECS or OCSF members to an event without creating duplicate keys.
import type { Edit } from './edit.js'
import { jsonItemsOf, type JsonItem } from './json-items.js'

/** A list is appended to an existing one; an existing scalar stays. */
export type Addition = {
  readonly path: readonly [string] | readonly [string, string]
  /** JSON texts. */
  readonly items?: readonly string[]
  readonly scalar?: string
}

const isObject = (bytes: Buffer, item: JsonItem): boolean => bytes[item.valueStart] === 0x7b
const isList = (bytes: Buffer, item: JsonItem): boolean => bytes[item.valueStart] === 0x5b

const textOf = ({ items, scalar }: Addition): string =>
  items === undefined ? (scalar ?? 'null') : `[${items.join(',')}]`

/** The existing values, normalised as JSON. */
const present = (bytes: Buffer, items: readonly JsonItem[]): ReadonlySet<string> =>
  new Set(items.map((item) => JSON.stringify(JSON.parse(bytes.toString('utf8', item.valueStart, item.valueEnd)))))

const extend = (bytes: Buffer, item: JsonItem, added: readonly string[]): Edit[] => {
  if (isList(bytes, item)) {
    const { items } = jsonItemsOf(bytes, item.valueStart)
    const there = present(bytes, items)
    const fresh = added.filter((text) => !there.has(text)).join(',')
    const at = item.valueEnd - 1
    return fresh === '' ? [] : [{ at, until: at, text: items.length === 0 ? fresh : `,${fresh}` }]
  }
  const there = present(bytes, [item])
  const fresh = added.filter((text) => !there.has(text)).join(',')
  // A single value becomes the first element of a list.
  return fresh === ''
    ? []
    : [
        { at: item.valueStart, until: item.valueStart, text: '[' },
        { at: item.valueEnd, until: item.valueEnd, text: `,${fresh}]` },
      ]
}

type Placed = {
  readonly edits: readonly Edit[]
  /** New top-level members, as JSON. */ readonly members: string
}

/** Of duplicate members the last one counts, as for most readers. */
export const placeAdditions = (bytes: Buffer, top: readonly JsonItem[], additions: readonly Addition[]): Placed => {
  const named = new Map(top.map((item) => [item.name, item]))
  const edits: Edit[] = []
  const inside = new Map<JsonItem, string[]>()
  const fresh = new Map<string, string[]>()
  const put = <Key>(map: Map<Key, string[]>, key: Key, text: string): void => {
    const list = map.get(key)
    if (list === undefined) map.set(key, [text])
    else list.push(text)
  }
  let members = ''
  for (const addition of additions) {
    const [parentName, childName] = addition.path
    const parent = named.get(parentName)
    const found = childName === undefined ? parent : named.get(`${parentName}.${childName}`)
    if (found !== undefined) edits.push(...extend(bytes, found, addition.items ?? []))
    else if (childName === undefined) members += `,"${parentName}":${textOf(addition)}`
    else if (parent === undefined) put(fresh, parentName, `"${childName}":${textOf(addition)}`)
    else if (isObject(bytes, parent)) {
      const child = jsonItemsOf(bytes, parent.valueStart, ({ name }) => name === childName).items.at(-1)
      if (child === undefined) put(inside, parent, `"${childName}":${textOf(addition)}`)
      else edits.push(...extend(bytes, child, addition.items ?? []))
    }
    // If the parent is not an object there is no place for the addition.
  }
  for (const [parent, texts] of inside) {
    const at = parent.valueEnd - 1
    const empty = jsonItemsOf(bytes, parent.valueStart, () => false).last === undefined
    edits.push({ at, until: at, text: (empty ? '' : ',') + texts.join(',') })
  }
  for (const [name, texts] of fresh) members += `,"${name}":{${texts.join(',')}}`
  return { edits, members }
}
