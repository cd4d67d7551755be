// Stores each finding, first on disk and then in memory, before it is released.
import type { Finding } from '../domain/finding.js'
import type { Layer } from '../domain/lookup.js'
import type { Cooldown } from './memory/cooldown.js'
import { isRememberable } from './memory/lifetime.js'
import type { Memory } from './memory/memory.js'

/** Resolves when the operating system has the record. A disk failure does not fail the lookup. */
type Keep<Question> = (question: Question, finding: Finding) => Promise<void>

export const remember =
  <Question>(
    keyOf: (question: Question) => string,
    memory: Memory<Question>,
    cooldown: Cooldown,
    keep?: Keep<Question>,
    /** Called with every finding that is remembered. */
    learnt?: (question: Question, finding: Finding) => void,
  ): Layer<Question> =>
  (inner) =>
  (question, ask) => {
    const key = keyOf(question)
    const settle = (finding: Finding): Finding => {
      cooldown.answered(key)
      memory.set(question, finding)
      learnt?.(question, finding)
      return finding
    }
    const learn = (finding: Finding): Finding | Promise<Finding> => {
      if (isRememberable(finding)) {
        if (!keep) return settle(finding)
        return keep(question, finding).then(() => settle(finding))
      }
      if (finding.status === 'unknown') cooldown.failed(key, finding.reason)
      return finding
    }
    const found = inner(question, ask)
    return found instanceof Promise ? found.then(learn) : learn(found)
  }
