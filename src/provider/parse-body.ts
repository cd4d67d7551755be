// Parses the bytes of an answer into an object of bounded depth, and redacts the key.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { Redact } from './redact.js'

type Parsed =
  | { readonly body: AnyObject }
  /** `isForged`: valid JSON in a form that no honest server writes. */
  | { readonly problem: string; readonly isForged?: true; readonly isPage?: true }

export const parseBody = (bytes: Uint8Array, maxDepth: number, redact: Redact): Parsed => {
  const sent = new TextDecoder().decode(bytes)
  const text = redact.text(sent)
  const members = countMembers(text, maxDepth)
  if (members === undefined) return { problem: `is nested deeper than ${maxDepth}`, isForged: true }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return sent.trimStart().startsWith('<') ? { problem: 'is a web page', isPage: true } : { problem: 'is not JSON' }
  }
  if (!isObject(value)) return { problem: 'is not a JSON object' }
  // Duplicate names are refused, because parsers disagree on which one counts.
  if (membersOf(value) < members) return { problem: 'has two members of the same name', isForged: true }
  // Escapes may hide the key from the redaction of the raw text.
  return { body: sent.includes('\\') ? (redact.deep(value) as AnyObject) : value }
}

/** Counts the members of all objects in the text; undefined if it is nested too deeply. */
const countMembers = (text: string, maxDepth: number): number | undefined => {
  let depth = 0
  let members = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quoted) {
      if (code === 92) i++
      else if (code === 34) quoted = false
    } else if (code === 34) quoted = true
    else if (code === 58) members++
    else if (code === 123 || code === 91) {
      if (++depth > maxDepth) return undefined
    } else if (code === 125 || code === 93) depth--
  }
  return members
}

const membersOf = (value: object): number => {
  const inside = Object.values(value) as readonly unknown[]
  let members = Array.isArray(value) ? 0 : inside.length
  for (const one of inside) if (typeof one === 'object' && one !== null) members += membersOf(one)
  return members
}
