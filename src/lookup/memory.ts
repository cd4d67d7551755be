// The memory: what was paid for, bounded, each finding with its lifetime; the least recently asked for goes first.
import { LRUCache } from 'lru-cache'
import type { Finding, Known, Level } from '../domain/finding.js'
import { createLifetimeOf, type LifetimeSettings } from './lifetime.js'

export type MemorySettings = LifetimeSettings & { readonly maxEntries: number }

export type Remembered = {
  readonly finding: Finding
  readonly freshUntil: number
  readonly servedUntil: number
  /** Moves on with every attempt, so that one ask in a while refreshes and not each. */
  refreshAt: number
}

export type Memory = {
  readonly get: (key: string) => Remembered | undefined
  readonly set: (key: string, finding: Finding) => void
  readonly size: () => number
  /** Until when the finding is worth keeping, in epoch milliseconds. */
  readonly servedUntil: (key: string, finding: Finding) => number
}

export const createMemory = (
  settings: MemorySettings,
  { classify, chance }: { classify: (finding: Known) => Level; chance?: (key: string) => number },
): Memory => {
  const entries = new LRUCache<string, Remembered>({ max: settings.maxEntries })
  const lifetimeOf = createLifetimeOf(settings, classify, chance)
  return {
    get: (key) => entries.get(key),
    set: (key, finding) => {
      const { refreshAt, freshUntil, servedUntil } = lifetimeOf(key, finding)
      entries.set(key, { finding, refreshAt, freshUntil, servedUntil })
    },
    size: () => entries.size,
    servedUntil: (key, finding) => lifetimeOf(key, finding).servedUntil,
  }
}
