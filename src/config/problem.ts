// One thing that is wrong with the configuration: which setting, what, and where it was given.

export type Problem = { readonly setting: string; readonly message: string; readonly where?: string }

export const describeProblem = (problem: Problem): string =>
  `${problem.setting} ${problem.message}${problem.where ? ` (${problem.where})` : ''}`
