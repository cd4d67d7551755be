// Bytes of an answer become an object, within bounds of size and depth, with the key taken out.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { Redact } from './redact.js'

type Parsed =
  { readonly body: AnyObject } | { readonly problem: string; readonly isTooDeep?: true; readonly isPage?: true }

export const parseBody = (bytes: Uint8Array, maxDepth: number, redact: Redact): Parsed => {
  const sent = new TextDecoder().decode(bytes)
  if (depthExceeds(sent, maxDepth)) return { problem: `is nested deeper than ${maxDepth}`, isTooDeep: true }
  let value: unknown
  try {
    value = JSON.parse(redact.text(sent))
  } catch {
    return sent.trimStart().startsWith('<') ? { problem: 'is a web page', isPage: true } : { problem: 'is not JSON' }
  }
  if (!isObject(value)) return { problem: 'is not a JSON object' }
  // Escapes may spell what the text as such does not show.
  return { body: sent.includes('\\') ? (redact.deep(value) as AnyObject) : value }
}

/** Counted on the text, before anything walks the value. */
const depthExceeds = (text: string, maxDepth: number): boolean => {
  let depth = 0
  let quoted = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (quoted) {
      if (code === 92) i++
      else if (code === 34) quoted = false
    } else if (code === 34) quoted = true
    else if (code === 123 || code === 91) {
      if (++depth > maxDepth) return true
    } else if (code === 125 || code === 93) depth--
  }
  return false
}
