// The bounded memory of paid findings with their TTLs; evicts the least recently used one first.
import { LRUCache } from 'lru-cache'
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Facts, Finding } from '../../domain/finding.js'
import { createLifetimeOf, type Classify, type Lifetime, type LifetimeSettings } from './lifetime.js'

export type MemorySettings = LifetimeSettings & { readonly maxEntries: number }

/** The maximum folder size for a memory of this size: 256 MB for the default of 100,000 findings, and in proportion. */
export const folderBytes = (maxEntries: number): number =>
  Math.max(1_048_576, Math.ceil((maxEntries / 100_000) * 268_435_456))

export type Remembered = {
  readonly finding: Finding
  readonly freshUntil: number
  readonly servedUntil: number
  /** How old an answer may become before it is refreshed. */
  readonly refreshAfterMs: number
  /** Moves on with every attempt, so that not every ask triggers a refresh. */
  refreshAt: number
  /** The same finding marked stale, created once. */
  stale?: Finding
}

export type Memory<Question> = {
  readonly get: (key: string) => Remembered | undefined
  readonly set: (question: Question, finding: Finding) => void
  /** Adds a finding from an earlier run; false if it has expired. */
  readonly restore: (question: Question, finding: Finding, now: number) => boolean
  /**
   * Adds a finding that another process obtained; false if it has expired, or is older than or equal to the known one. `isLater`: it
   * replaces a different one of the same time.
   */
  readonly learn: (question: Question, finding: Finding, now: number, isLater: boolean) => boolean
  readonly size: () => number
}

type MemoryOptions<Question> = {
  /** Whether a finding has everything that the settings request. */
  readonly isWhole?: (question: Question, finding: Finding) => boolean
  readonly chance?: (key: string) => number
}

const isBad = ({ freshUntil, servedUntil }: Lifetime): boolean => servedUntil > freshUntil

/** For an incomplete finding: an accusation is served while the rest is fetched; any other finding is unusable without the rest. */
const partLife = (life: Lifetime, { at = 0 }: Finding): Lifetime =>
  isBad(life) ? { ...life, refreshAt: at } : { refreshAt: at, freshUntil: at, servedUntil: at }

/** The number of shared facts, and their maximum length as JSON; most indicators have few facts or none. */
const maxShared = 1_000
const maxSharedLength = 256

/** Reuses one object for equal facts, so that a hundred thousand clean addresses do not each have their own. */
const createShareFacts = (): ((finding: Finding) => Finding) => {
  const shared = createBoundedCache<string, Facts>(maxShared)
  return (finding) => {
    if (finding.status !== 'known') return finding
    const text = JSON.stringify(finding.facts)
    if (text.length > maxSharedLength) return finding
    const facts = shared.get(text)
    if (facts) return Object.assign(finding, { facts })
    shared.set(text, finding.facts)
    return finding
  }
}

export const createMemory = <Question>(
  settings: MemorySettings,
  keyOf: (question: Question) => string,
  classify: Classify<Question>,
  { isWhole = () => true, chance }: MemoryOptions<Question> = {},
): Memory<Question> => {
  const findings = new LRUCache<string, Remembered>({ max: settings.maxEntries })
  const lifetimeOf = createLifetimeOf(settings, keyOf, classify, chance)
  const shareFacts = createShareFacts()
  const set = (question: Question, finding: Finding): void => {
    const life = lifetimeOf(question, finding)
    const { refreshAt, freshUntil, servedUntil } = isWhole(question, finding) ? life : partLife(life, finding)
    const key = keyOf(question)
    // A gateway may repeat an earlier answer, which must not cause an earlier refresh.
    const notBefore = findings.peek(key)?.refreshAt ?? 0
    const remembered = {
      finding: shareFacts(finding),
      refreshAt: Math.max(refreshAt, notBefore),
      refreshAfterMs: life.refreshAt - (finding.at ?? 0),
      freshUntil,
      servedUntil,
    }
    findings.set(key, remembered)
  }
  const restore = (question: Question, finding: Finding, now: number): boolean => {
    // A clock that was set back must not extend a TTL.
    const sane = (finding.at ?? 0) > now ? { ...finding, at: now } : finding
    if (lifetimeOf(question, sane).servedUntil <= now) return false
    set(question, sane)
    return true
  }
  return {
    get: (key) => findings.get(key),
    set,
    restore,
    learn: (question, finding, now, isLater) => {
      const known = findings.peek(keyOf(question))?.finding
      const newer = (finding.at ?? 0) - (known?.at ?? -Infinity)
      // An incomplete finding replaces a complete one only if it accuses.
      if (known && isWhole(question, known) && !isWhole(question, finding) && !isBad(lifetimeOf(question, finding)))
        return false
      if (newer < 0 || (newer === 0 && (!isLater || JSON.stringify(known) === JSON.stringify(finding)))) return false
      return restore(question, finding, now)
    },
    size: () => findings.size,
  }
}
