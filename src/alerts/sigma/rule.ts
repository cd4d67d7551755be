// A rule as it is used: what it is called, and the detection as a tree and as one closure.
import type { Expression, View } from './expression.js'

export const ruleLevels = ['informational', 'low', 'medium', 'high', 'critical'] as const
export type RuleLevel = (typeof ruleLevels)[number]

export type Rule = {
  readonly id: string
  readonly title: string
  readonly level: RuleLevel
  readonly tags: readonly string[]
  readonly description?: string
  readonly file: string
  readonly line: number
  readonly expression: Expression
  readonly holds: (view: View) => boolean
}

/** What is wrong, or only odd, about a rule file. */
export type RuleProblem = { readonly file: string; readonly line?: number; readonly message: string }

export const describeRuleProblem = ({ file, line, message }: RuleProblem): string =>
  `${file}${line === undefined ? '' : `:${line}`}: ${message}`
