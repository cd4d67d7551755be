// The file that `intel.table` names: what each kind of evidence amounts to, and the thresholds, where they are not the built-in ones.
import { Type } from '@sinclair/typebox'
import {
  rowLevels,
  rowNames,
  shippedTable,
  type JudgementTable,
  type Row,
  type RowLevel,
  type RowName,
} from '../domain/judgement-table.js'
import { freeze } from './schema.js'
import type { Problem } from './problem.js'
import { createValidator, explain } from './validate.js'
import { readYamlFile, type NamedText } from './yaml-file.js'

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
  anonymizer: 'A VPN or a proxy.',
  exposed: 'A camera, a device, storage or an administration page that everybody can reach.',
  vulnerable: 'Known vulnerabilities.',
  unsafeNameServer: 'is_safe_dns_server is false.',
  domainCritical: 'A domain scored Critical.',
  domainDangerousWithEvidence:
    'Scored Dangerous, with a phishing record, a Safe Browsing hit, a critical abuse record or a high phishing probability.',
  domainDangerous: 'A domain scored Dangerous alone.',
  domainModerate: 'A domain scored Moderate.',
  domainSigns: 'Several of: newborn, random-looking name, fake domain, invalid TLS.',
}

const rowSchema = (name: RowName) => {
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

type RowSchemas = { [name in RowName]: ReturnType<typeof rowSchema> }

export const judgementSchema = Type.Object(
  {
    rows: Type.Object(Object.fromEntries(rowNames.map((name) => [name, rowSchema(name)])) as RowSchemas, {
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
    maxAgeDays: Type.Number({
      default: shippedTable.maxAgeDays,
      minimum: 0,
      description: 'A report of a domain that is older says nothing any more: the name is unknown, `outdated`.',
    }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave judgement table',
    additionalProperties: false,
    default: {},
    description: 'How facts become a verdict: the file that intel.table names. What it does not say is as built in.',
  },
)

const validate = createValidator(judgementSchema)

/** What the file does not say is as in the built-in table. */
export const readJudgementFile = (
  file: NamedText,
): { readonly table: JudgementTable } | { readonly problems: readonly Problem[] } => {
  const { content, problems: unreadable, placeOf } = readYamlFile(file)
  if (unreadable.length > 0) return { problems: unreadable }
  const problems: Problem[] = []
  for (const error of validate(content)) {
    const problem = explain(error)
    if (problem) problems.push({ ...problem, where: placeOf(problem.setting) ?? file.name })
  }
  return problems.length > 0 ? { problems } : { table: freeze(content) as JudgementTable }
}
