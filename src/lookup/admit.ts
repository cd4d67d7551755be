// Sends lookups to the source through admission: the most important first, and only while the API key may make calls.
import { unknownOf, type Finding } from '../domain/finding.js'
import type { Lookup, Source } from '../domain/lookup.js'
import type { Admission } from './admission/admission.js'

export const admit =
  <Question>(keyOf: (question: Question) => string, admission: Admission) =>
  (source: Source<Question>): Lookup<Question> =>
  (question, ask) =>
    // A claimed value never costs a call, because a stranger chose it.
    ask.role === 'claimed'
      ? unknownOf('feeds_only')
      : admission.run<Finding>(keyOf(question), ask, (call) => source(question, ask, call))
