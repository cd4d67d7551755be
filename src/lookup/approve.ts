// Asks for approval before the first paid call; the answer applies to all further calls.
import type { Source } from '../domain/lookup.js'

export const approve =
  (ask: () => Promise<boolean>) =>
  <Question>(source: Source<Question>): Source<Question> => {
    let answer: Promise<boolean> | undefined
    let isApproved = false
    return (question, asked, call) => {
      if (isApproved) return source(question, asked, call)
      return (answer ??= ask()).then((yes) => {
        isApproved = yes
        return yes ? source(question, asked, call) : { status: 'unknown', reason: 'budget_spent' }
      })
    }
  }
