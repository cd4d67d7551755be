// Reads a profile of a lookup service (requests, errors, paths of facts), merges it over the bundled one and reports its problems.
import { Type, type TSchema } from '@sinclair/typebox'
import { isObject } from '../base/json-object.js'
import { exposures } from '../domain/address-details.js'
import { flags } from '../domain/flag.js'
import { ratings } from '../domain/finding.js'
import { operationNames, operations, type OperationName } from '../domain/operations.js'
import { reasons } from '../domain/reason.js'
import { errorReasons, passingReasons, ratingScales, type ServiceProfile } from '../domain/service-profile.js'
import type { Problem } from './problem.js'
import { freeze } from './schema.js'
import { createValidator, explain } from './validate.js'
import { readYamlFile, type NamedText } from './yaml-file.js'

const pathText = {
  maxLength: 200,
  pattern: '^[A-Za-z0-9_-]+(\\[\\])?(\\.[A-Za-z0-9_-]+(\\[\\])?)*$',
  form: 'names with dots between them, such as data.score; [] after the name of a list stands for each of its entries',
}
const path = (description: string) => Type.String({ ...pathText, description })
const places = (description: string) =>
  Type.Union([Type.String(pathText), Type.Array(Type.String(pathText), { minItems: 1, maxItems: 8 })], {
    description: `${description} A path, or a list of paths.`,
    form: 'a path, or a list of paths: names with dots between them',
  })
const scaled = Type.Object(
  { path: Type.String(pathText), scale: Type.Unsafe<string>({ type: 'string', enum: [...ratingScales] }) },
  { additionalProperties: false },
)
const ratingPlaces = (description: string) =>
  Type.Union(
    [
      Type.String(pathText),
      scaled,
      Type.Array(Type.Union([Type.String(pathText), scaled]), { minItems: 1, maxItems: 8 }),
    ],
    {
      description: `${description} A path; or path and scale for a number: from1 (1 to 5), from0 (0 to 4), percent; or a list of these, of which the first with a value counts.`,
      form: 'a path, an object with path and scale, or a list of them',
    },
  )

/** Null removes an entry of the bundled profile. */
const orNothing = (schema: TSchema): TSchema =>
  Type.Optional(
    Array.isArray(schema.anyOf)
      ? { ...schema, anyOf: [...(schema.anyOf as TSchema[]), Type.Null()] }
      : { ...schema, type: [schema.type as string, 'null'] },
  )
const object = (members: Record<string, TSchema>, description: string): TSchema =>
  Type.Object(Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, orNothing(schema)])), {
    additionalProperties: false,
    description,
  })

const code = Type.Union([Type.Integer(), Type.String({ minLength: 1, maxLength: 64 })])
const codes = (description: string) => Type.Array(code, { minItems: 1, maxItems: 50, description })

const operation = Type.Object(
  {
    method: Type.Optional(
      Type.Unsafe<string>({ type: 'string', enum: ['GET', 'POST'], description: 'The HTTP method.' }),
    ),
    path: Type.Optional(
      Type.String({
        maxLength: 500,
        pattern: '^/[^\\s#]*$',
        form: 'a path such as /ip/data',
        description: 'The path after the base path, with {id} in place of the id.',
      }),
    ),
    parameters: Type.Optional(
      Type.Record(Type.String(), Type.String({ maxLength: 64, pattern: '^[A-Za-z0-9_.-]*$' }), {
        description: 'The names of parameters that differ; empty: the service does not have the parameter.',
      }),
    ),
  },
  { additionalProperties: false },
)

