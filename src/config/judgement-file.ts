// Reads the file in `intel.table`: levels and scores for each kind of evidence, and thresholds, over the built-in table.
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
  critical: 'An address with the rating Critical for its role.',
  criticalDenied: 'Rated Critical, but is_malicious is explicitly false.',
  dangerousWithEvidence: 'Rated Dangerous, with a bad category, an abuse record or a recent intrusion-detection hit.',
  dangerous: 'Scored Dangerous alone.',
  badCategory: 'Only a bad category.',
  hidden: 'Tor or dark web.',
  scannerAsSource: 'A scanner, scanning records or intrusion-detection hits, in the role of a source.',
  scanner: 'The same, in any other role.',
  moderateAsDestination: 'Rated Moderate, in the role of a destination.',
  moderate: 'Rated Moderate, in any other role.',
  anonymizer: 'A VPN or a proxy.',
  exposed: 'A publicly reachable camera, device, storage or administration page.',
  vulnerable: 'Known vulnerabilities.',
  unsafeNameServer: 'is_safe_dns_server is false.',
  domainCritical: 'A domain rated Critical.',
  domainDangerousWithEvidence:
    'Rated Dangerous, with a phishing record, a Safe Browsing hit, a critical abuse record or a high phishing probability.',
  domainDangerous: 'A domain rated Dangerous without further evidence.',
  domainModerate: 'A domain rated Moderate.',
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
          description: 'The score of this level.',
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
      description: 'The level and score of each kind of evidence; the worst that applies decides.',
    }),
    categories: Type.Array(Type.String({ pattern: '^[^A-Z]+$' }), {
      default: [...shippedTable.categories],
      description: 'Bad categories, in lower case; an entry with a grade in brackets matches only that grade.',
    }),
    evidenceDays: Type.Number({
      default: shippedTable.evidenceDays,
      minimum: 0,
      description: 'The maximum age of intrusion-detection hits and dated abuse records that count.',
    }),
    phishingProbability: Type.Number({
      default: shippedTable.phishingProbability,
      minimum: 0,
      maximum: 100,
      description: 'The minimum phishing probability that counts as evidence.',
    }),
    newbornDays: Type.Number({
      default: shippedTable.newbornDays,
      minimum: 0,
      description: 'The maximum age of a newborn domain.',
    }),
    dgaScore: Type.Number({
      default: shippedTable.dgaScore,
      minimum: 0,
      description: 'The minimum score of a random-looking name.',
    }),
    signs: Type.Integer({
      default: shippedTable.signs,
      minimum: 1,
      maximum: 4,
      description: 'The number of signs that make a domain suspicious.',
    }),
    maxAgeDays: Type.Number({
      default: shippedTable.maxAgeDays,
      minimum: 0,
      description:
        'The maximum age of a domain report; with only older ones the verdict is unknown with the reason `outdated`.',
    }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave judgement table',
    additionalProperties: false,
    default: {},
    description:
      'How facts become a verdict: the file in intel.table. Values that it leaves out are the built-in ones.',
  },
)

const validate = createValidator(judgementSchema)

/** Values that the file leaves out come from the built-in table. */
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
