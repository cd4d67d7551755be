// The memory: what was paid for, bounded, each finding with its lifetime; the least recently asked for goes first.
import { LRUCache } from 'lru-cache'
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Facts, Finding } from '../../domain/finding.js'
import { createLifetimeOf, type Classify, type Lifetime, type LifetimeSettings } from './lifetime.js'

export type MemorySettings = LifetimeSettings & { readonly maxEntries: number }

/** The most that the folder of a memory of this size may hold: 256 MB for the default of 100,000 findings, and in proportion. */
export const folderBytes = (maxEntries: number): number =>
  Math.max(1_048_576, Math.ceil((maxEntries / 100_000) * 268_435_456))

export type Remembered = {
  readonly finding: Finding
  readonly freshUntil: number
  readonly servedUntil: number
  /** How old an answer may be before it is asked for again. */
  readonly refreshAfterMs: number
  /** Moves on with every attempt, so that one ask in a while refreshes and not each. */
  refreshAt: number
  /** The same finding marked stale, made once. */
  stale?: Finding
}

export type Memory<Question> = {
  readonly get: (key: string) => Remembered | undefined
  readonly set: (question: Question, finding: Finding) => void
  /** Takes in what was kept from an earlier run; false when it is past its use. */
  readonly restore: (question: Question, finding: Finding, now: number) => boolean
  /** Takes in what somebody else has obtained; false when it is past its use, or older than what is known, or the same. `isLater`: it counts among those of the same time. */
  readonly learn: (question: Question, finding: Finding, now: number, isLater: boolean) => boolean
  readonly size: () => number
}

type MemoryOptions<Question> = {
  /** Whether a finding has all that the settings ask for. */
  readonly isWhole?: (question: Question, finding: Finding) => boolean
  readonly chance?: (key: string) => number
}

const isBad = ({ freshUntil, servedUntil }: Lifetime): boolean => servedUntil > freshUntil

/** Bad news is told while the rest is asked for; good news is none without the rest. */
const partLife = (life: Lifetime, { at = 0 }: Finding): Lifetime =>
  isBad(life) ? { ...life, refreshAt: at } : { refreshAt: at, freshUntil: at, servedUntil: at }

/** Kinds of facts that are shared, and how long they are written down at most: most of what is known is that nothing is. */
const maxShared = 1_000
const maxSharedLength = 256

/** The same object for the same facts, so that a hundred thousand clean addresses do not each have their own. */
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
    // A gateway may say again what it said before; that is no reason to ask it again sooner.
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
    // A clock that was set back must not make a finding live longer than its life.
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
      // What is not all that is wanted here takes the place of what is whole only to accuse.
      if (known && isWhole(question, known) && !isWhole(question, finding) && !isBad(lifetimeOf(question, finding)))
        return false
      if (newer < 0 || (newer === 0 && (!isLater || JSON.stringify(known) === JSON.stringify(finding)))) return false
      return restore(question, finding, now)
    },
    size: () => findings.size,
  }
}
