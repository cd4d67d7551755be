// Explains why no rule fires for an event with an accused indicator.
import type { NoAlertReason } from '../domain/no-alert-reason.js'
import type { Judged } from '../domain/verdict.js'
import type { Candidate } from './candidates.js'
import type { RuleEvent } from './event-field.js'
import type { Rule } from './sigma/rule.js'
import type { RuleSet } from './sigma/rule-set.js'

type NoAlert = {
  readonly reason: NoAlertReason
  /** The rule whose filter excludes it. */
  readonly rule?: Rule
}

export const isAccusing = ({ verdict }: Pick<Candidate, 'verdict'>): boolean =>
  verdict === 'malicious' || verdict === 'suspicious'

/**
 * Undefined if nothing is accused. The worst indicator decides, but one without any rule comes first, because it is a gap. `candidates` are
 * ordered worst first.
 */
export const whyNoAlert = (
  candidates: readonly Candidate[],
  judged: readonly Judged[],
  rules: Pick<RuleSet, 'excludedBy'>,
  event: () => RuleEvent,
): NoAlert | undefined => {
  const accused = candidates.filter(isAccusing)
  if (accused.length === 0) return sparedIn(judged)
  const reasons = accused.map((candidate) => whyNot(candidate, rules, event))
  return reasons.find(({ reason }) => reason === 'no_rule') ?? reasons[0]
}

/** A feed lists an indicator, but nothing is accused. */
const sparedIn = (judged: readonly Judged[]): NoAlert | undefined => {
  const one = judged.find(isSpared)
  return one && { reason: one.verdict.reason === 'reverse_lookup' ? 'reverse_lookup' : 'safeguarded' }
}

/** Protected by a safeguard list, or only found by a reverse lookup. */
export const isSpared = ({ verdict: { flags, reason } }: Judged): boolean =>
  flags.safeguarded === true || reason === 'reverse_lookup'

const whyNot = (candidate: Candidate, rules: Pick<RuleSet, 'excludedBy'>, event: () => RuleEvent): NoAlert => {
  const { verdict, role, direction, action, activity, threat_class } = candidate
  // The action says nothing about these roles.
  if (verdict === 'suspicious' && (role === 'answer' || role === 'mail' || role === 'claimed'))
    return { reason: 'only_suspicious' }
  if (action === 'blocked' && activity === 'login') return { reason: 'failed_login' }
  if (action === 'blocked' && direction !== 'outbound') return { reason: 'blocked_inbound' }
  if (verdict === 'suspicious') return { reason: 'only_suspicious' }
  if (action === 'unknown' && direction !== 'outbound' && threat_class !== 'serious')
    return { reason: 'background_unknown_action' }
  const rule = rules.excludedBy(candidate, event)
  return rule === undefined ? { reason: 'no_rule' } : { reason: 'rule_filtered', rule }
}
