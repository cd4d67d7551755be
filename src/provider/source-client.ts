// Queries a source about one indicator over HTTP, and returns the facts or the reason of a failure.
import { parseBody } from './parse-body.js'
import { connect, type ConnectDependencies } from './connect.js'
import { badAnswer, givenUp, notTheirs, type CallFailure } from './classify.js'
import { exchange, unsent, type ExchangeLimits } from './exchange.js'
import { createRedact } from './redact.js'
import type { AnyObject } from '../base/json-object.js'
import type { Facts } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { urlFor, type SourceDescription, type StatusMeaning } from '../domain/source-description.js'
import { readAnswer } from './read-source-answer.js'

type SourceReply =
  { readonly status: 'answer'; readonly facts: Facts } | { readonly status: 'failure'; readonly failure: CallFailure }

export type SourceClient = {
  readonly ask: (indicator: Indicator) => Promise<SourceReply>
  readonly close: () => Promise<void>
}

type SourceClientOptions = Pick<ConnectDependencies, 'env' | 'dispatcher'> & {
  /** Empty if the source needs no key. */
  readonly apiKey: string
  readonly concurrency: number
  readonly limits: ExchangeLimits & { readonly maxAnswerDepth: number }
  readonly now: () => number
}

/** Throws if a proxy variable is invalid. */
export const createSourceClient = (source: SourceDescription, options: SourceClientOptions): SourceClient => {
  const { apiKey, concurrency, limits, now } = options
  const base = new URL((Object.values(source.ask)[0] ?? '').replaceAll('{value}', 'x'))
  const dispatcher = connect({ concurrency, connectTimeoutMs: limits.connectTimeoutMs }, base, options)
  const redact = createRedact(apiKey)
  const { header, prefix = '', query } = source.key ?? {}
  const headers = {
    accept: 'application/json',
    'user-agent': 'threatweave',
    ...(header !== undefined && apiKey !== '' && { [header.toLowerCase()]: prefix + apiKey }),
  }
  let closed = false
  const isClosed = (): boolean => closed

  const ask = async (indicator: Indicator): Promise<SourceReply> => {
    const text = urlFor(source, indicator)
    if (isClosed() || text === undefined) return failed(unsent(givenUp))
    const url = new URL(text)
    if (query !== undefined && apiKey !== '') url.searchParams.set(query, apiKey)
    const exchanged = await exchange(
      { path: url.pathname + url.search, method: 'GET', headers, body: null },
      { dispatcher, settings: limits, now },
    )
    if (exchanged.status === 'failed') {
      const { isUnsent } = exchanged.failure
      return failed(isClosed() ? { ...givenUp, ...(isUnsent && { isUnsent }) } : exchanged.failure)
    }
    const { http, bytes, retryAfterMs } = exchanged
    const body = (): Body =>
      bytes
        ? parseBody(bytes, limits.maxAnswerDepth, redact)
        : { problem: `is larger than ${limits.maxAnswerBytes} bytes` }
    return readReply(source, indicator, { http, body, retryAfterMs }, now())
  }

  return {
    ask,
    close: () => {
      closed = true
      return dispatcher.destroy()
    },
  }
}

type Body = { readonly body: AnyObject } | { readonly problem: string; readonly isPage?: true }

/** Interprets status and body; the body is read only if the status means an answer. */
export const readReply = (
  source: SourceDescription,
  indicator: Indicator,
  reply: { readonly http: number; readonly body: () => Body; readonly retryAfterMs?: number | undefined },
  now: number,
): SourceReply => {
  const { http, body, retryAfterMs } = reply
  const meaning = meaningOf(source, http)
  if (meaning !== 'answer' && !ofAccount.has(meaning)) return failed(failureOf(meaning, http, retryAfterMs))
  const parsed = body()
  if (meaning !== 'answer')
    return failed(
      'problem' in parsed && parsed.isPage
        ? notTheirs(http, parsed.problem, retryAfterMs)
        : failureOf(meaning, http, retryAfterMs),
    )
  if ('problem' in parsed) return failed(badAnswer(`HTTP ${http}, but the answer ${parsed.problem}`))
  const read = readAnswer(source, indicator, parsed.body, now)
  return 'problem' in read ? failed(badAnswer(read.problem)) : { status: 'answer', facts: read.facts }
}

const failed = (failure: CallFailure): SourceReply => ({ status: 'failure', failure })

/** The meaning of a status, from the description or by default. */
const meaningOf = ({ statuses }: Pick<SourceDescription, 'statuses'>, http: number): StatusMeaning => {
  if (Object.hasOwn(statuses, String(http))) return statuses[String(http)] ?? 'bad_answer'
  if (http >= 500 && http < 600) return 'unavailable'
  return usual[http] ?? 'bad_answer'
}

/** Without 404, which a wrong path returns as well. */
const usual: Readonly<Record<number, StatusMeaning>> = {
  200: 'answer',
  400: 'bad_input',
  401: 'bad_key',
  402: 'no_credit',
  403: 'bad_key',
  408: 'unavailable',
  422: 'bad_input',
  429: 'throttled',
}

/** A web page with one of these statuses comes from an intermediary, which knows nothing about the account. */
const ofAccount: ReadonlySet<StatusMeaning> = new Set<StatusMeaning>(['bad_key', 'no_credit', 'plan'])

const passing: ReadonlySet<StatusMeaning> = new Set<StatusMeaning>(['throttled', 'unavailable', 'no_credit'])

const failureOf = (
  reason: Exclude<StatusMeaning, 'answer'>,
  http: number,
  afterMs: number | undefined,
): CallFailure => ({
  reason,
  ...(afterMs !== undefined && passing.has(reason) && { afterMs }),
  detail: `HTTP ${http}`,
})
