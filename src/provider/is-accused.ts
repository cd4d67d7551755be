// Checks whether facts about an address are malicious or suspicious in some role, by the judgement table.
import { worstLevel } from '../domain/judge.js'
import type { JudgementTable } from '../domain/judgement-table.js'
import type { IsAccused } from './ask-ip.js'

export const createIsAccused =
  (table: JudgementTable, now: () => number): IsAccused =>
  (facts, value) => {
    const level = worstLevel(
      { status: 'known', facts, source: 'service', at: now() },
      { type: 'ip', value },
      table,
      now(),
    )
    return level === 'malicious' || level === 'suspicious'
  }
