// Many asks of one question at the same time become one in-flight lookup that all of them share.
import type { Finding } from '../domain/finding.js'
import type { Ask, Layer } from '../domain/lookup.js'

/**
 * Nobody can cancel an in-flight lookup, so a caller that leaves takes nothing from the others. It is removed only after the inner promise
 * settled, and whoever remembers does so before that: no microtask is left in which a second call could slip through.
 * Everyone who asks meanwhile gets the same promise.
 */
export const coalesce =
  <Question>(keyOf: (question: Question) => string, joined?: (key: string, ask: Ask) => void): Layer<Question> =>
  (inner) => {
    const inFlight = new Map<string, Promise<Finding>>()
    return (question, ask) => {
      const key = keyOf(question)
      const shared = inFlight.get(key)
      if (shared) {
        joined?.(key, ask)
        return shared
      }
      const found = inner(question, ask)
      if (!(found instanceof Promise)) return found
      const settle = (finding: Finding): Finding => {
        inFlight.delete(key)
        return finding
      }
      const lookup = found.then(settle, () => settle({ status: 'unknown', reason: 'bad_answer' }))
      inFlight.set(key, lookup)
      return lookup
    }
  }
