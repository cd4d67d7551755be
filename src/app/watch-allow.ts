// Reloads the lists of gate.allow when they change, so that fixing a false positive needs no restart.
import { reloadWhenChanged } from '../base/reload-when-changed.js'
import type { Clock } from '../base/clock.js'
import { readText } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import type { IndicatorList } from '../domain/decision.js'
import { signatureOf } from '../feeds/feed-file.js'
import { loadGate } from '../feeds/load-lists.js'
import type { Emit } from '../telemetry/event.js'

/** A list with replaceable content; `version` counts the replacements. */
export type LiveList = {
  readonly list: IndicatorList
  readonly replace: (by: IndicatorList) => void
  readonly version: () => number
}

export const createLiveList = (first: IndicatorList): LiveList => {
  let now = first
  let version = 0
  return {
    list: {
      ranges: {
        get size() {
          return now.ranges.size
        },
        has: (address) => now.ranges.has(address),
      },
      names: {
        get size() {
          return now.names.size
        },
        has: (name) => now.names.has(name),
      },
      get expiring() {
        return now.expiring ?? []
      },
    },
    replace: (by) => {
      now = by
      version++
    },
    version: () => version,
  }
}

const pollMs = 5_000

/** Lists that cannot be used leave what is in use as it is. */
export const watchAllow = async (
  config: Config,
  live: LiveList,
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): Promise<{ readonly close: () => Promise<void> }> => {
  const files = config.gate.allow
  const signature = async (): Promise<string> => (await Promise.all(files.map(signatureOf))).join('\n')
  const read = async (): Promise<{ signature: string; use: () => void }> => {
    const before = await signature()
    const loaded = loadGate(config.gate, config.intel.domain.ask, readText)
    return {
      signature: before,
      use: () => {
        if ('options' in loaded) {
          live.replace(loaded.options.allow)
          emit({ event: 'allow_loaded', files: files.length })
        } else
          for (const { where = '', message } of loaded.problems.slice(0, 1))
            emit({ event: 'allow_refused', where, message })
      },
    }
  }
  if (files.length === 0) return { close: () => Promise.resolve() }
  // Taken before anything is opened that could wait, so that a change made meanwhile counts.
  return reloadWhenChanged(await signature(), { clock, pollMs, signature, read })
}
