// Settings of the judgement: what each kind of evidence amounts to, and the thresholds.
import { Type } from '@sinclair/typebox'
import {
  rowLevels,
  rowNames,
  shippedTable,
  type Row,
  type RowLevel,
  type RowName,
} from '../../domain/judgement-table.js'

const abouts: Readonly<Record<RowName, string>> = {
  reportedMalicious: 'is_malicious is true.',
  critical: 'An address scored Critical for its role.',
  criticalDenied: 'Scored Critical, but is_malicious is explicitly false.',
  dangerousWithEvidence: 'Scored Dangerous, with a bad category, an abuse record or a recent intrusion-detection hit.',
  dangerous: 'Scored Dangerous alone.',
  badCategory: 'A bad category alone.',
  hidden: 'Tor or dark web.',
  scannerAsSource: 'A scanner, scanning records or intrusion-detection hits, seen as a source.',
  scanner: 'The same, seen in any other role.',
  moderateAsDestination: 'Scored Moderate, seen as a destination.',
  moderate: 'Scored Moderate, seen in any other role.',
  domainCritical: 'A domain scored Critical.',
  domainDangerousWithEvidence:
    'Scored Dangerous, with a phishing record, a Safe Browsing hit, a critical abuse record or a high phishing probability.',
  domainDangerous: 'A domain scored Dangerous alone.',
  domainModerate: 'A domain scored Moderate.',
  domainSigns: 'Several of: newborn, random-looking name, fake domain, invalid TLS.',
}

const rowSettings = (name: RowName) => {
  const shipped: Row = shippedTable.rows[name]
  return Type.Object(
    {
      level: Type.Unsafe<RowLevel>({
        type: 'string',
        enum: [...rowLevels],
        default: shipped.level,
        description: 'flag: shown, but decides nothing.',
      }),
      score: Type.Optional(
        Type.Number({
          ...(shipped.score === undefined ? {} : { default: shipped.score }),
          minimum: 0,
          maximum: 100,
          description: 'The score that goes with it.',
        }),
      ),
    },
    { additionalProperties: false, default: {}, description: abouts[name] },
  )
}

type RowSettings = { [name in RowName]: ReturnType<typeof rowSettings> }

export const tableSettings = Type.Object(
  {
    rows: Type.Object(Object.fromEntries(rowNames.map((name) => [name, rowSettings(name)])) as RowSettings, {
      additionalProperties: false,
      default: {},
      description: 'What each kind of evidence amounts to; the worst that applies decides.',
    }),
    categories: Type.Array(Type.String({ pattern: '^[^A-Z]+$' }), {
      default: [...shippedTable.categories],
      description: 'Categories that count as bad, in lower case; with a grade in brackets only that grade.',
    }),
    evidenceDays: Type.Number({
      default: shippedTable.evidenceDays,
      minimum: 0,
      description: 'How far back an intrusion-detection hit or a dated abuse record counts.',
    }),
    phishingProbability: Type.Number({
      default: shippedTable.phishingProbability,
      minimum: 0,
      maximum: 100,
      description: 'From where a phishing probability counts as evidence.',
    }),
    newbornDays: Type.Number({
      default: shippedTable.newbornDays,
      minimum: 0,
      description: 'Until what age a domain counts as newborn.',
    }),
    dgaScore: Type.Number({
      default: shippedTable.dgaScore,
      minimum: 0,
      description: 'From where a name counts as random-looking.',
    }),
    signs: Type.Integer({
      default: shippedTable.signs,
      minimum: 1,
      maximum: 4,
      description: 'How many signs make a domain suspicious.',
    }),
  },
  { additionalProperties: false, default: {}, description: 'How facts become a verdict.' },
)
