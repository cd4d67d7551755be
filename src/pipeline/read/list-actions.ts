// Shows a list of words, in a field that tells the action, to whoever finds the action, before its elements are read.
import type { Place } from './places.js'
import type { Reader } from './reader.js'

/** Whether the list could be read; not where another one is inside it, or a bracket in a string. */
export const seeList = (reader: Reader, bytes: Buffer, open: number, place: Place): boolean => {
  const close = bytes.indexOf(0x5d, open)
  if (close < 0) return false
  try {
    reader.action.see(place.actionRank, place.name, JSON.parse(bytes.toString('utf8', open, close + 1)))
    return true
  } catch {
    // No JSON: a parser has to decide.
    return false
  }
}
