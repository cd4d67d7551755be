// Classifies a failed call into a closed set of reasons, by the code in its body, then the HTTP status, then its words.
import type { Reason } from '../domain/reason.js'
import { passingReasons, type ErrorRow } from '../domain/service-profile.js'

export type CallFailure = {
  readonly reason: Reason
  /** The delay before a retry, if the answer has one. */
  readonly afterMs?: number
  /** In words, without anything secret. */
  readonly detail: string
  /** No byte of the request was sent. */
  readonly isUnsent?: true
  /** The error of the provider, for a gateway to forward. */
  readonly said?: { readonly http: number; readonly code: number; readonly message: string }
}

/** An error in the envelope of the provider. */
type Refusal = {
  readonly http: number
  /** The status in the body, as a number if it is one. */
  readonly code: number | string | undefined
  readonly message: string
  readonly retryAfterMs?: number | undefined
}

const maxWordsLength = 500

const includesCode = (codes: ErrorRow['http'], code: string | number | undefined): boolean => {
  if (code === undefined || codes === undefined) return false
  if (codes.some((each) => String(each).toLowerCase() === String(code).toLowerCase())) return true
  return codes.includes('5xx') && typeof code === 'number' && code >= 500 && code < 600
}

const rowFor = (rows: readonly ErrorRow[], { http, code, message }: Refusal): ErrorRow | undefined => {
  const text = message.slice(0, maxWordsLength).toLowerCase()
  const says = ({ words = [] }: ErrorRow): boolean => words.every((word) => text.includes(word.toLowerCase()))
  return (
    rows.find((row) => includesCode(row.status, code) && says(row)) ??
    rows.find((row) => includesCode(row.http, http) && says(row)) ??
    rows.find((row) => !row.status && !row.http && says(row))
  )
}

export const classify = (rows: readonly ErrorRow[], refusal: Refusal): CallFailure => {
  const { http, code, message, retryAfterMs } = refusal
  const row = rowFor(rows, refusal)
  const reason = row?.reason ?? 'bad_answer'
  const afterMs = retryAfterMs ?? (row?.pauseSeconds === undefined ? undefined : row.pauseSeconds * 1000)
  const said = message === '' ? '' : `: ${message.slice(0, 200)}`
  const codes = code === undefined || code === http ? `HTTP ${http}` : `HTTP ${http}, status ${code}`
  return {
    reason,
    ...(afterMs !== undefined && passingReasons.has(reason) && { afterMs }),
    detail: codes + said,
    ...(message === '' ? {} : { said: { http, code: typeof code === 'number' ? code : http, message } }),
  }
}

/**
 * A web page or another JSON shape comes from an intermediary and is no evidence about key, credit or input. A rate limit (429) is
 * respected even so.
 */
export const notTheirs = (http: number, problem: string, retryAfterMs?: number): CallFailure => ({
  reason: http === 429 ? 'throttled' : 'unavailable',
  ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }),
  detail: `HTTP ${http}, but the answer ${problem}`,
})

/** Failures below HTTP, by the error codes of Node and of the HTTP client. */
export const classifyTransport = (code: string): CallFailure => {
  const isLate = code.endsWith('_TIMEOUT') || code === 'ETIMEDOUT'
  return { reason: isLate ? 'timeout' : 'unavailable', detail: isLate ? `too late (${code})` : code }
}

/** The call was abandoned at shutdown, which is no failure of the provider. */
export const givenUp: CallFailure = { reason: 'pending', detail: 'abandoned at shutdown' }
export const isGivenUp = ({ reason }: CallFailure): boolean => reason === givenUp.reason
export const aboutElse = 'the answer is about another indicator'
export const badAnswer = (detail: string): CallFailure => ({ reason: 'bad_answer', detail })
export const late = (what: string): CallFailure => ({ reason: 'timeout', detail: `${what} took too long` })
export const badInput = (detail: string): CallFailure => ({ reason: 'bad_input', detail })
