// Lets lookups through to the source as the state of the API key allows: the most important first, no more calls than it may have.
import { unknownOf, type Finding } from '../domain/finding.js'
import type { Lookup, Source } from '../domain/lookup.js'
import type { Admission } from './admission/admission.js'

export const admit =
  <Question>(keyOf: (question: Question) => string, admission: Admission) =>
  (source: Source<Question>): Lookup<Question> =>
  (question, ask) =>
    // Whoever asks: nobody pays for what a stranger wrote.
    ask.role === 'claimed'
      ? unknownOf('feeds_only')
      : admission.run<Finding>(keyOf(question), ask, (call) => source(question, ask, call))
