// A problem of the configuration (setting, message, place), and the refusal to start with any.
import type { SettingProblem } from '../domain/problem.js'

export type Problem = SettingProblem
export type Refused = { readonly problems: readonly Problem[] }

export const describeProblem = (problem: Problem): string =>
  `${problem.setting} ${problem.message}${problem.where ? ` (${problem.where})` : ''}`

/** Removes duplicates: several checks may report the same problem. */
export const distinctProblems = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [`${problem.setting} ${problem.message}`, problem])).values(),
]

/** Refuses to start; the message has one line per problem. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'))
  }
}
