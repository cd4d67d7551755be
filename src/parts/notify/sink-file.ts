// Schema and checks of sink files, bundled or user-defined: the destination, the request template and the routing.
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Type, type Static } from '@sinclair/typebox'
import { isObject, type AnyObject } from '../../base/json-object.js'
import { packageFolder } from '../../base/package-folder.js'
import { didYouMean } from '../../config/did-you-mean.js'
import type { Problem } from '../../config/problem.js'
import { freeze } from '../../config/schema.js'
import { createValidator, explain } from '../../config/validate.js'
import { readYamlFile, type NamedText } from '../../config/yaml-file.js'
import { isThisMachine } from '../../domain/this-machine.js'
import { matchSchema, unknownFields } from './matchers.js'
import { compileTemplate, type Render } from './template.js'

const oneOf = <Value extends string>(values: readonly Value[], more: object) =>
  Type.Unsafe<Value>({ type: 'string', enum: [...values], ...more })

const headerName = Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' })
const file = (description: string) => Type.String({ minLength: 1, maxLength: 4_096, description })
const path = (description: string) =>
  Type.String({ maxLength: 200, pattern: '^[A-Za-z0-9_@-]+(\\.[A-Za-z0-9_@-]+)*$', description })

const word = Type.Union([Type.String({ maxLength: 64 }), Type.Number()])

const contentTypes = [
  'application/json',
  'application/x-ndjson',
  'application/x-www-form-urlencoded',
  'text/plain',
] as const

export const sinkSchema = Type.Object(
  {
    id: Type.String({
      pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
      form: 'a short name in lower case, such as soc-chat',
      description: 'The name of the sink, in metrics and the log; its consumer group is named after it.',
    }),
    use: Type.Optional(
      Type.String({ description: 'A bundled sink whose members count where this file has none of that name.' }),
    ),
    url: Type.Optional(Type.String({ format: 'url', maxLength: 2_000, description: 'Where requests go.' })),
    urlFile: Type.Optional(file('A file that holds the URL, where the URL itself is a secret.')),
    allowHttp: Type.Boolean({
      default: false,
      description: 'The URL may be http on another machine: alerts and secrets can then be read on the way.',
    }),
    caFile: Type.Optional(file('Certificates (PEM) that are trusted besides the usual ones.')),
    secretFile: Type.Optional(file('A file that holds the secret: {sink.secret} in headers and body.')),
    user: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Basic authentication with this user and the secret.' }),
    ),
    sign: Type.Optional(
      Type.Object(
        { signature: headerName, timestamp: headerName },
        {
          additionalProperties: false,
          description:
            'Headers for the time (Unix seconds) and the signature: sha256= and the HMAC-SHA256 of time, a dot and the body, keyed with the secret, in hexadecimal. Without a secret there are none.',
        },
      ),
    ),
    method: oneOf(['POST', 'PUT'], { default: 'POST', description: 'The method of the request.' }),
    headers: Type.Record(headerName, Type.String({ maxLength: 2_000 }), {
      default: {},
      description: 'Headers of the request, as templates.',
    }),
    content: oneOf(contentTypes, {
      default: 'application/json',
      description:
        'What the body is, which decides how it is written: JSON; lines of JSON, of which the body lists those of one alert; a form, of which it holds the fields; or text.',
    }),
    body: Type.Unsafe<unknown>({
      description:
        'The template of the body. {path} in a text stands for a member of the alert as text, {path|default} has a default; { $value: path } is the member as it is ($value: alert the whole alert), { $each: path, $as: template } a list with {item} in the template. What is one {path} without a value is left out.',
    }),
    levels: Type.Object(
      {
        informational: Type.Optional(word),
        low: Type.Optional(word),
        medium: Type.Optional(word),
        high: Type.Optional(word),
        critical: Type.Optional(word),
      },
      {
        additionalProperties: false,
        default: {},
        description: 'What {sink.level} is for each level of an alert.',
      },
    ),
    escape: Type.Record(Type.String({ minLength: 1, maxLength: 2 }), Type.String({ maxLength: 16 }), {
      default: {},
      description:
        'Characters that the receiver reads as markup, and what is written for them where an alert has them.',
    }),
    clip: Type.Integer({
      default: 2_000,
      minimum: 20,
      maximum: 65_536,
      description: 'How many characters one {path} takes at most.',
    }),
    batch: Type.Integer({
      default: 1,
      minimum: 1,
      maximum: 1_000,
      description:
        'How many alerts one request carries at most. More than one needs lines of JSON, or JSON whose body is a list.',
    }),
    delivered: Type.Array(Type.Integer({ minimum: 300, maximum: 499 }), {
      default: [],
      maxItems: 10,
      description: 'Statuses that count as delivered besides 200 to 299, such as 409 for what is stored already.',
    }),
    answer: Type.Optional(
      Type.Object(
        {
          list: path('Where the answer lists what became of each alert, in their order.'),
          status: path('The HTTP status of one, in its entry.'),
          error: Type.Optional(path('Why it was refused, in its entry.')),
        },
        { additionalProperties: false, description: 'How to read an answer about several alerts.' },
      ),
    ),
    sends: oneOf(['everything', 'updates', 'first'], {
      default: 'first',
      description:
        'Of the alerts of one group_id: everything, whatever its age, for who stores them; updates, for who recognises them by the group_id; or the first alone.',
    }),
    perMinute: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        description: 'Messages a minute at most; one more then says how many alerts there were besides.',
      }),
    ),
    silenced: oneOf(['drop', 'mark'], {
      default: 'drop',
      description: 'What a silence does: hold the alert back, or send it with threatweave.silenced.',
    }),
    openMinutes: Type.Integer({
      default: 60,
      minimum: 1,
      maximum: 10_080,
      description: 'How long after its last alert a group counts as open: {sink.ends_at}, and when resolve is sent.',
    }),
    resolve: Type.Optional(
      Type.Unsafe<unknown>({ description: 'The template of a body that is sent when a group is no longer open.' }),
    ),
    heartbeatMinutes: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_080, description: 'How often a message says that notify is alive.' }),
    ),
    match: Type.Optional(matchSchema),
    default: Type.Boolean({
      default: false,
      description: 'It gets the alerts that no sink with `match` takes. Without this and `match` it gets all.',
    }),
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave sink',
    additionalProperties: false,
    required: ['id', 'body'],
    description: 'Where alerts are sent and how: a file of sinks/, or one that notify.sinks names.',
  },
)

