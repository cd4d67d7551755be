// A rule as it is used: what it is called, and the detection as a tree and as one closure.
import type { FileProblem } from '../../domain/file-problem.js'
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

export const describeRuleProblem = ({ file, line, message }: FileProblem): string =>
  `${file}${line === undefined ? '' : `:${line}`}: ${message}`
