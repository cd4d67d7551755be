// The judgement table: one row for each kind of evidence, and the thresholds of the rows.

/** `flag`: the evidence is shown as a flag without effect on the verdict. */
export const rowLevels = ['malicious', 'suspicious', 'clean', 'flag'] as const
export type RowLevel = (typeof rowLevels)[number]
export type Row = { readonly level: RowLevel; readonly score?: number }

export const rowNames = [
  'reportedMalicious',
  'critical',
  'criticalDenied',
  'dangerousWithEvidence',
  'dangerous',
  'badCategory',
  'hidden',
  'scannerAsSource',
  'scanner',
  'moderateAsDestination',
  'moderate',
  'anonymizer',
  'exposed',
  'vulnerable',
  'unsafeNameServer',
  'domainCritical',
  'domainDangerousWithEvidence',
  'domainDangerous',
  'domainModerate',
  'domainSigns',
] as const
export type RowName = (typeof rowNames)[number]

export type JudgementTable = {
  readonly rows: { readonly [name in RowName]: Row }
  /** Lower case; an entry with a grade in brackets matches only that grade. */
  readonly categories: readonly string[]
  /** The maximum age of an intrusion-detection hit or dated abuse record that supports a Dangerous score. */
  readonly evidenceDays: number
  readonly phishingProbability: number
  readonly newbornDays: number
  readonly dgaScore: number
  /** The number of signs (newborn, random text, fake domain, invalid TLS) that make a domain suspicious. */
  readonly signs: number
  /** Older domain reports are ignored. */
  readonly maxAgeDays: number
}

export const shippedTable: JudgementTable = {
  rows: {
    reportedMalicious: { level: 'malicious', score: 90 },
    critical: { level: 'malicious', score: 99 },
    criticalDenied: { level: 'suspicious', score: 80 },
    dangerousWithEvidence: { level: 'malicious', score: 85 },
    dangerous: { level: 'suspicious', score: 75 },
    badCategory: { level: 'suspicious', score: 75 },
    hidden: { level: 'suspicious', score: 60 },
    scannerAsSource: { level: 'suspicious', score: 50 },
    scanner: { level: 'flag' },
    moderateAsDestination: { level: 'suspicious', score: 50 },
    moderate: { level: 'clean', score: 40 },
    anonymizer: { level: 'flag' },
    exposed: { level: 'flag' },
    vulnerable: { level: 'flag' },
    unsafeNameServer: { level: 'flag' },
    domainCritical: { level: 'malicious', score: 99 },
    domainDangerousWithEvidence: { level: 'malicious', score: 90 },
    domainDangerous: { level: 'suspicious', score: 75 },
    domainModerate: { level: 'suspicious', score: 50 },
    domainSigns: { level: 'suspicious', score: 50 },
  },
  categories: ['malware', 'c2', 'botnet', 'phishing', 'attack (high)', 'ddos (high)'],
  evidenceDays: 90,
  phishingProbability: 80,
  newbornDays: 30,
  dgaScore: 8,
  signs: 2,
  maxAgeDays: 30,
}
