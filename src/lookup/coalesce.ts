// Joins concurrent lookups of the same question into one in-flight lookup.
import type { Finding } from '../domain/finding.js'
import type { Ask, Layer } from '../domain/lookup.js'

/**
 * In-flight lookups cannot be cancelled, so a departing caller does not affect the others. An entry is removed only after the inner promise
 * settled, and the finding is remembered before that: no microtask is left for a second call. All concurrent callers get the same promise.
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
