// Types of rules-table.mjs for the tests.
import type { Candidate } from '../src/alerts/candidates.js'
import type { chooseMatches } from '../src/alerts/choose-matches.js'
import type { RuleEvent } from '../src/alerts/event-field.js'
import type { loadRules } from '../src/alerts/load-rules.js'
import type { whyNoAlert } from '../src/alerts/why-no-alert.js'

type Judge = (
  candidate: Candidate,
  event: RuleEvent,
) => { readonly rule: string; readonly level: string } | { readonly reason: string }
type Parts = {
  readonly loadRules: typeof loadRules
  readonly chooseMatches: typeof chooseMatches
  readonly whyNoAlert: typeof whyNoAlert
}
export const openJudge: (parts: Parts) => Promise<Judge>
export const withRulesTable: (text: string, judge: Judge) => string
