// What an earlier annotation said of an event, as much of it as judging the event again needs.
import type { Level } from './finding.js'

export type FormerVerdict = {
  readonly level: Level
  /** Tells the indicator that decided from the others of its event; 0 where the annotation does not name it. */
  readonly decidedBy: number
}

/** 28 bits, so that a verdict fits into four bytes beside it. Never 0. */
export const markOf = (value: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < value.length; at++) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193)
  return hash >>> 4 || 1
}
