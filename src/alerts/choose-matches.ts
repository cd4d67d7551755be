// Chooses the matches of an event to alert on: one per rule and indicator, and of the bundled rules only the worst per indicator.
import { ownText } from '../base/bounded-cache.js'
import { ruleLevels, type Rule } from './sigma/rule.js'
import type { RuleMatch } from './sigma/rule-set.js'

/** The key of a rule and an indicator of an event; the rule fires once per key. */
export const firingOf = ({ rule, candidate }: Pick<RuleMatch, 'rule' | 'candidate'>): string =>
  ownText(`${rule.id} ${candidate.value ?? ''}`)

/** The indicator may occur in several places of the event; the candidates are ordered worst first. */
export const chooseMatches = (matches: readonly RuleMatch[]): readonly RuleMatch[] => {
  if (matches.length < 2) return matches
  const firings = new Map<string, RuleMatch>()
  const bundled = new Map<string, RuleMatch>()
  for (const match of matches) {
    const firing = firingOf(match)
    if (!firings.has(firing)) firings.set(firing, match)
    if (!match.rule.isBundled) continue
    const value = match.candidate.value ?? ''
    const other = bundled.get(value)
    if (!other || isWorse(match.rule, other.rule)) bundled.set(value, match)
  }
  const questions = [...bundled.values()].filter(({ candidate }) => candidate.role === 'query')
  const isTold = (match: RuleMatch): boolean =>
    bundled.get(match.candidate.value ?? '') === match && !isAnswered(match, questions)
  const others = [...firings.values()].filter(({ rule }) => !rule.isBundled)
  const worst = [...bundled.values()].filter(isTold)
  return [...worst, ...others]
}

/** The result does not depend on the order of the event's indicators. */
const isWorse = (one: Rule, other: Rule): boolean => {
  const [high, low] = [heightOf(one), heightOf(other)]
  return high > low || (high === low && one.id < other.id)
}

/** An answer adds nothing to an alert about a query that is at least as severe. */
const isAnswered = ({ rule, candidate }: RuleMatch, questions: readonly RuleMatch[]): boolean =>
  candidate.role === 'answer' && questions.some((question) => heightOf(question.rule) >= heightOf(rule))

/** Whether a bundled rule of at least this level has already fired for the indicator of this match. */
export const isOutdone = (
  { rule, candidate }: RuleMatch,
  firedBefore: ReadonlySet<string>,
  rules: readonly Rule[],
): boolean =>
  rule.isBundled === true &&
  rules.some(
    (other) =>
      other.isBundled && heightOf(other) >= heightOf(rule) && firedBefore.has(firingOf({ rule: other, candidate })),
  )

export const heightOf = ({ level }: Pick<Rule, 'level'>): number => ruleLevels.indexOf(level)
