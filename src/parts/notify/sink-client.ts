// Sends alerts to one sink over HTTP and reports the outcome of each: delivered, permanently rejected, or to be retried.
import { createHmac } from 'node:crypto'
import { isObject, type AnyObject } from '../../base/json-object.js'
import { printable } from '../../domain/control-characters.js'
import { connect } from '../../provider/connect.js'
import { exchange, type ExchangeLimits } from '../../provider/exchange.js'
import { parseBody } from '../../provider/parse-body.js'
import { createRedact, type Redact } from '../../provider/redact.js'
import type { AlertRecord } from './alert-record.js'
import type { Sink } from './sink-file.js'
import { memberAt, type Render, type Scope } from './template.js'

/** The state of the sink according to its last answer. */
export const sinkStates = [
  'working',
  'unauthorised',
  'not_found',
  'busy',
  'failing',
  'timeout',
  'unreachable',
  'redirects',
  'unexpected',
] as const
export type SinkState = (typeof sinkStates)[number]

export type Outcome =
  | { readonly kind: 'delivered' }
  /** A permanent rejection; retries are pointless. */
  | { readonly kind: 'refused'; readonly http: number; readonly answer: string }
  | {
      readonly kind: 'later'
      readonly state: Exclude<SinkState, 'working'>
      readonly detail: string
      readonly afterMs?: number | undefined
    }

export type SinkClient = {
  /** Outcomes in the order of the alerts. A failed request makes all of its alerts `later`. */
  readonly send: (alerts: readonly AlertRecord[]) => Promise<readonly Outcome[]>
  readonly resolve: (alert: AlertRecord) => Promise<Outcome>
  readonly close: () => Promise<void>
}

type SinkClientOptions = { readonly env: Readonly<Record<string, string | undefined>>; readonly ca?: string } & {
  readonly url: URL
  /** Empty without a secret. */
  readonly secret: string
  readonly now: () => number
  readonly limits?: ExchangeLimits
}

const maxAnswerDepth = 32
const sinkLimits: ExchangeLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 20_000,
  bodyTimeoutMs: 20_000,
  // Fits an answer with a reason for each of a thousand alerts.
  maxAnswerBytes: 2_097_152,
}
const maxShown = 500
const concurrency = 4

export const createSinkClient = (sink: Sink, options: SinkClientOptions): SinkClient => {
  const { url, secret, now, limits = sinkLimits } = options
  const dispatcher = connect({ concurrency, connectTimeoutMs: limits.connectTimeoutMs }, url, options)
  const redact = redactOf(sink, url, secret)
  const headersFor = (scope: Scope, body: string): Readonly<Record<string, string>> => ({
    'user-agent': 'threatweave',
    'content-type': sink.content,
    ...(sink.user !== undefined && {
      authorization: `Basic ${Buffer.from(`${sink.user}:${secret}`).toString('base64')}`,
    }),
    ...Object.fromEntries(sink.render.headers.map(([name, render]) => [name, headerText(render(scope, plain))])),
    ...(secret !== '' && signature(sink, secret, body, now())),
  })
  const post = async (scopes: readonly Scope[], render: Render): Promise<readonly Outcome[]> => {
    const all = (outcome: Outcome): readonly Outcome[] => scopes.map(() => outcome)
    const [first] = scopes
    if (!first) return []
    const body = bodyOf(sink, render, scopes)
    const exchanged = await exchange(
      { path: url.pathname + url.search, method: sink.method, headers: headersFor(first, body), body },
      { dispatcher, settings: limits, now },
    )
    if (exchanged.status === 'failed') {
      const { reason, detail } = exchanged.failure
      return all({ kind: 'later', state: reason === 'timeout' ? 'timeout' : 'unreachable', detail })
    }
    const { http, bytes = new Uint8Array(), retryAfterMs } = exchanged
    const outcome = outcomeOf(sink, http, shown(bytes, redact), retryAfterMs)
    return outcome.kind === 'delivered' && sink.answer
      ? eachOf(sink, sink.answer, bytes, scopes.length, redact)
      : all(outcome)
  }
  const scopeOf = (alert: AlertRecord): Scope => ({ alert: alert.whole, sink: sinkScope(sink, alert, secret, now()) })
  return {
    send: (alerts) => post(alerts.map(scopeOf), sink.render.body),
    resolve: async (alert) => {
      const { resolve } = sink.render
      const [outcome] = resolve ? await post([scopeOf(alert)], resolve) : []
      return outcome ?? { kind: 'delivered' }
    },
    close: () => dispatcher.destroy(),
  }
}

