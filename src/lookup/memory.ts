// The memory: what was paid for, bounded, each finding with its lifetime; the least recently asked for goes first.
import { LRUCache } from 'lru-cache'
import type { Finding } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
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
  readonly size: () => number
}

export const createMemory = (
  settings: MemorySettings,
  { classify, chance }: { classify: Classify; chance?: (key: string) => number },
): Memory => {
  const entries = new LRUCache<string, Remembered>({ max: settings.maxEntries })
  const lifetimeOf = createLifetimeOf(settings, classify, chance)
  return {
    get: (key) => entries.get(key),
    set: (indicator, finding) => {
      const { refreshAt, freshUntil, servedUntil } = lifetimeOf(indicator, finding)
      entries.set(keyOf(indicator), { finding, refreshAt, freshUntil, servedUntil })
    },
    size: () => entries.size,
  }
}
