// The question type that the lookup layers work on: an indicator of the stream, or an operation that a gateway forwards.
import { indicatorTypes, keyOf, ownIndicator, type Indicator } from '../domain/indicator.js'

export type QuestionType<Question> = {
  /** Equal questions have equal keys. */
  readonly keyOf: (question: Question) => string
  /** A copy for storage, which keeps no larger text in memory. */
  readonly own: (question: Question) => Question
  /** The members that represent the question in a record on disk. */
  readonly write: (question: Question) => Readonly<Record<string, string>>
  /** The question in a record; undefined if there is none. */
  readonly read: (members: Readonly<Record<string, unknown>>) => Question | undefined
}

export const indicators: QuestionType<Indicator> = {
  keyOf,
  own: ownIndicator,
  write: ({ type, value }) => ({ type, value }),
  read: ({ type, value }) => {
    const known = indicatorTypes.find((each) => each === type)
    return known !== undefined && typeof value === 'string' ? { type: known, value } : undefined
  },
}