export type SinkDescription = Static<typeof sinkSchema>

/** A description with its compiled templates. */
export type Sink = SinkDescription & {
  readonly render: {
    readonly body: Render
    readonly resolve: Render | undefined
    readonly headers: readonly (readonly [name: string, render: Render])[]
  }
}

const sinksFolder = join(packageFolder, 'sinks')

const bundledSinks = (): readonly string[] => readdirSync(sinksFolder).map((name) => name.replace(/\.yaml$/, ''))

const validate = createValidator(sinkSchema)

/** Returns the sink, or all problems of its file. Bundled sinks have no URL. */
export const readSinkFile = (
  named: NamedText,
): { readonly sink: Sink; readonly hasUrl: boolean } | { readonly problems: readonly Problem[] } => {
  const { content, problems: unreadable, placeOf } = readYamlFile(named)
  if (unreadable.length > 0) return { problems: unreadable }
  const problems: Problem[] = []
  const add = (setting: string, message: string): void =>
    void problems.push({ setting, message, where: placeOf(setting) ?? named.name })
  const under = typeof content.use === 'string' ? bundled(content.use, add) : {}
  const laid: AnyObject = {
    ...under,
    ...content,
    ...(isObject(under.headers) && isObject(content.headers) && { headers: { ...under.headers, ...content.headers } }),
  }
  for (const error of validate(laid)) {
    const problem = explain(error)
    if (problem) add(problem.setting === 'configuration' ? named.name : problem.setting, problem.message)
  }
  if (problems.length > 0) return { problems }
  const description = laid as SinkDescription
  const render = compile(description, add)
  contradictions(description, resolve(named.name).startsWith(sinksFolder), add)
  if (problems.length > 0) return { problems }
  const hasUrl = description.url !== undefined || description.urlFile !== undefined
  return { sink: { ...freeze(description), render }, hasUrl }
}

const bundled = (name: string, add: (setting: string, message: string) => void): AnyObject => {
  const names = bundledSinks()
  if (!names.includes(name)) {
    add('use', `is not a bundled sink${didYouMean(name, names) || `; there are ${names.join(', ')}`}`)
    return {}
  }
  const path = join(sinksFolder, `${name}.yaml`)
  return readYamlFile({ name: path, text: readFileSync(path, 'utf8') }).content
}

const compile = (
  { body, resolve, headers }: SinkDescription,
  add: (setting: string, message: string) => void,
): Sink['render'] => {
  const wrong: { readonly at: string; readonly message: string }[] = []
  const render = {
    body: compileTemplate(body, 'body', wrong),
    resolve: resolve === undefined ? undefined : compileTemplate(resolve, 'resolve', wrong),
    headers: Object.entries(headers).map(
      ([name, text]) => [name.toLowerCase(), compileTemplate(text, `headers.${name}`, wrong)] as const,
    ),
  }
  for (const { at, message } of wrong) add(at, message)
  return render
}

/** Checks that the schema cannot express. */
const contradictions = (
  sink: SinkDescription,
  isBundled: boolean,
  add: (setting: string, message: string) => void,
): void => {
  const { url, urlFile, body, content, match, secretFile } = sink
  if (url !== undefined && urlFile !== undefined) add('urlFile', 'and url exclude each other')
  if (url !== undefined) for (const message of urlProblems(url, sink.allowHttp)) add('url', message)
  const isList = Array.isArray(body)
  if (content === 'application/x-ndjson' && !isList) add('body', 'must be a list of lines')
  if (content === 'application/x-www-form-urlencoded' && !isObject(body)) add('body', 'must hold fields')
  if (content === 'text/plain' && typeof body !== 'string') add('body', 'must be text')
  const canBatch = content === 'application/x-ndjson' || (content === 'application/json' && isList)
  if (sink.batch > 1 && !canBatch) add('batch', 'must be 1 unless the body is a list')
  if (sink.answer !== undefined && !canBatch) add('answer', 'goes with a body that is a list')
  if (sink.default && match !== undefined) add('default', 'and match exclude each other')
  for (const { field, message } of unknownFields(match ?? {})) add(`match.${field}`, message)
  const needsSecret =
    sink.user !== undefined || JSON.stringify([sink.headers, body, sink.resolve]).includes('{sink.secret')
  if (needsSecret && secretFile === undefined && !isBundled) add('secretFile', 'is needed: the sink has a secret')
  if (!needsSecret && sink.sign === undefined && secretFile !== undefined) add('secretFile', 'is not used')
}

export const urlProblems = (text: string, allowHttp: boolean): readonly string[] => {
  if (!URL.canParse(text)) return ['must be a URL']
  const { protocol, hostname, username, password } = new URL(text)
  const problems: string[] = []
  if (protocol !== 'https:' && protocol !== 'http:') problems.push('must be a URL with https')
  if (protocol === 'http:' && !allowHttp && !isThisMachine(hostname))
    problems.push('must be https; allowHttp: true sends alerts and secrets in the clear')
  if (username + password !== '') problems.push('must not hold a password: use user and secretFile')
  return problems
}
