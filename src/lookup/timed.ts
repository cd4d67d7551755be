// Measures the duration of each lookup that the outer layers could not answer, including its time in the queue.
import type { Finding } from '../domain/finding.js'
import type { Layer } from '../domain/lookup.js'

export type LookedUp = (ms: number, finding: Finding) => void

export const timed =
  <Question>(lookedUp: LookedUp, now: () => number): Layer<Question> =>
  (inner) =>
  (question, ask) => {
    const began = now()
    const note = (finding: Finding): Finding => {
      lookedUp(now() - began, finding)
      return finding
    }
    const found = inner(question, ask)
    return found instanceof Promise ? found.then(note) : found
  }
