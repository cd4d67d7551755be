// A ruling: the judgement of facts for one role, before source and time are added.
import { levels, type Level, type Listing } from './finding.js'
import type { Row } from './judgement-table.js'
import type { Reason } from './reason.js'

export type Ruling = {
  readonly level: Level
  readonly reason?: Reason
  readonly score?: number
  readonly because: string
  readonly feed?: string
  readonly entry?: string
  readonly listing?: Listing
  /** Epoch milliseconds from which the same facts may be judged differently. */
  readonly until: number
}

/** The judgement so far; the worst row wins. */
export type Weight = { level: Level; score: number | undefined; readonly words: string[]; until: number }

export const nothingYet = (): Weight => ({ level: 'unknown', score: undefined, words: [], until: Infinity })

const severity = (level: Level): number => levels.length - levels.indexOf(level)

export const worse = (level: Level, score: number | undefined, than: Weight): boolean =>
  severity(level) > severity(than.level) || (level === than.level && (score ?? -1) > (than.score ?? -1))

export const apply = (row: Row, weight: Weight): void => {
  if (row.level === 'flag' || !worse(row.level, row.score, weight)) return
  weight.level = row.level
  weight.score = row.score
}

/** The ruling expires at this moment if it is in the future. */
export const changesAt = (moment: number, now: number, weight: Weight): void => {
  if (moment > now && moment < weight.until) weight.until = moment
}

export const dayMs = 86_400_000

export const countOf = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`
