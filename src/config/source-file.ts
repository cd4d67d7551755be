// Reads a source file: the schema for requests to another provider and for its answers, and the problems of a file.
import { Type } from '@sinclair/typebox'
import { parseAddress } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import { reasons, type Reason } from '../domain/reason.js'
import {
  askKinds,
  descriptiveFlags,
  limitPeriods,
  sourceLevels,
  statusMeanings,
  type SourceDescription,
} from '../domain/source-description.js'
import { isThisMachine } from '../domain/this-machine.js'
import type { Problem } from './problem.js'
import { freeze } from './schema.js'
import { createValidator, explain } from './validate.js'
import { readYamlFile, type NamedText } from './yaml-file.js'

const oneOf = <Value extends string>(values: readonly Value[], description: string) =>
  Type.Unsafe<Value>({ type: 'string', enum: [...values], description })

const path = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[A-Za-z0-9_-]+(\\[\\])?(\\.[A-Za-z0-9_-]+(\\[\\])?)*$',
    form: 'names with dots between them, such as data.score; [] after the name of a list stands for each of its entries',
    description,
  })

const scalar = Type.Union([Type.String({ maxLength: 200 }), Type.Number(), Type.Boolean()], {
  description: 'A string, a number, true or false; strings are case-sensitive.',
})

const url = Type.String({
  maxLength: 1_000,
  pattern: '^https?://[^\\s{}]+(\\{value\\})[^\\s{}]*$',
  form: 'a URL with {value} where the indicator goes, such as https://intel.example.com/check/{value}',
  description: 'The URL, with {value} where the indicator goes.',
})

const row = Type.Object(
  {
    path: path('The member of the answer to test.'),
    equals: Type.Optional(scalar),
    atLeast: Type.Optional(Type.Number({ description: 'The minimum number.' })),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'The minimum number of list entries.' }),
    ),
    level: oneOf(
      sourceLevels,
      'The resulting level. clean: only if the provider calls it harmless. nothing: no opinion; later rows are ignored.',
    ),
    score: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, description: 'The score of this level, a constant.' }),
    ),
  },
  {
    additionalProperties: false,
    oneOf: [{ required: ['equals'] }, { required: ['atLeast'] }, { required: ['count'] }],
  },
)

const limit = Type.Object(
  { calls: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }), per: oneOf(limitPeriods, 'The period.') },
  { additionalProperties: false },
)

const example = Type.Object(
  {
    asked: Type.String({ minLength: 1, maxLength: 260, description: 'The address or name in question.' }),
    status: Type.Integer({ default: 200, minimum: 100, maximum: 599, description: 'The HTTP status.' }),
    answer: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The body of the answer.' })),
    gives: oneOf<(typeof sourceLevels)[number] | Reason>(
      [...sourceLevels, ...reasons],
      'A level; nothing for an answer without an opinion; or the reason of a failure.',
    ),
    score: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
    categories: Type.Optional(Type.Array(Type.String())),
    flags: Type.Optional(Type.Array(oneOf(descriptiveFlags, 'A flag that is true.'))),
  },
  { additionalProperties: false },
)

