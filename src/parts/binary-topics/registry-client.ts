// Fetches a schema and its references from a registry over the Confluent API, bounded in number, size and time.
import { isObject, type AnyObject } from '../../base/json-object.js'
import { connect, type ConnectDependencies } from '../../provider/connect.js'
import { exchange, type ExchangeLimits } from '../../provider/exchange.js'
import { parseBody } from '../../provider/parse-body.js'
import { createRedact } from '../../provider/redact.js'
import type { RegisteredSchema } from './compile-schema.js'
import type { SchemaKey } from './schema-id.js'

type RegistryAnswer =
  | { readonly status: 'found'; readonly schema: RegisteredSchema }
  /** No schema with this id, or an unusable one. */
  | { readonly status: 'missing'; readonly message: string; readonly isRefused: boolean }
  /** No usable answer; retried later. */
  | { readonly status: 'away'; readonly message: string }

export type RegistryClient = {
  readonly schemaOf: (key: SchemaKey) => Promise<RegistryAnswer>
  readonly close: () => Promise<void>
}

type RegistryLogin = {
  readonly url: string
  readonly username: string
  readonly password: string
  readonly token: string
}

type Options = Pick<ConnectDependencies, 'env' | 'ca' | 'certificate'> & { readonly now: () => number }

const limits: ExchangeLimits & { readonly maxAnswerDepth: number } = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 10_000,
  bodyTimeoutMs: 10_000,
  maxAnswerBytes: 2_097_152,
  maxAnswerDepth: 64,
}

/** The maximum number of direct and indirect references. */
const maxReferences = 200
const maxReferenceDepth = 20
const maxTotalLength = 8_388_608

export const createRegistryClient = (login: RegistryLogin, options: Options): RegistryClient => {
  const base = new URL(login.url.endsWith('/') ? login.url : `${login.url}/`)
  const dispatcher = connect({ concurrency: 4, connectTimeoutMs: limits.connectTimeoutMs }, base, options)
  const headers = {
    accept: 'application/vnd.schemaregistry.v1+json, application/json',
    'user-agent': 'threatweave',
    ...(login.username !== '' && {
      authorization: `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`,
    }),
    ...(login.token !== '' && { authorization: `Bearer ${login.token}` }),
  }

  type Got = { readonly body: AnyObject } | Exclude<RegistryAnswer, { status: 'found' }>
  const get = async (path: string): Promise<Got> => {
    const url = new URL(path, base)
    const exchanged = await exchange(
      { path: url.pathname + url.search, method: 'GET', headers, body: null },
      { dispatcher, settings: limits, now: options.now },
    )
    if (exchanged.status === 'failed') return { status: 'away', message: exchanged.failure.detail }
    const { http, bytes } = exchanged
    if (http === 404) return missing('does not have it (HTTP 404)')
    if (http === 401 || http === 403)
      return { status: 'away', message: `refuses the login (HTTP ${http}); check kafka.registry` }
    if (http === 429 || http >= 500) return { status: 'away', message: `answers HTTP ${http}` }
    if (http !== 200) return missing(`answers HTTP ${http}`)
    if (!bytes) return refused(`has one that is larger than ${limits.maxAnswerBytes} bytes`)
    const parsed = parseBody(bytes, limits.maxAnswerDepth, asItIs)
    return 'problem' in parsed
      ? { status: 'away', message: `sent an answer that is not a schema: the answer ${parsed.problem}` }
      : parsed
  }

  const schemaOf = async (key: SchemaKey): Promise<RegistryAnswer> => {
    const got = await get(typeof key === 'number' ? `schemas/ids/${key}` : `schemas/guids/${guidOf(key)}`)
    if ('status' in got) return got
    const { schema, schemaType = 'AVRO' } = got.body
    if (typeof schema !== 'string' || typeof schemaType !== 'string') return refused('answers without a schema')
    const references: string[] = []
    const seen = new Set<string>()
    let length = schema.length
    /** Adds references in order of dependency. */
    const follow = async (list: unknown, depth: number): Promise<RegistryAnswer | undefined> => {
      if (!Array.isArray(list)) return undefined
      for (const one of list as readonly unknown[]) {
        if (!isObject(one)) continue
        const { subject, version } = one
        if (typeof subject !== 'string' || typeof version !== 'number')
          return refused('has a schema with a reference without a name')
        const place = `subjects/${encodeURIComponent(subject)}/versions/${version}`
        if (seen.has(place)) continue
        seen.add(place)
        if (seen.size > maxReferences || depth > maxReferenceDepth)
          return refused('has a schema with too many references')
        const found = await get(place)
        if ('status' in found) return found
        const { schema: text } = found.body
        if (typeof text !== 'string') return refused('has a schema with a reference that has no text')
        if ((length += text.length) > maxTotalLength)
          return refused('has a schema that is too large with its references')
        const failure = await follow(found.body.references, depth + 1)
        if (failure) return failure
        references.push(text)
      }
      return undefined
    }
    const failure = await follow(got.body.references, 0)
    return failure ?? { status: 'found', schema: { type: schemaType, schema, references } }
  }

  return { schemaOf, close: () => dispatcher.destroy() }
}

/** No redaction: a password that also occurs in a schema must not change the schema, and messages show only names from it. */
const asItIs = createRedact('')

const missing = (message: string): Extract<RegistryAnswer, { status: 'missing' }> => ({
  status: 'missing',
  message,
  isRefused: false,
})
const refused = (message: string): Extract<RegistryAnswer, { status: 'missing' }> => ({
  ...missing(message),
  isRefused: true,
})

const guidOf = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