/** The values of {sink.…} in templates. */
const sinkScope = (sink: Sink, { level, at }: AlertRecord, secret: string, now: number): AnyObject => ({
  secret,
  level: sink.levels[level] ?? level,
  id: sink.id,
  time: at / 1000,
  now: new Date(now).toISOString(),
  ends_at: new Date(now + sink.openMinutes * 60_000).toISOString(),
})

const bodyOf = (sink: Sink, render: Render, scopes: readonly Scope[]): string => {
  const values = scopes.map((scope) => render(scope, sink))
  switch (sink.content) {
    case 'application/json':
      return JSON.stringify(Array.isArray(values[0]) ? values.flat() : (values[0] ?? null))
    case 'application/x-ndjson':
      return values
        .flat()
        .map((line) => `${JSON.stringify(line)}\n`)
        .join('')
    case 'application/x-www-form-urlencoded':
      return new URLSearchParams(
        Object.entries((values[0] ?? {}) as AnyObject).map(([name, value]): [string, string] => [
          name,
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      ).toString()
    case 'text/plain':
      return typeof values[0] === 'string' ? values[0] : ''
  }
}

const plain = { escape: {}, clip: 2_000 }

/** Replaces invalid characters, which could split the header. */
const headerText = (value: unknown): string =>
  typeof value === 'string' ? value.replace(/[^\x20-\x7e]/g, '?').trim() : ''

const signature = ({ sign }: Sink, secret: string, body: string, now: number): Readonly<Record<string, string>> => {
  if (!sign) return {}
  const time = String(Math.floor(now / 1000))
  const mac = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  return { [sign.timestamp.toLowerCase()]: time, [sign.signature.toLowerCase()]: `sha256=${mac}` }
}

/** Redacts the secret and credentials made from it. If the URL is a secret, its path is redacted too, because error pages repeat it. */
const redactOf = ({ urlFile, user }: Sink, { pathname, search }: URL, secret: string): Redact['text'] => {
  const ofUrl =
    urlFile === undefined ? [] : [pathname + search, ...pathname.split('/').filter((part) => part.length > 7)]
  const secrets = [...(user === undefined ? [] : [`${user}:${secret}`]), secret, ...ofUrl].map(createRedact)
  return (text) => secrets.reduce((result, redact) => redact.text(result), text)
}

const shown = (bytes: Uint8Array, redact: Redact['text']): string =>
  printable(redact(new TextDecoder().decode(bytes.subarray(0, 8_192)))).slice(0, maxShown)

const refusedStatuses: ReadonlySet<number> = new Set([400, 413, 422])

const outcomeOf = (sink: Sink, http: number, answer: string, afterMs: number | undefined): Outcome => {
  if ((http >= 200 && http < 300) || sink.delivered.includes(http)) return { kind: 'delivered' }
  if (refusedStatuses.has(http)) return { kind: 'refused', http, answer }
  const detail = http >= 300 && http < 400 ? `HTTP ${http}, a redirect, which is not followed` : `HTTP ${http}`
  return { kind: 'later', state: stateOf(http), detail: answer === '' ? detail : `${detail}: ${answer}`, afterMs }
}

const stateOf = (http: number): Exclude<SinkState, 'working'> => {
  if (http === 401 || http === 403) return 'unauthorised'
  if (http === 404) return 'not_found'
  if (http === 408) return 'timeout'
  if (http === 429) return 'busy'
  if (http >= 500) return 'failing'
  return http >= 300 && http < 400 ? 'redirects' : 'unexpected'
}

/** Outcomes from an answer that lists one entry per alert. */
const eachOf = (
  sink: Sink,
  answer: NonNullable<Sink['answer']>,
  bytes: Uint8Array,
  count: number,
  redact: Redact['text'],
): readonly Outcome[] => {
  const parsed = parseBody(bytes, maxAnswerDepth, createRedact(''))
  const list = 'body' in parsed ? memberAt(parsed.body, answer.list.split('.')) : undefined
  if (!Array.isArray(list) || list.length !== count) {
    const detail = `the answer does not list ${count} results`
    return Array.from({ length: count }, () => ({ kind: 'later', state: 'unexpected', detail }))
  }
  return list.map((entry: unknown) => {
    const status = memberAt(entry, answer.status.split('.'))
    const error = answer.error === undefined ? undefined : memberAt(entry, answer.error.split('.'))
    const said = typeof error === 'string' ? error : isObject(error) ? JSON.stringify(error) : ''
    return outcomeOf(
      sink,
      typeof status === 'number' ? status : 0,
      printable(redact(said)).slice(0, maxShown),
      undefined,
    )
  })
}
