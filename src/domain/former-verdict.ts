// The former verdict of an event, as a replay needs it.
import type { Level } from './finding.js'

export type FormerVerdict = {
  readonly level: Level
  /** A hash of the deciding indicator; 0 if the annotation does not name it. */
  readonly decidedBy: number
}

/** 28 bits, so that it fits into four bytes with the verdict. Never 0. */
export const markOf = (value: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < value.length; at++) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193)
  return hash >>> 4 || 1
}
