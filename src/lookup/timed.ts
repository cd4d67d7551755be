// Measures how long each lookup took that the layers above could not answer, its wait for a turn included.
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
