// One thing that is wrong with the configuration: which setting, what, and where it was given; and the refusal to start with any.

export type Problem = { readonly setting: string; readonly message: string; readonly where?: string }

export const describeProblem = (problem: Problem): string =>
  `${problem.setting} ${problem.message}${problem.where ? ` (${problem.where})` : ''}`

/** Refuses to start; the message lists every problem on a line of its own. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'))
  }
}
