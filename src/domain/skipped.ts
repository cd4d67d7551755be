// The closed list of reasons for skipped feed entries, used in logs, metrics, the status page and commands.

export const skipReasons = {
  unusable: 'no address, range, name or URL',
  broken: 'a pattern that cannot be parsed',
  too_broad: 'would accuse too much',
  combined: 'a pattern with several conditions',
  qualified: 'a pattern with a repetition or time condition',
  inexact: 'a comparison without an exact value',
  negated: 'a negated comparison',
  other_language: 'a pattern in another language than STIX',
  not_looked_up: 'a type that is not supported',
  not_for_detection: 'observed or noted, not accused',
  harmless: 'named as harmless',
  revoked: 'revoked or deleted',
  low_score: 'scored below minScore',
  expired: 'expired',
  superseded: 'an older version of another entry',
  duplicate: 'listed before',
} as const

export type SkipReason = keyof typeof skipReasons

/** Skipped entries by reason; reasons without any are left out. */
export type Skipped = { readonly [reason in SkipReason]?: number }

const reasons = Object.keys(skipReasons) as readonly SkipReason[]

/** Reasons that deserve a look, unlike entries that are left out on purpose. */
const noteworthy: readonly SkipReason[] = ['unusable', 'broken', 'too_broad', 'combined', 'qualified', 'inexact', 'negated', 'other_language'] // prettier-ignore

export const skippedIn = (skipped: Skipped): number => reasons.reduce((sum, reason) => sum + (skipped[reason] ?? 0), 0)

export const isNoteworthy = (reason: SkipReason): boolean => noteworthy.includes(reason)

/** `12: 9 too_broad (would accuse too much), 3 duplicate (listed before)` without the first number. */
export const describeSkipped = (skipped: Skipped): string =>
  reasons
    .filter((reason) => (skipped[reason] ?? 0) > 0)
    .map((reason) => `${skipped[reason]} ${reason} (${skipReasons[reason]})`)
    .join(', ')
