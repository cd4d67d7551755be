// How long a finding may be used: life depends on the worst it says, and is counted from when it was obtained.
import type { Finding, Known, Level } from '../../domain/finding.js'
import { kindOf } from '../../domain/reason.js'

export type LifetimeSettings = {
  /** Seconds that facts stay fresh, by the worst level they have for any role; `notFound` for answers without facts. */
  readonly freshSeconds: {
    readonly malicious: number
    readonly suspicious: number
    readonly clean: number
    readonly noVerdict: number
    readonly notFound: number
  }
  /** Seconds past its life that bad news is still served, marked stale. */
  readonly staleSeconds: number
  /** The part of a life, 0 to 1, by which lives are shortened at most so that they do not all end together. */
  readonly jitter: number
  /** The part of a life, 0 to 1, at whose end a finding still asked for is fetched anew. */
  readonly refreshAhead: number
}

/**
 * All lifetimes, from the three that are settings: suspicious facts live half as long as malicious ones and facts without a verdict half
 * as long as clean ones, since both may change sooner; bad news is served stale for seven lifetimes, a week by default.
 */
export const lifetimesOf = (freshSeconds: {
  readonly malicious: number
  readonly clean: number
  readonly notFound: number
}): LifetimeSettings => ({
  freshSeconds: { ...freshSeconds, suspicious: freshSeconds.malicious / 2, noVerdict: freshSeconds.clean / 2 },
  staleSeconds: 7 * freshSeconds.malicious,
  // Twelve hours and more are then spread over an hour and more.
  jitter: 0.1,
  refreshAhead: 0.1,
})

/** For so long an answer counts that accuses nobody and was given while a feed of the gateway was missing. */
const feedMissingSeconds = 60

/** Epoch milliseconds: fetched anew when asked for past `refreshAt`, fresh until `freshUntil`, served stale until `servedUntil`. */
export type Lifetime = { readonly refreshAt: number; readonly freshUntil: number; readonly servedUntil: number }

/** An answer is worth keeping; a failure and a policy are not. */
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
    /** 0 to 1, always the same for the same key, so that a life read back from disk ends when it would have. */
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

/** FNV-1a, spread over 0 to 1. */
const chanceOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
  return (hash >>> 0) / 0x1_0000_0000
}
