// Sends one HTTP request to the provider, bounded in every direction: an answer, or a failure with its reason; never a throw.
import type { IncomingHttpHeaders } from 'node:http'
import { type AnyObject } from '../base/json-object.js'
import type { Dispatcher } from 'undici'
import type { Request } from './build-request.js'
import { bulkHeader } from '../bulk/protocol.js'
import { badAnswer, classify, classifyTransport, late, type CallFailure } from './classify.js'
import { parseBody } from './parse-body.js'
import { numberOf, textOf } from './read-value.js'
import type { Redact } from './redact.js'

export type ProviderAnswer = {
  readonly status: 'answer'
  readonly body: AnyObject
  readonly operation?: string
} & Provenance
export type Reply = ProviderAnswer | ({ readonly status: 'failure'; readonly failure: CallFailure } & Provenance)

/** What a gateway says of its answer. */
type Provenance = {
  /** A feed of the server that answered is not in use. */
  readonly isFeedMissing?: boolean
  /** Epoch milliseconds when the gateway obtained it; absent where that was just now. */
  readonly at?: number
}

/** With an answer of `threatweave serve`: a feed of it is not in use, so what it does not list may be listed. */
export const feedMissingHeader = 'x-threatweave-feed-missing'

/** With an answer of a gateway that remembered it: how many milliseconds ago it was obtained. */
export const ageHeader = 'x-threatweave-age'

export type SendSettings = {
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly maxAnswerBytes: number
  readonly maxAnswerDepth: number
}

export const unsent = (failure: CallFailure): CallFailure => ({ ...failure, isUnsent: true })

export const failed = (failure: CallFailure): Reply => ({ status: 'failure', failure })

type SendContext = {
  readonly base: URL
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  readonly settings: SendSettings
  readonly redact: Redact
  readonly now: () => number
  /** The provider takes questions in bulk. */
  readonly offered: () => void
}

/** `dispatch` and not `request` of the library, whose streams and signals cost more than all the rest of a call. */
export const send = (built: Request, context: SendContext): Promise<Reply> =>
  new Promise((resolve) => {
    const { settings } = context
    const url = new URL(built.path, context.base)
    const chunks: Uint8Array[] = []
    let size = 0
    let http = 0
    let retryAfterMs: number | undefined
    let provenance: Provenance = {}
    let phase = 'the answer'
    /** There from the moment in which the request is written to a connection. */
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    const end = (reply: Reply): void => {
      if (isOver) return
      isOver = true
      clearTimeout(timer)
      resolve({ ...reply, ...provenance })
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
          if (headers[bulkHeader] !== undefined) context.offered()
          provenance = provenanceOf(headers, context.now())
          retryAfterMs = retryAfter(headers['retry-after'], context.now())
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

const provenanceOf = (headers: IncomingHttpHeaders, now: number): Provenance => {
  const age = headers[ageHeader]
  return {
    ...(headers[feedMissingHeader] !== undefined && { isFeedMissing: true }),
    ...(typeof age === 'string' && /^\d{1,12}$/.test(age) && { at: now - Number(age) }),
  }
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
