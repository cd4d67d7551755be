// What the layers have to know about a question, be it an indicator of the stream or an operation that a gateway passes on.
import { indicatorTypes, keyOf, ownIndicator, type Indicator } from '../domain/indicator.js'

export type QuestionType<Question> = {
  /** The same question has the same key. */
  readonly keyOf: (question: Question) => string
  /** A copy for the one who keeps it, which keeps nothing else in memory. */
  readonly own: (question: Question) => Question
  /** The members that name the question in a record on disk. */
  readonly write: (question: Question) => Readonly<Record<string, string>>
  /** The question that a record names; undefined where it names none. */
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
