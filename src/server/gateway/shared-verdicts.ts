// Shared verdicts in a gateway: answers from verdicts of other processes without a call, and shares new ones once.
import type { SharedVerdicts } from '../../bulk/accept-bulk.js'
import type { Finding } from '../../domain/finding.js'
import { keyOf, ownIndicator, type Indicator } from '../../domain/indicator.js'
import { worstLevel } from '../../domain/judge.js'
import type { JudgementTable } from '../../domain/judgement-table.js'
import { createMemory, type MemorySettings } from '../../lookup/memory/memory.js'
import { createIsAccused } from '../../provider/is-accused.js'
import { meetsSettings } from '../../provider/meets-settings.js'

type Parts = {
  readonly table: JudgementTable
  readonly now: () => number
  /** Shares a verdict, without waiting. */
  readonly paid: (indicator: Indicator, finding: Finding) => void
}

export const createSharedVerdicts = (
  settings: MemorySettings,
  { table, now, paid }: Parts,
): SharedVerdicts & {
  readonly learn: (indicator: Indicator, finding: Finding, isJustNow: boolean) => boolean
  readonly isFull: () => boolean
  readonly touch: (indicator: Indicator) => void
} => {
  const isAccused = createIsAccused(table, now)
  const memory = createMemory<Indicator>(settings, keyOf, (finding, about) => worstLevel(finding, about, table, now()))
  const learn = (indicator: Indicator, finding: Finding, isJustNow: boolean): boolean =>
    memory.learn(ownIndicator(indicator), finding, now(), isJustNow)
  return {
    learn,
    isFull: () => memory.size() >= settings.maxEntries,
    touch: (indicator) => void memory.get(keyOf(indicator)),
    find: (indicator, asked) => {
      const known = memory.get(keyOf(indicator))
      // After `refreshAt` the memory of the gateway and the provider decide.
      if (!known || now() >= known.refreshAt) return undefined
      return meetsSettings(indicator, known.finding, asked, isAccused, now()) ? known.finding : undefined
    },
    // Coalesced lookups return one answer several times; it is shared only once.
    paid: (indicator, finding) => {
      if (learn(indicator, finding, true)) paid(indicator, finding)
    },
  }
}