export const sourceSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
      form: 'a short name in lower case, such as my-intel',
      description: 'The name of the source in settings, annotations and metrics.',
    }),
    name: Type.String({ minLength: 1, maxLength: 80, description: 'The name of the provider, for people.' }),
    terms: Type.Object(
      {
        url: Type.String({ format: 'url', description: 'The URL of the terms of use.' }),
        note: Type.String({ minLength: 1, maxLength: 500, description: 'The terms that limit its use, in short.' }),
      },
      { additionalProperties: false, description: 'The terms of use; `threatweave check FILE` prints them.' },
    ),
    limits: Type.Array(limit, {
      default: [],
      maxItems: limitPeriods.length,
      description:
        'Rate limits. second and minute are sliding windows; day, week (from Monday) and month are calendar periods in UTC.',
    }),
    ask: Type.Object(Object.fromEntries(askKinds.map((kind) => [kind, Type.Optional(url)])), {
      additionalProperties: false,
      minProperties: 1,
      description: 'The request URL for each kind of indicator; kinds without one are never sent to the provider.',
    }),
    key: Type.Optional(
      Type.Object(
        {
          header: Type.Optional(
            Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$', description: 'The header that carries the key.' }),
          ),
          prefix: Type.Optional(
            Type.String({
              maxLength: 32,
              pattern: '^[\\x20-\\x7e]*$',
              description: 'Text before the key, such as Bearer.',
            }),
          ),
          query: Type.Optional(
            Type.String({
              pattern: '^[A-Za-z0-9_.-]{1,64}$',
              description: 'The query parameter that carries the key.',
            }),
          ),
          optional: Type.Optional(Type.Boolean({ description: 'The provider also answers without a key.' })),
        },
        {
          additionalProperties: false,
          oneOf: [{ required: ['header'] }, { required: ['query'] }],
          description: 'How the key is sent; leave it out if there is no key.',
        },
      ),
    ),
    statuses: Type.Record(Type.String({ pattern: '^[1-5][0-9][0-9]$' }), oneOf(statusMeanings, 'What it means.'), {
      additionalProperties: false,
      default: {},
      description:
        'The meaning of HTTP statuses that differ from the default: 200 answer, 400 and 422 bad_input, 401 and 403 bad_key, 402 no_credit, 429 throttled, 408 and 500 to 599 unavailable, all others bad_answer. not_found: the provider has no data.',
    }),
    subject: Type.Optional(
      path('The member of the answer with the indicator in question; an answer about another indicator is rejected.'),
    ),
    rows: Type.Array(row, {
      minItems: 1,
      maxItems: 50,
      description: 'The level of an answer. The first matching row counts; without a match there is no opinion.',
    }),
    flags: Type.Object(
      Object.fromEntries(
        descriptiveFlags.map((flag) => [
          flag,
          Type.Optional(
            Type.Union([
              path('The member of the answer that is true or false.'),
              Type.Object(
                { path: path('The member of the answer to compare.'), equals: scalar },
                { additionalProperties: false },
              ),
            ]),
          ),
        ]),
      ),
      {
        additionalProperties: false,
        default: {},
        description: 'Flags in the answer. They are shown and do not affect the verdict.',
      },
    ),
    categories: Type.Optional(
      Type.Object(
        {
          path: path('The member of the answer with the categories.'),
          words: Type.Record(Type.String({ maxLength: 64 }), Type.String({ minLength: 1, maxLength: 64 }), {
            description: 'Our category for each category of the provider; others are dropped.',
          }),
        },
        { additionalProperties: false, description: 'The categories of a malicious or suspicious answer.' },
      ),
    ),
    since: Type.Optional(
      path('The member of the answer with the time of the first or last sighting: ISO 8601 or Unix time.'),
    ),
    freshHours: Type.Number({
      default: 24,
      exclusiveMinimum: 0,
      maximum: 8_760,
      description: 'The TTL of answers in hours.',
    }),
    examples: Type.Array(example, {
      default: [],
      maxItems: 100,
      description: 'Sample answers with the expected result; `threatweave check FILE` runs them.',
    }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave source',
    additionalProperties: false,
    description:
      'A source: requests to another provider and the meaning of its answers. A file of sources/, or one in intel.sources.',
  },
)

const validate = createValidator(sourceSchema)

/** The parsed file, or all of its problems. */
export const readSourceFile = (
  file: NamedText,
):
  | { readonly source: SourceDescription; readonly placeOf: (path: string) => string | undefined }
  | { readonly problems: readonly Problem[] } => {
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
  const source = content as SourceDescription
  for (const problem of contradictions(source)) add(problem)
  return problems.length > 0 ? { problems } : { source: freeze(source), placeOf }
}

/** Checks beyond the schema. */
const contradictions = (source: SourceDescription): readonly Problem[] => {
  const problems: Problem[] = []
  const wrong = (setting: string, message: string): void => void problems.push({ setting, message })
  const urls = Object.entries(source.ask)
  const origins = new Set<string>()
  for (const [kind, template] of urls) {
    const text = template.replaceAll('{value}', 'x')
    if (!URL.canParse(text)) wrong(`ask.${kind}`, 'must be a URL')
    else {
      const { protocol, hostname, username, password, origin } = new URL(text)
      origins.add(origin)
      if (hostname === 'x' || !template.replace(/^https?:\/\/[^/?]+/, '').includes('{value}'))
        wrong(`ask.${kind}`, 'must have {value} behind the host')
      if (username + password !== '') wrong(`ask.${kind}`, 'must not contain a password; the key comes from apiKeyFile')
      if (protocol === 'http:' && !isThisMachine(hostname)) wrong(`ask.${kind}`, 'must be https')
    }
  }
  if (origins.size > 1) wrong('ask', 'must use the same host in all URLs, because the key is sent there')
  if (source.ask.ip !== undefined && (source.ask.ipv4 ?? source.ask.ipv6) !== undefined)
    wrong('ask.ip', 'covers both IPv4 and IPv6; use either ip, or ipv4 and ipv6')
  const periods = source.limits.map(({ per }) => per)
  source.limits.forEach(({ per, calls }, at) => {
    if (periods.indexOf(per) !== at) wrong(`limits.${at}`, `names ${per} again`)
    if ((per === 'second' || per === 'minute') && calls > maxRecent)
      wrong(`limits.${at}.calls`, `must be at most ${maxRecent} for a ${per}; leave out what is not a limit`)
  })
  source.rows.forEach(({ path: at, count, score, level }, nth) => {
    if (count !== undefined && at.endsWith('[]')) wrong(`rows.${nth}.path`, 'must name the list itself, without []')
    if ((level === 'clean' || level === 'nothing') && score !== undefined)
      wrong(`rows.${nth}.score`, `has no meaning for ${level}`)
  })
  if (source.key?.prefix !== undefined && source.key.header === undefined) wrong('key.prefix', 'needs header')
  source.examples.forEach(({ asked }, nth) => {
    if (parseAddress(asked) === undefined && parseHostname(asked) === undefined)
      wrong(`examples.${nth}.asked`, 'must be an address or a name')
  })
  return problems
}

/** A sliding window stores the time of each call, so its size is bounded. */
const maxRecent = 1_000
