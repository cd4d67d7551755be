// A compiled rule: metadata, and the detection as tree and closure.
import type { FileProblem } from '../../domain/problem.js'
import type { RuleSuppression } from './suppression.js'
import { testsOf, type Expression, type EventView } from './expression.js'

export const ruleLevels = ['informational', 'low', 'medium', 'high', 'critical'] as const
export type RuleLevel = (typeof ruleLevels)[number]

export type Rule = {
  readonly id: string
  readonly title: string
  readonly level: RuleLevel
  readonly tags: readonly string[]
  readonly description?: string
  /** Whether the rule is about indicators that turn malicious after they were seen, not about events. */
  readonly isRetro: boolean
  /** A bundled rule or its replacement: of these, only the worst match alerts on an indicator. */
  readonly isBundled?: true
  readonly suppress?: RuleSuppression
  readonly file: string
  readonly line: number
  readonly expression: Expression
  readonly holds: (view: EventView) => boolean
}

/** The fields that the rule tests, each once. */
export const fieldsOf = ({ expression }: Pick<Rule, 'expression'>): string[] => [
  ...new Set(testsOf(expression).flatMap(({ field }) => field ?? [])),
]

export const describeRuleProblem = ({ file, line, message }: FileProblem): string =>
  `${file}${line === undefined ? '' : `:${line}`}: ${message}`
