// A failed call becomes one of a closed set of reasons: by the code in its body, then HTTP's, then its words.
import type { Reason } from '../domain/reason.js'

export type CallFailure = {
  readonly reason: Reason
  /** When to try again; absent when nothing says so. */
  readonly afterMs?: number
  /** In words, without anything secret. */
  readonly detail: string
  /** Not a byte of the request was written. */
  readonly isUnsent?: true
  /** What the provider itself said, for a gateway that passes it on. */
  readonly said?: { readonly http: number; readonly code: number; readonly message: string }
}

/** A refusal in the provider's own envelope. */
type Refusal = {
  readonly http: number
  /** The status in the body, as a number; absent where it is no number. */
  readonly code: number | undefined
  readonly message: string
  readonly retryAfterMs?: number | undefined
}

/** A row without codes fits by its words alone, once no code has told. */
type ErrorRow = {
  /** Codes of the body, in which `5xx` is 500 to 599. */
  readonly status?: readonly (number | '5xx')[]
  /** The same of HTTP. */
  readonly http?: readonly (number | '5xx')[]
  /** All of them are in the message, in any case. */
  readonly words?: readonly string[]
  readonly reason: Reason
  /** The pause before the next call, where no Retry-After says how long. */
  readonly pauseSeconds?: number
}

const errorRows: readonly ErrorRow[] = [
  // Words tell apart what one code means; a message may repeat what was asked, so they never outweigh a code.
  { status: [400, 403, 429, '5xx'], words: ['at the same time'], reason: 'busy', pauseSeconds: 2 },
  { status: [400], words: ['still scanning'], reason: 'busy', pauseSeconds: 15 },
  { status: [400], words: ['scan', 'in progress'], reason: 'busy', pauseSeconds: 15 },
  { status: [400, 403], words: ['limit exceeded'], reason: 'no_credit' },
  { status: [403], words: ['invalid', 'api key'], reason: 'bad_key' },
  { status: [403], words: ['plan'], reason: 'plan' },
  { status: [403], words: ['not enabled'], reason: 'plan' },
  { status: [400, 412, 413, 414, 415, 420, 422], reason: 'bad_input' },
  { status: [401], reason: 'bad_key' },
  { status: [402, 403], reason: 'no_credit' },
  { status: [404], reason: 'not_found' },
  { status: [429], reason: 'throttled', pauseSeconds: 30 },
  { status: [408, '5xx'], reason: 'unavailable' },
  { http: [400, 412, 413, 414, 415, 420, 422], reason: 'bad_input' },
  { http: [401], reason: 'bad_key' },
  { http: [402, 403], reason: 'no_credit' },
  { http: [429], reason: 'throttled', pauseSeconds: 30 },
  { http: [408, '5xx'], reason: 'unavailable' },
  { words: ['at the same time'], reason: 'busy', pauseSeconds: 2 },
  { words: ['rate limit'], reason: 'throttled', pauseSeconds: 30 },
  { words: ['limit exceeded'], reason: 'no_credit' },
  { words: ['invalid api key'], reason: 'bad_key' },
  { words: ['invalid ip address'], reason: 'bad_input' },
]

const maxWordsLength = 500

const includesCode = (codes: readonly (number | '5xx')[] | undefined, code: number | undefined): boolean =>
  code !== undefined &&
  codes !== undefined &&
  (codes.includes(code) || (codes.includes('5xx') && code >= 500 && code < 600))

/** A success in one place says nothing about a failure in the other. */
const rowFor = (rows: readonly ErrorRow[], { http, code, message }: Refusal): ErrorRow | undefined => {
  const text = message.slice(0, maxWordsLength).toLowerCase()
  const says = ({ words = [] }: ErrorRow): boolean => words.every((word) => text.includes(word))
  return (
    rows.find((row) => includesCode(row.status, code) && says(row)) ??
    rows.find((row) => includesCode(row.http, http) && says(row)) ??
    rows.find((row) => !row.status && !row.http && says(row))
  )
}

export const classify = (refusal: Refusal): CallFailure => {
  const { http, code, message, retryAfterMs } = refusal
  const row = rowFor(errorRows, refusal)
  const reason = row?.reason ?? 'bad_answer'
  const afterMs = retryAfterMs ?? (row?.pauseSeconds === undefined ? undefined : row.pauseSeconds * 1000)
  const said = message === '' ? '' : `: ${message.slice(0, 200)}`
  const codes = code === undefined || code === http ? `HTTP ${http}` : `HTTP ${http}, status ${code}`
  return {
    reason,
    ...(afterMs !== undefined && passing.has(reason) && { afterMs }),
    detail: codes + said,
    ...(message === '' ? {} : { said: { http, code: code ?? http, message } }),
  }
}

/** Only these name a time: the rest ends when somebody changes something. */
const passing: ReadonlySet<Reason> = new Set<Reason>(['busy', 'throttled', 'unavailable'])

/**
 * A web page or another JSON shape comes from something in between and says nothing about key, credit or input. What it says about
 * the rate of calls (429) holds for whatever is in between.
 */
export const notTheirs = (http: number, problem: string, retryAfterMs?: number): CallFailure => ({
  reason: http === 429 ? 'throttled' : 'unavailable',
  ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }),
  detail: `HTTP ${http}, but the answer ${problem}`,
})

/** Failures below HTTP, by the codes that Node and its HTTP client give them. */
export const classifyTransport = (code: string): CallFailure => {
  const isLate = code.endsWith('_TIMEOUT') || code === 'ETIMEDOUT'
  return { reason: isLate ? 'timeout' : 'unavailable', detail: isLate ? `too late (${code})` : code }
}

/** Nobody waits for the answer any more: we are about to end. That says nothing about the provider. */
export const givenUp: CallFailure = { reason: 'pending', detail: 'given up at the end' }
export const isGivenUp = ({ reason }: CallFailure): boolean => reason === givenUp.reason
export const badAnswer = (detail: string): CallFailure => ({ reason: 'bad_answer', detail })
export const late = (what: string): CallFailure => ({ reason: 'timeout', detail: `${what} took too long` })
export const badInput = (detail: string): CallFailure => ({ reason: 'bad_input', detail })
