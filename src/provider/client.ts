// The client of the provider: one HTTP call, bounded in every direction: an answer, or a failure with its reason; never a throw.
import type { Dispatcher } from 'undici'
import { buildRequest, type GivenParameters, type Request } from './build-request.js'
import { badAnswer, badInput, classify, classifyTransport, type CallFailure, givenUp, late } from './classify.js'
import { connect, refuseUnusable, type ConnectSettings, type ConnectOutside } from './connect.js'
import type { OperationName, Parameters, PathProfile } from './operations.js'
import { parseBody } from './parse-body.js'
import { numberOf, textOf, type JsonMembers } from './read-value.js'
import { createRedact, type Redact } from './redact.js'

export type ProviderSettings = ConnectSettings & {
  readonly baseUrl: string
  readonly paths: PathProfile
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxAnswerDepth: number
}

/** A provider that needs longer is as good as down; a larger or deeper body is no answer of the eighteen operations. */
export const clientLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 15_000,
  maxAnswerBytes: 4_194_304,
  maxAnswerDepth: 32,
} as const satisfies Partial<ProviderSettings>

export type ClientOutside = ConnectOutside & {
  readonly now: () => number
  /** A gateway lets live traffic go before replayed history. */
  readonly urgency?: 'live' | 'replay'
}

export type ProviderAnswer = { readonly status: 'answer'; readonly body: JsonMembers }
export type Reply = ProviderAnswer | { readonly status: 'failure'; readonly failure: CallFailure }

export type Client = {
  readonly call: <Name extends OperationName>(name: Name, parameters: Parameters<Name>) => Promise<Reply>
  /** For a name and parameters that came as text. */
  readonly callNamed: (name: OperationName, parameters: GivenParameters) => Promise<Reply>
  readonly redact: Redact
  readonly close: () => Promise<void>
}

/** Throws when the settings cannot work. */
export const createClient = (settings: ProviderSettings, outside: ClientOutside): Client => {
  const base = new URL(settings.baseUrl)
  refuseUnusable(settings, base)
  const redact = createRedact(settings.apiKey)
  const dispatcher = connect(settings, base, outside)
  const paths = { profile: settings.paths, overrides: settings.pathOverrides }
  const headers = {
    accept: 'application/json',
    'user-agent': 'threatweave',
    ...(outside.urgency === 'replay' ? { 'x-threatweave-urgency': 'replay' } : {}),
    ...(settings.apiKey === '' ? {} : { [settings.apiKeyHeader]: settings.apiKey }),
  }
  const prefix = base.pathname.replace(/\/+$/, '')
  let closed = false
  const isClosed = (): boolean => closed
  const callNamed = async (name: OperationName, parameters: GivenParameters): Promise<Reply> => {
    if (isClosed()) return failed(unsent(givenUp))
    const built = buildRequest(name, parameters, paths)
    if ('problem' in built) return failed(unsent(badInput(built.problem)))
    const reply = await send(
      { ...built, path: prefix + built.path },
      { base, headers, dispatcher, settings, redact, outside },
    )
    if (reply.status === 'answer') return reply
    const { isUnsent } = reply.failure
    return failed(isClosed() ? { ...givenUp, ...(isUnsent && { isUnsent }) } : redactFailure(reply.failure, redact))
  }
  const close = (): Promise<void> => {
    closed = true
    return dispatcher.destroy()
  }
  return { call: callNamed, callNamed, redact, close }
}

const redactFailure = ({ detail, said, ...rest }: CallFailure, redact: Redact): CallFailure => ({
  ...rest,
  detail: redact.text(detail),
  ...(said && { said: { ...said, message: redact.text(said.message) } }),
})

const unsent = (failure: CallFailure): CallFailure => ({ ...failure, isUnsent: true })

const failed = (failure: CallFailure): Reply => ({ status: 'failure', failure })

type SendContext = {
  readonly base: URL
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Dispatcher
  readonly settings: ProviderSettings
  readonly redact: Redact
  readonly outside: ClientOutside
}

/** `dispatch` and not `request` of the library, whose streams and signals cost more than all the rest of a call. */
const send = (built: Request, context: SendContext): Promise<Reply> =>
  new Promise((resolve) => {
    const { settings } = context
    const url = new URL(built.path, context.base)
    const chunks: Uint8Array[] = []
    let size = 0
    let http = 0
    let retryAfterMs: number | undefined
    let phase = 'the answer'
    /** There from the moment in which the request is written to a connection. */
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    const end = (reply: Reply): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      resolve(reply)
    }
    const fail = (failure: CallFailure): void => end(failed(controller ? failure : unsent(failure)))
    const leave = (): void => controller?.abort(new Error('nobody waits for the answer any more'))
    const limit = (ms: number): NodeJS.Timeout =>
      setTimeout(() => {
        fail(late(phase))
        leave()
      }, ms)
    let timer = limit(settings.connectTimeoutMs + settings.headersTimeoutMs)
    context.dispatcher.dispatch(
      {
        path: url.pathname + url.search,
        method: built.method,
        headers: {
          ...context.headers,
          ...(built.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        body: built.form ?? null,
      },
      {
        onRequestStart: (started) => {
          if (isOver) started.abort(new Error('nobody waits for the answer any more'))
          else controller = started
        },
        onResponseStart: (_, statusCode, headers) => {
          http = statusCode
          retryAfterMs = retryAfter(headers['retry-after'], context.outside.now())
          clearTimeout(timer)
          phase = 'the rest of the answer'
          timer = limit(settings.bodyTimeoutMs)
        },
        onResponseData: (_, chunk) => {
          chunks.push(chunk)
          if ((size += chunk.length) <= settings.maxAnswerBytes) return
          end(readReply(http, undefined, retryAfterMs, context))
          leave()
        },
        onResponseEnd: () => end(readReply(http, Buffer.concat(chunks, size), retryAfterMs, context)),
        onResponseError: (_, error) => fail(classifyTransport(codeOf(error))),
      },
    )
  })

const readReply = (
  http: number,
  bytes: Uint8Array | undefined,
  retryAfterMs: number | undefined,
  context: SendContext,
): Reply => {
  const isGood = http >= 200 && http < 300
  if (http >= 300 && http < 400) return failed(badAnswer(`HTTP ${http}: a redirect, which is not followed`))
  if (!bytes && isGood) return failed(badAnswer(`the answer is larger than ${context.settings.maxAnswerBytes} bytes`))
  const parsed = parseBody(bytes ?? new Uint8Array(), context.settings.maxAnswerDepth, context.redact)
  if ('problem' in parsed) {
    if (isGood) return failed(badAnswer(`HTTP ${http}, but the answer ${parsed.problem}`))
    return failed(classify({ http, code: undefined, message: '', retryAfterMs }))
  }
  const { body } = parsed
  const code = numberOf(body.status)
  if (isGood && code === 200) return { status: 'answer', body }
  return failed(classify({ http, code, message: textOf(body.message, 500) ?? '', retryAfterMs }))
}

/** Seconds or a date; no provider gets to name more than a day. */
const retryAfter = (header: string | string[] | undefined, now: number): number | undefined => {
  if (typeof header !== 'string') return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 86_400_000)
}

/** Only the code of an error is ever shown: its words may hold anything. */
const codeOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'CONNECTION_FAILED'
}
