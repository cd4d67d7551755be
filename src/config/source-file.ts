// A file of sources/: how another provider is asked and what its answers mean, as a schema, and what is wrong with one.
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
  description: 'Text, a number or true or false; text counts with upper and lower case.',
})

const url = Type.String({
  maxLength: 1_000,
  pattern: '^https?://[^\\s{}]+(\\{value\\})[^\\s{}]*$',
  form: 'a URL with {value} where the indicator goes, such as https://intel.example.com/check/{value}',
  description: 'The URL, with {value} where the indicator goes.',
})

const row = Type.Object(
  {
    path: path('Where in the answer it is looked for.'),
    equals: Type.Optional(scalar),
    atLeast: Type.Optional(Type.Number({ description: 'The number there is at least this one.' })),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'The list there has at least so many entries.' }),
    ),
    level: oneOf(
      sourceLevels,
      'What it amounts to. clean: only where the provider says that it is harmless. nothing: no opinion, whatever the rows below say.',
    ),
    score: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 100, description: 'The score that goes with it, a constant.' }),
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
    asked: Type.String({ minLength: 1, maxLength: 260, description: 'The address or name that was asked about.' }),
    status: Type.Integer({ default: 200, minimum: 100, maximum: 599, description: 'The HTTP status.' }),
    answer: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'The body of the answer.' })),
    gives: oneOf<(typeof sourceLevels)[number] | Reason>(
      [...sourceLevels, ...reasons],
      'A level; nothing, if it is an answer without an opinion; or the reason why it is not an answer.',
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
      description: 'The name that settings, annotations and metrics give the source.',
    }),
    name: Type.String({ minLength: 1, maxLength: 80, description: 'The name of the provider, for people.' }),
    terms: Type.Object(
      {
        url: Type.String({ format: 'url', description: 'Where the terms of use are.' }),
        note: Type.String({ minLength: 1, maxLength: 500, description: 'What of them decides who may use it.' }),
      },
      { additionalProperties: false, description: 'The terms of use; `threatweave check FILE` prints them.' },
    ),
    limits: Type.Array(limit, {
      default: [],
      maxItems: limitPeriods.length,
      description:
        'Calls at most. A second and a minute are any such span of time; days, weeks (from Monday) and months are those of UTC.',
    }),
    ask: Type.Object(Object.fromEntries(askKinds.map((kind) => [kind, Type.Optional(url)])), {
      additionalProperties: false,
      minProperties: 1,
      description: 'The request for each kind of indicator; what has none here is never sent to the provider.',
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
          optional: Type.Optional(Type.Boolean({ description: 'It answers without a key as well.' })),
        },
        {
          additionalProperties: false,
          oneOf: [{ required: ['header'] }, { required: ['query'] }],
          description: 'Where the key goes; leave it out where there is none.',
        },
      ),
    ),
    statuses: Type.Record(Type.String({ pattern: '^[1-5][0-9][0-9]$' }), oneOf(statusMeanings, 'What it means.'), {
      additionalProperties: false,
      default: {},
      description:
        'What each HTTP status means, where it is not as usual: 200 answer, 400 and 422 bad_input, 401 and 403 bad_key, 402 no_credit, 429 throttled, 408 and 500 to 599 unavailable, all others bad_answer. not_found: the provider knows nothing about it.',
    }),
    subject: Type.Optional(path('Where the answer names what it is about; an answer about anything else is refused.')),
    rows: Type.Array(row, {
      minItems: 1,
      maxItems: 50,
      description: 'What the answer amounts to. The first row that matches counts; none is no opinion.',
    }),
    flags: Type.Object(
      Object.fromEntries(
        descriptiveFlags.map((flag) => [
          flag,
          Type.Optional(
            Type.Union([
              path('Where the answer says true or false.'),
              Type.Object(
                { path: path('Where in the answer it is looked for.'), equals: scalar },
                { additionalProperties: false },
              ),
            ]),
          ),
        ]),
      ),
      {
        additionalProperties: false,
        default: {},
        description: 'Flags that the answer states. They are shown, and decide nothing.',
      },
    ),
    categories: Type.Optional(
      Type.Object(
        {
          path: path('Where the categories are.'),
          words: Type.Record(Type.String({ maxLength: 64 }), Type.String({ minLength: 1, maxLength: 64 }), {
            description: 'The word for each category of the provider; what is not here is left out.',
          }),
        },
        { additionalProperties: false, description: 'Categories that an accusation names.' },
      ),
    ),
    since: Type.Optional(path('Where the answer says since when, or when last, it was seen: ISO 8601 or a Unix time.')),
    freshHours: Type.Number({
      default: 24,
      exclusiveMinimum: 0,
      maximum: 8_760,
      description: 'How many hours an answer is used before the provider is asked again.',
    }),
    examples: Type.Array(example, {
      default: [],
      maxItems: 100,
      description: 'Answers and what they give; `threatweave check FILE` runs them.',
    }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave source',
    additionalProperties: false,
    description:
      'How another provider is asked and what its answers mean: a file of sources/, or one that intel.sources names.',
  },
)

const validate = createValidator(sourceSchema)

/** The description, or every problem of it. */
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

/** What a schema cannot say. */
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
      if (username + password !== '') wrong(`ask.${kind}`, 'must not hold a password; the key comes from apiKeyFile')
      if (protocol === 'http:' && !isThisMachine(hostname)) wrong(`ask.${kind}`, 'must be https')
    }
  }
  if (origins.size > 1) wrong('ask', 'must have the same host in all URLs: the key is sent there')
  if (source.ask.ip !== undefined && (source.ask.ipv4 ?? source.ask.ipv6) !== undefined)
    wrong('ask.ip', 'stands for both kinds of addresses; give it, or ipv4 and ipv6')
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
  if (source.key?.prefix !== undefined && source.key.header === undefined) wrong('key.prefix', 'goes with header alone')
  source.examples.forEach(({ asked }, nth) => {
    if (parseAddress(asked) === undefined && parseHostname(asked) === undefined)
      wrong(`examples.${nth}.asked`, 'must be an address or a name')
  })
  return problems
}

/** When each of them went is kept, so that no span of that length ever holds more. */
const maxRecent = 1_000