const errorRow = Type.Object(
  {
    status: Type.Optional(codes('Codes in the body; 5xx is 500 to 599.')),
    http: Type.Optional(codes('HTTP statuses; 5xx is 500 to 599.')),
    words: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
        minItems: 1,
        maxItems: 8,
        description: 'Words that must all be in the message, in upper or lower case.',
      }),
    ),
    reason: Type.Unsafe<string>({ type: 'string', enum: [...errorReasons], description: 'What it means.' }),
    pauseSeconds: Type.Optional(
      Type.Number({
        exclusiveMinimum: 0,
        maximum: 3600,
        description: 'The pause before the next call if there is no Retry-After; for busy, throttled and unavailable.',
      }),
    ),
  },
  { additionalProperties: false },
)

const example = Type.Object(
  {
    operation: Type.Unsafe<OperationName>({
      type: 'string',
      enum: [...operationNames],
      description: 'What was asked.',
    }),
    asked: Type.Optional(Type.String({ minLength: 1, maxLength: 260, description: 'The address or name.' })),
    http: Type.Integer({ default: 200, minimum: 100, maximum: 599, description: 'The HTTP status.' }),
    answer: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The body.' })),
    gives: Type.Optional(
      Type.Unsafe<string>({ type: 'string', enum: [...reasons], description: 'The reason of a failure.' }),
    ),
    facts: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The facts expected from it; others are not checked.',
      }),
    ),
  },
  { additionalProperties: false },
)

