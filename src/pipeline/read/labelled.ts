// Reads lists of small objects that name a thing and then give it: `[{"name":"clientIp","value":"192.0.2.1"}]`.
import type { Place, Places } from './places.js'

/** What a member is to its object: the name of what the object gives, a kind that may stand for a name, or the thing itself. */
export type Part = 'label' | 'kind' | 'given' | undefined

const parts = new Map<string, Part>([
  ['name', 'label'],
  ['key', 'label'],
  ['@name', 'label'],
  ['field', 'label'],
  ['label', 'label'],
  ['fieldname', 'label'],
  ['parameter', 'label'],
  ['type', 'kind'],
  ['value', 'given'],
  ['#text', 'given'],
  ['stringvalue', 'given'],
  ['val', 'given'],
  ['_value', 'given'],
  ['fieldvalue', 'given'],
])

export const partOf = (key: string): Part => (key.length > 12 ? undefined : parts.get(key.toLowerCase()))

const label = /^@?[A-Za-z][\w .:()-]{1,47}$/
export const longestLabel = 48

/** The place of what is given under that name, as if it were a member of that name; nothing where it is no name. */
export const placeOfLabel = (places: Places, parent: Place, name: string): Place | undefined => {
  if (name === '') return undefined
  const known = parent.children.get(name)
  if (known !== undefined) return known
  return label.test(name) && !name.includes('.') ? places.find(parent, name) : undefined
}

/** The same for a name that begins there in bytes; null where it has escapes, which is for a parser. */
export const placeAtLabel = (places: Places, parent: Place, bytes: Buffer, from: number): Place | null | undefined => {
  const end = bytes.indexOf(0x22, from)
  const name = end - from > longestLabel ? '' : bytes.toString('latin1', from, end)
  return name.includes('\\') ? null : placeOfLabel(places, parent, name)
}
