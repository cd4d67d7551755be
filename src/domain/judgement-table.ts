// The table by which facts become a verdict: one row for each kind of evidence, and the thresholds the rows speak of.

/** `flag`: the evidence is shown as a flag but decides nothing. */
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
  /** Lower case; with a grade in brackets only that grade counts, without one any grade does. */
  readonly categories: readonly string[]
  /** How far back an intrusion-detection hit or a dated abuse record supports a Dangerous score. */
  readonly evidenceDays: number
  readonly phishingProbability: number
  readonly newbornDays: number
  readonly dgaScore: number
  /** How many of newborn, random text, fake domain and invalid TLS make a domain suspicious. */
  readonly signs: number
  /** A domain report older than this says nothing any more. */
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