export const profileSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 80, description: 'The name of the service, for people.' }),
    ),
    basePath: Type.Optional(
      Type.String({
        maxLength: 200,
        pattern: '^(/[^\\s?#]*[^\\s?#/])?$',
        form: 'a path such as /v1, or empty',
        description: 'The prefix of every path.',
      }),
    ),
    key: Type.Optional(
      object(
        {
          header: Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description: 'The header that carries the key.' }),
          prefix: Type.String({
            maxLength: 32,
            pattern: '^[\\x20-\\x7e]*$',
            description: 'Text before the key, such as Bearer.',
          }),
          query: Type.String({
            pattern: '^[A-Za-z0-9_.-]{1,64}$',
            description: 'The query parameter that carries the key.',
          }),
        },
        'Where the key goes: a header or a query parameter.',
      ),
    ),
    envelope: Type.Optional(
      object(
        {
          status: path('The member of the body with the status; null: the HTTP status decides.'),
          success: codes('The statuses of a success.'),
          message: places('The error message.'),
        },
        'The status of a call in the body of an answer.',
      ),
    ),
    operations: Type.Optional(
      object(
        Object.fromEntries(operationNames.map((name) => [name, operation])),
        'The request of each operation; null: the service does not have it.',
      ),
    ),
    errors: Type.Optional(
      Type.Array(errorRow, {
        minItems: 1,
        maxItems: 200,
        description:
          'The meaning of failures. The first row with a matching code in the body counts, then the first with a matching HTTP status, then the first with only words; a row with words also needs them in the message.',
      }),
    ),
    ratings: Type.Optional(
      object(
        Object.fromEntries(
          ratings.map((rating) => [
            rating,
            Type.Array(Type.String({ minLength: 1, maxLength: 32, pattern: '^[^A-Z]+$' }), {
              maxItems: 16,
              description: `Words for ${rating}, in lower case.`,
            }),
          ]),
        ),
        'The names of the ratings in answers.',
      ),
    ),
    answers: Type.Optional(
      object(
        {
          address: object(
            {
              subject: places('The address in question.'),
              under: path('The object that holds the facts, if not the top level.'),
              flags: object(
                Object.fromEntries(
                  flags
                    .filter((flag) => flag !== 'safeguarded')
                    .map((flag) => [flag, places('True if any of the places is true.')]),
                ),
                'Flags of an address.',
              ),
              accusedBy: places('True makes the address malicious; false has no effect.'),
              inbound: ratingPlaces('The rating as a source.'),
              outbound: ratingPlaces('The rating as a destination.'),
              categories: places('The categories of its records.'),
              scanningRecords: places('Records of scanning: a number, a list, or an object with count and data.'),
              idsHits: places('Intrusion-detection hits, in the same forms.'),
              idsLatest: places('When they were; the newest counts.'),
              abuseRecords: places('Abuse records, in the same forms.'),
              ports: object(
                {
                  rows: places('Rows of ports, one for each port and scan.'),
                  port: places('The number, in a row.'),
                  status: places('The state of the port in a row: closed if it is not open.'),
                  at: places('The time of the scan in a row; the newest row of a port counts.'),
                },
                'Open ports.',
              ),
              vulnerabilities: places('CVE ids.'),
              exposes: object(
                Object.fromEntries(
                  exposures.map((name) => [
                    name,
                    places('The count: a number, a list, or an object with count and data.'),
                  ]),
                ),
                'Publicly reachable things.',
              ),
              owner: places('The owner of the address.'),
              country: places('Two letters.'),
              asNumber: places('The AS number.'),
              asName: places('The AS name.'),
              listings: path('Entries of lists, as `threatweave serve` names them.'),
            },
            'Answers about an address.',
          ),
          reports: object(
            {
              rows: path('The list of reports; the other paths, except listings, are relative to a row.'),
              url: places('URL or name.'),
              scanId: places('The id of the scan.'),
              at: places('When it was scanned.'),
              rating: ratingPlaces('How bad it is.'),
              issues: places('What was found, in words.'),
              listings: path('Entries of lists, as `threatweave serve` names them.'),
            },
            'Answers with the reports of a domain.',
          ),
          report: object(
            {
              subject: places('The names in question.'),
              rating: ratingPlaces('How bad it is.'),
              at: places('When it was scanned.'),
              atHoursAhead: Type.Number({
                minimum: -14,
                maximum: 14,
                description: 'The offset of `at` from UTC.',
              }),
              phishingRecords: places('A count.'),
              safeBrowsingHits: places('A count.'),
              criticalAbuseRecords: places('A count.'),
              phishingProbability: places('From 0 to 100.'),
              dgaScore: places('From 0 to 10.'),
              registeredAt: places('When the domain was registered.'),
              fakeDomain: places('True or false.'),
              invalidTls: places('True or false.'),
            },
            'The full report of a scan.',
          ),
          scan: object(
            {
              id: places('The id of the scan that was started.'),
              percent: places('The progress of a scan; 100 is done, below 0 has failed.'),
            },
            'Answers about scans.',
          ),
          account: object(
            {
              plan: places('The plan.'),
              quota: places('The quota.'),
              memberSince: places('A date.'),
              planSince: places('A date.'),
              lastSeen: places('A date.'),
              email: places('Never shown.'),
              key: places('Never shown.'),
            },
            'The account behind the key.',
          ),
        },
        'The paths of facts in an answer.',
      ),
    ),
    examples: Type.Optional(
      Type.Array(example, {
        maxItems: 100,
        description: 'Sample answers with the expected facts; `threatweave check FILE` runs them.',
      }),
    ),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave service profile',
    additionalProperties: false,
    description:
      'The profile of a lookup service: requests, errors and paths of facts. sources/lookup-service.yaml, or the file in intel.service.profile, which is merged over it.',
  },
)

const validate = createValidator(profileSchema)

type Read =
  | {
      readonly profile: ServiceProfile
      readonly placeOf: (path: string) => string | undefined
      readonly hasExamples: boolean
    }
  | { readonly problems: readonly Problem[] }

/** Merges the file over `base`, or reads a complete profile; returns every problem otherwise. */
export const readProfileFile = (file: NamedText, base?: ServiceProfile): Read => {
  const { content, problems: unreadable, placeOf } = readYamlFile(file)
  if (unreadable.length > 0) return { problems: unreadable }
  const problems: Problem[] = []
  const add = (problem: Problem): void =>
    void problems.push({ ...problem, where: placeOf(problem.setting) ?? file.name })
  for (const error of validate(content)) {
    const problem = explain(error)
    if (problem) add(problem)
  }
  if (problems.length > 0) return { problems }
  // The examples of the base do not apply to a changed profile.
  const below = base === undefined ? {} : { ...base, examples: [] }
  const profile = layOver(below, content) as ServiceProfile
  for (const problem of contradictions(profile)) add(problem)
  return problems.length > 0
    ? { problems }
    : { profile: freeze(profile), placeOf, hasExamples: profile.examples.length > 0 }
}

