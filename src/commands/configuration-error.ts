// The refusal to start with a configuration that cannot work.
import { describeProblem, type Problem } from '../config/problem.js'

/** Refuses to start; the message lists every problem on a line of its own. */
export class ConfigurationError extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(describeProblem).join('\n'))
  }
}
