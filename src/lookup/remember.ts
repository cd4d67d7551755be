// What an ask came back with is kept, on disk first and then in the memory, before anybody gets to see it.
import type { Finding } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { Layer } from '../domain/lookup.js'
import type { Cooldown } from './memory/cooldown.js'
import { isRememberable } from './memory/lifetime.js'
import type { Memory } from './memory/memory.js'

/** Resolves when the operating system has the record; a disk that fails does not fail the lookup. */
export type Keep = (indicator: Indicator, finding: Finding) => Promise<void>

export const remember =
  (memory: Memory, cooldown: Cooldown, keep?: Keep): Layer =>
  (inner) =>
  (indicator, ask) => {
    const key = keyOf(indicator)
    const settle = (finding: Finding): Finding => {
      cooldown.answered(key)
      memory.set(indicator, finding)
      return finding
    }
    const learn = (finding: Finding): Finding | Promise<Finding> => {
      if (isRememberable(finding)) {
        if (!keep) return settle(finding)
        return keep(indicator, finding).then(() => settle(finding))
      }
      if (finding.status === 'unknown') cooldown.failed(key, finding.reason)
      return finding
    }
    const found = inner(indicator, ask)
    return found instanceof Promise ? found.then(learn) : learn(found)
  }
