// One thing that is wrong with the configuration: which setting, what, and where it was given; and the refusal to start with any.
import type { SettingProblem } from '../domain/problem.js'

export type Problem = SettingProblem
export type Refused = { readonly problems: readonly Problem[] }

export const describeProblem = (problem: Problem): string =>
  `${problem.setting} ${problem.message}${problem.where ? ` (${problem.where})` : ''}`

/** Each problem once, however many parts of the program have found it. */
export const distinctProblems = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [`${problem.setting} ${problem.message}`, problem])).values(),
]

/** Refuses to start; the message lists every problem on a line of its own. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'))
  }
}
