// Sends one HTTP request to the provider with limits on size and time. Returns an answer, or a failure with its reason; never throws.
import type { IncomingHttpHeaders } from 'node:http'
import { type AnyObject } from '../base/json-object.js'
import type { Dispatcher } from 'undici'
import type { Request } from './build-request.js'
import { bulkHeader } from '../bulk/protocol.js'
import { badAnswer, classify, notTheirs, type CallFailure } from './classify.js'
import { exchange, type ExchangeLimits } from './exchange.js'
import { parseBody } from './parse-body.js'
import type { AnswerReader } from './answer-reader.js'
import type { Envelope } from './envelope.js'
import type { ErrorRow } from '../domain/service-profile.js'
import type { Redact } from './redact.js'

export type ProviderAnswer = {
  readonly status: 'answer'
  readonly body: AnyObject
  /** Reads the body. */
  readonly read: AnswerReader
  readonly operation?: string
} & Provenance
export type Reply = ProviderAnswer | ({ readonly status: 'failure'; readonly failure: CallFailure } & Provenance)

/** Metadata that a gateway sends with its answer. */
type Provenance = {
  /** A feed of the answering server is not in use. */
  readonly isFeedMissing?: boolean
  /** Epoch milliseconds when the gateway obtained it; absent for a fresh answer. */
  readonly at?: number
}

/** Set by `threatweave serve` while one of its feeds is not in use, so an indicator may be listed there after all. */
export const feedMissingHeader = 'x-threatweave-feed-missing'

/** Set by a gateway on a remembered answer: its age in milliseconds. */
export const ageHeader = 'x-threatweave-age'

export type SendSettings = ExchangeLimits & { readonly maxAnswerDepth: number }

export const failed = (failure: CallFailure): Reply => ({ status: 'failure', failure })

type SendContext = {
  readonly base: URL
  readonly headers: Readonly<Record<string, string>>
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  readonly settings: SendSettings
  readonly redact: Redact
  readonly envelope: Envelope
  readonly reader: AnswerReader
  readonly errors: readonly ErrorRow[]
  readonly now: () => number
  /** Called when the provider offers bulk lookups. */
  readonly offered: () => void
}

export const send = async (built: Request, context: SendContext): Promise<Reply> => {
  const url = new URL(built.path, context.base)
  const exchanged = await exchange(
    {
      path: url.pathname + url.search,
      method: built.method,
      headers: {
        ...context.headers,
        ...(built.form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: built.form ?? null,
    },
    context,
  )
  const { head } = exchanged
  if (head?.headers[bulkHeader] !== undefined) context.offered()
  const reply =
    exchanged.status === 'failed'
      ? failed(exchanged.failure)
      : readReply(exchanged.http, exchanged.bytes, exchanged.retryAfterMs, context)
  return head ? { ...reply, ...provenanceOf(head.headers, head.at) } : reply
}

const readReply = (
  http: number,
  bytes: Uint8Array | undefined,
  retryAfterMs: number | undefined,
  context: SendContext,
): Reply => {
  const isGood = http >= 200 && http < 300
  if (http >= 300 && http < 400) return failed(notTheirs(http, 'is a redirect, which is not followed', retryAfterMs))
  if (http === 206) return failed(badAnswer('the answer is partial (HTTP 206)'))
  if (!bytes) {
    const problem = `is larger than ${context.settings.maxAnswerBytes} bytes`
    return failed(isGood ? badAnswer(`the answer ${problem}`) : notTheirs(http, problem, retryAfterMs))
  }
  const parsed = parseBody(bytes, context.settings.maxAnswerDepth, context.redact)
  if ('problem' in parsed) {
    if (isGood && parsed.isForged) return failed(badAnswer(`the answer ${parsed.problem}`))
    return failed(notTheirs(http, parsed.problem, retryAfterMs))
  }
  return readBody(http, parsed.body, retryAfterMs, context)
}

/** Interprets a JSON body. */
export const readBody = (
  http: number,
  body: AnyObject,
  retryAfterMs: number | undefined,
  {
    envelope,
    errors,
    reader,
  }: { readonly envelope: Envelope; readonly errors: readonly ErrorRow[]; readonly reader: AnswerReader },
): Reply => {
  const isGood = http >= 200 && http < 300
  const said = envelope(body)
  if (said === undefined)
    return failed(notTheirs(http, 'has no status, so it does not come from the lookup service', retryAfterMs))
  if (isGood && said.isSuccess) return { status: 'answer', body, read: reader }
  return failed(classify(errors, { http, code: said.code, message: said.message, retryAfterMs }))
}

const provenanceOf = (headers: IncomingHttpHeaders, now: number): Provenance => {
  const age = headers[ageHeader]
  return {
    ...(headers[feedMissingHeader] !== undefined && { isFeedMissing: true }),
    ...(typeof age === 'string' && /^\d{1,12}$/.test(age) && { at: now - Number(age) }),
  }
}
