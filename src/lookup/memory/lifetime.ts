// Computes how long a finding may be used: its TTL depends on its worst level and starts when it was obtained.
import type { Finding, Known, Level } from '../../domain/finding.js'
import { kindOf } from '../../domain/reason.js'

export type LifetimeSettings = {
  /** TTL of facts in seconds, by their worst level for any role; `notFound` is for answers without facts. */
  readonly freshSeconds: {
    readonly malicious: number
    readonly suspicious: number
    readonly clean: number
    readonly noVerdict: number
    readonly notFound: number
  }
  /** Seconds after its TTL that an accusation is still served, marked stale. */
  readonly staleSeconds: number
  /** The largest fraction of a TTL, 0 to 1, by which it is shortened so that TTLs do not all end together. */
  readonly jitter: number
  /** The last fraction of a TTL, 0 to 1, in which a finding still in demand is refreshed. */
  readonly refreshAhead: number
}

/**
 * Derives all TTLs from the three that are settings. Suspicious facts live half as long as malicious ones, and facts without a verdict half
 * as long as clean ones, because both may change sooner. Accusations are served stale for seven TTLs, a week by default.
 */
export const lifetimesOf = (freshSeconds: {
  readonly malicious: number
  readonly clean: number
  readonly notFound: number
}): LifetimeSettings => ({
  freshSeconds: { ...freshSeconds, suspicious: freshSeconds.malicious / 2, noVerdict: freshSeconds.clean / 2 },
  staleSeconds: 7 * freshSeconds.malicious,
  // Spreads TTLs of twelve hours or more over at least an hour.
  jitter: 0.1,
  refreshAhead: 0.1,
})

/** TTL of an answer without an accusation that was given while a feed of the gateway was missing. */
const feedMissingSeconds = 60

/** Epoch milliseconds: refreshed on demand after `refreshAt`, fresh until `freshUntil`, served stale until `servedUntil`. */
export type Lifetime = { readonly refreshAt: number; readonly freshUntil: number; readonly servedUntil: number }

/** Answers are worth keeping; failures and policy decisions are not. */
export const isRememberable = (finding: Finding): boolean =>
  finding.status === 'known' ||
  (finding.at !== undefined && (kindOf(finding.reason) === 'answer' || finding.reason === 'feed_missing'))

type LifetimeOf<Question> = (question: Question, finding: Finding) => Lifetime

/** The worst level that the facts have for any role. */
export type Classify<Question> = (finding: Known, question: Question) => Level

export const createLifetimeOf =
  <Question>(
    settings: LifetimeSettings,
    keyOf: (question: Question) => string,
    classify: Classify<Question>,
    /** 0 to 1, always the same for a key, so that a TTL restored from disk ends at the same time. */
    chance: (key: string) => number = chanceOf,
  ): LifetimeOf<Question> =>
  (question, finding) => {
    const { malicious, suspicious, clean, noVerdict, notFound } = settings.freshSeconds
    const level = finding.status === 'known' ? classify(finding, question) : undefined
    const isBad = level === 'malicious' || level === 'suspicious'
    const usual = level === undefined ? notFound : { malicious, suspicious, clean, unknown: noVerdict }[level]
    const isFeedMissing =
      finding.status === 'known' ? finding.isFeedMissing === true : finding.reason === 'feed_missing'
    const full = isFeedMissing && !isBad ? Math.min(usual, feedMissingSeconds) : usual
    const lifeMs = full * 1000 * (1 - settings.jitter * chance(keyOf(question)))
    const freshUntil = (finding.at ?? 0) + lifeMs
    return {
      refreshAt: freshUntil - lifeMs * settings.refreshAhead,
      freshUntil,
      servedUntil: isBad ? freshUntil + settings.staleSeconds * 1000 : freshUntil,
    }
  }

/** FNV-1a, scaled to 0 to 1. */
const chanceOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return (hash >>> 0) / 0x1_0000_0000
}
