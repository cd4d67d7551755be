// Why something in a feed is not in use: one closed list for the log, the metrics, the status page and the commands.

export const skipReasons = {
  unusable: 'no address, range, name or URL',
  broken: 'a pattern that cannot be read to its end',
  too_broad: 'would accuse too much',
  combined: 'more than one thing has to be seen',
  qualified: 'has to be seen repeatedly or within some time',
  inexact: 'a comparison that names no exact value',
  negated: 'says what it is not',
  other_language: 'a pattern in another language than STIX',
  not_looked_up: 'of a kind that is not looked up',
  not_for_detection: 'observed or noted, not accused',
  harmless: 'named as harmless',
  revoked: 'revoked or deleted',
  low_score: 'scored below minScore',
  expired: 'expired',
  superseded: 'an older version of another one',
  duplicate: 'listed before',
} as const

export type SkipReason = keyof typeof skipReasons

/** How much was skipped, by reason; a reason that nothing was skipped for is left out. */
export type Skipped = { readonly [reason in SkipReason]?: number }

const reasons = Object.keys(skipReasons) as readonly SkipReason[]

/** Something that a person should look at, unlike entries that are meant to be left out. */
const noteworthy: readonly SkipReason[] = ['unusable', 'broken', 'too_broad', 'combined', 'qualified', 'inexact', 'negated', 'other_language'] // prettier-ignore

export const skippedIn = (skipped: Skipped): number => reasons.reduce((sum, reason) => sum + (skipped[reason] ?? 0), 0)

export const isNoteworthy = (reason: SkipReason): boolean => noteworthy.includes(reason)

/** `12: 9 too_broad (would accuse too much), 3 duplicate (listed before)` without the first number. */
export const describeSkipped = (skipped: Skipped): string =>
  reasons
    .filter((reason) => (skipped[reason] ?? 0) > 0)
    .map((reason) => `${skipped[reason]} ${reason} (${skipReasons[reason]})`)
    .join(', ')
