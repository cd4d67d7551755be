// The memory: what was paid for, bounded, each finding with its lifetime; the least recently asked for goes first.
import { LRUCache } from 'lru-cache'
import type { Finding } from '../../domain/finding.js'
import { keyOf, type Indicator } from '../../domain/indicator.js'
import { createLifetimeOf, type Classify, type LifetimeSettings } from './lifetime.js'

export type MemorySettings = LifetimeSettings & { readonly maxEntries: number }

export type Remembered = {
  readonly finding: Finding
  readonly freshUntil: number
  readonly servedUntil: number
  /** Moves on with every attempt, so that one ask in a while refreshes and not each. */
  refreshAt: number
  /** The same finding marked stale, made once. */
  stale?: Finding
}

export type Memory = {
  readonly get: (key: string) => Remembered | undefined
  readonly set: (indicator: Indicator, finding: Finding) => void
  /** Takes in what was kept from an earlier run; false when it is past its use. */
  readonly restore: (indicator: Indicator, finding: Finding, now: number) => boolean
  readonly size: () => number
}

export const createMemory = (
  settings: MemorySettings,
  { classify, chance }: { classify: Classify; chance?: (key: string) => number },
): Memory => {
  const entries = new LRUCache<string, Remembered>({ max: settings.maxEntries })
  const lifetimeOf = createLifetimeOf(settings, classify, chance)
  const set = (indicator: Indicator, finding: Finding): void => {
    const { refreshAt, freshUntil, servedUntil } = lifetimeOf(indicator, finding)
    entries.set(keyOf(indicator), { finding, refreshAt, freshUntil, servedUntil })
  }
  return {
    get: (key) => entries.get(key),
    set,
    restore: (indicator, finding, now) => {
      // A clock that was set back must not make a finding live longer than its life.
      const sane = (finding.at ?? 0) > now ? { ...finding, at: now } : finding
      if (lifetimeOf(indicator, sane).servedUntil <= now) return false
      set(indicator, sane)
      return true
    },
    size: () => entries.size,
  }
}
