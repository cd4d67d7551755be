// Shares findings that were paid for here; an answer from a gateway's memory was paid for earlier and is not shared.
import { newestAt, type Finding } from '../domain/finding.js'
import type { Layer } from '../domain/lookup.js'

export const share =
  <Question>(paid: (question: Question, finding: Finding) => void, now: () => number): Layer<Question> =>
  (inner) =>
  (question, ask) => {
    const from = now()
    const note = (finding: Finding): Finding => {
      if ((newestAt(finding) ?? -Infinity) >= from) paid(question, finding)
      return finding
    }
    const found = inner(question, ask)
    return found instanceof Promise ? found.then(note) : note(found)
  }
