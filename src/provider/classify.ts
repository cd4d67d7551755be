// A failed call becomes one of a closed set of reasons, with whether and when to try again: by its words, then its body's code, then HTTP's.
import type { Reason } from '../domain/reason.js'

export type CallFailure = {
  readonly reason: Reason
  /** Whether the same call may succeed later without anybody changing anything. */
  readonly retry: boolean
  /** When to try again; absent when nothing says so. */
  readonly afterMs?: number
  /** In words, without anything secret. */
  readonly detail: string
  /** Not a byte of the request was written. */
  readonly isUnsent?: true
  /** What the provider itself said, for a gateway that passes it on. */
  readonly said?: { readonly http: number; readonly code: number; readonly message: string }
}

type Refusal = {
  readonly http: number
  /** The `status` member of the body, as a number. */
  readonly code: number | undefined
  readonly message: string
  readonly retryAfterMs?: number | undefined
}

type Kind = { readonly reason: Reason; readonly retry: boolean; readonly afterMs?: number }

const second = 1000
const hour = 3_600_000

const kinds = {
  badKey: { reason: 'bad_key', retry: false },
  oneAtATime: { reason: 'busy', retry: true, afterMs: 2 * second },
  scanRunning: { reason: 'busy', retry: true, afterMs: 15 * second },
  quotaEnd: { reason: 'no_credit', retry: false, afterMs: hour },
  plan: { reason: 'plan', retry: false },
  badInput: { reason: 'bad_input', retry: false },
  notFound: { reason: 'not_found', retry: false },
  throttled: { reason: 'throttled', retry: true, afterMs: 30 * second },
  broken: { reason: 'unavailable', retry: true },
  nonsense: { reason: 'bad_answer', retry: false },
} as const satisfies Record<string, Kind>

/** The first that fits counts: what speaks of the rate is before what speaks of a limit. */
const texts: readonly (readonly [words: readonly string[], kind: Kind])[] = [
  [['invalid', 'api key'], kinds.badKey],
  [['api key', 'required'], kinds.badKey],
  [['api key', 'missing'], kinds.badKey],
  [['unable to call api at the same time'], kinds.oneAtATime],
  [['at the same time'], kinds.oneAtATime],
  [['still scanning'], kinds.scanRunning],
  [['scan', 'wait'], kinds.scanRunning],
  [['scan', 'in progress'], kinds.scanRunning],
  [['rate limit'], kinds.throttled],
  [['too many requests'], kinds.throttled],
  [['limit exceeded'], kinds.quotaEnd],
  [['quota'], kinds.quotaEnd],
  [['credit'], kinds.quotaEnd],
  [['upgrade', 'plan'], kinds.plan],
  [['your plan'], kinds.plan],
  [['not available', 'plan'], kinds.plan],
  [['not enabled'], kinds.plan],
  [['invalid ip address'], kinds.badInput],
  [['invalid url'], kinds.badInput],
]

const byText = (message: string): Kind | undefined => {
  const text = message.slice(0, 500).toLowerCase()
  return text === '' ? undefined : texts.find(([words]) => words.every((word) => text.includes(word)))?.[1]
}

const byCode = (code: number | undefined): Kind | undefined => {
  if (code === undefined) return undefined
  if (code >= 500 && code < 600) return kinds.broken
  switch (code) {
    case 400:
    case 412:
    case 413:
    case 414:
    case 415:
    case 420:
    case 422:
      return kinds.badInput
    case 401:
      return kinds.badKey
    case 402:
    case 403:
      return kinds.quotaEnd
    case 404:
      return kinds.notFound
    case 408:
      return kinds.broken
    case 429:
      return kinds.throttled
    default:
      return undefined
  }
}

/** HTTP's own 404 says that the path is wrong, not that nothing is known. */
const byHttp = (http: number): Kind => (http === 404 ? kinds.nonsense : (byCode(http) ?? kinds.nonsense))

export const classify = ({ http, code, message, retryAfterMs }: Refusal): CallFailure => {
  const kind: Kind = byText(message) ?? byCode(code === 200 ? undefined : code) ?? byHttp(http)
  const afterMs = kind.retry ? (retryAfterMs ?? kind.afterMs) : kind.afterMs
  const said = message === '' ? '' : `: ${message.slice(0, 200)}`
  const codes = code === undefined || code === http ? `HTTP ${http}` : `HTTP ${http}, status ${code}`
  return {
    reason: kind.reason,
    retry: kind.retry,
    ...(afterMs === undefined ? {} : { afterMs }),
    detail: codes + said,
    ...(message === '' ? {} : { said: { http, code: code ?? http, message } }),
  }
}

/** Failures below HTTP, by the codes that Node and its HTTP client give them. */
export const classifyTransport = (code: string): CallFailure => {
  const isLate = code.endsWith('_TIMEOUT') || code === 'ETIMEDOUT'
  return { reason: isLate ? 'timeout' : 'unavailable', retry: true, detail: isLate ? `too late (${code})` : code }
}

/** Nobody waits for the answer any more: we are about to end. That says nothing about the provider. */
export const givenUp: CallFailure = { reason: 'pending', retry: false, detail: 'given up at the end' }
export const isGivenUp = ({ reason }: CallFailure): boolean => reason === givenUp.reason
export const badAnswer = (detail: string): CallFailure => ({ reason: 'bad_answer', retry: false, detail })
export const late = (what: string): CallFailure => ({ reason: 'timeout', retry: true, detail: `${what} took too long` })
export const badInput = (detail: string): CallFailure => ({ reason: 'bad_input', retry: false, detail })