const layOver = (base: object, over: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const laid: Record<string, unknown> = { ...base }
  for (const [name, value] of Object.entries(over)) {
    const below = laid[name]
    if (value === null) Reflect.deleteProperty(laid, name)
    else laid[name] = isObject(value) ? layOver(isObject(below) ? below : {}, value) : value
  }
  return laid
}

/** Checks beyond the schema. */
const contradictions = (profile: ServiceProfile): readonly Problem[] => {
  const problems: Problem[] = []
  const wrong = (setting: string, message: string): void => void problems.push({ setting, message })
  const need = (setting: string, value: unknown): void => {
    if (value === undefined) wrong(setting, 'must be there')
  }
  for (const name of [
    'name',
    'basePath',
    'key',
    'envelope',
    'operations',
    'errors',
    'ratings',
    'answers',
    'examples',
  ] as const)
    need(name, profile[name])
  if (problems.length > 0) return problems
  const { key, envelope, answers, errors } = profile
  if ((key.header === undefined) === (key.query === undefined))
    wrong('key', 'needs either header or query; set the other to null')
  if (key.prefix !== undefined && key.header === undefined) wrong('key.prefix', 'needs header')
  if (envelope.status !== undefined) need('envelope.success', envelope.success)
  for (const part of ['address', 'reports', 'report', 'scan', 'account'] as const)
    need(`answers.${part}`, answers[part])
  if (problems.length > 0) return problems
  need('answers.address.flags', answers.address.flags)
  if (answers.address.ports !== undefined) {
    need('answers.address.ports.rows', answers.address.ports.rows)
    need('answers.address.ports.port', answers.address.ports.port)
  }
  need('answers.reports.rows', answers.reports.rows)
  need('answers.reports.url', answers.reports.url)
  need('answers.scan.id', answers.scan.id)
  need('answers.scan.percent', answers.scan.percent)
  for (const rating of ratings) need(`ratings.${rating}`, profile.ratings[rating])
  for (const name of operationNames) {
    const spelled = profile.operations[name]
    if (spelled === undefined) continue
    need(`operations.${name}.method`, spelled.method)
    need(`operations.${name}.path`, spelled.path)
    if (problems.length > 0) continue
    const parameters = Object.keys(operations[name].parameters)
    for (const [, placeholder = ''] of spelled.path.matchAll(/\{([^}]*)\}/g))
      if (!parameters.includes(placeholder))
        wrong(`operations.${name}.path`, `has {${placeholder}}, and ${name} has no such parameter`)
    for (const parameter of Object.keys(spelled.parameters ?? {}))
      if (!parameters.includes(parameter))
        wrong(
          `operations.${name}.parameters.${parameter}`,
          `is no parameter; ${name} has ${parameters.join(', ') || 'none'}`,
        )
  }
  errors.forEach(({ status, http, words, reason, pauseSeconds }, nth) => {
    if (status === undefined && http === undefined && words === undefined)
      wrong(`errors.${nth}`, 'needs status, http or words')
    if (status !== undefined && http !== undefined) wrong(`errors.${nth}`, 'has status and http; write two rows')
    if (pauseSeconds !== undefined && !passingReasons.has(reason))
      wrong(`errors.${nth}.pauseSeconds`, `has no meaning for ${reason}`)
  })
  profile.examples.forEach(({ gives, facts }, nth) => {
    if ((gives === undefined) === (facts === undefined)) wrong(`examples.${nth}`, 'needs either gives or facts')
  })
  return problems
}
