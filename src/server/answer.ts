// The result of an operation: a body in one of two envelopes, or a failure.
import type { Reason } from '../domain/reason.js'
import type { AnswerReader } from '../provider/answer-reader.js'
import { parseTimestamp } from '../domain/timestamp.js'

export type Json = string | number | boolean | null | readonly Json[] | JsonObject
/** Undefined members are omitted from the text. */
export type JsonObject = { readonly [name: string]: Json | undefined }

/** Failures in the words of the provider. Most are sent as HTTP 200 with the code in the body, as its clients expect. */
export type Failure = {
  /** The reason that a bulk connection sends instead of the message. */
  readonly reason: Reason
  readonly http: number
  readonly status: number
  readonly message: string
  readonly retryAfterS?: number
}

const inBody = (reason: Reason, status: number, message: string): Failure => ({ reason, http: 200, status, message })
const inBoth = (reason: Reason, status: number, message: string): Failure => ({ reason, http: status, status, message })

export const failures = {
  badKey: inBody('bad_key', 401, 'invalid api key'),
  busy: inBody('busy', 400, 'unable to call api at the same time'),
  noCredit: inBody('no_credit', 403, 'limit exceeded'),
  badAddress: inBody('bad_input', 400, 'Invalid IP Address.'),
  badTarget: inBody('bad_input', 400, 'invalid url'),
  staysInside: inBody(
    'bad_input',
    400,
    'internal names and addresses are not sent to the provider; see gate.publicSuffixes',
  ),
  offsetTooHigh: inBody('bad_input', 400, 'offset is too high'),
  stillScanning: inBody('busy', 400, 'still scanning, please wait until the previous scan is done'),
  notPlanned: inBody('plan', 403, 'your plan does not include this call'),
  scanOff: inBody('plan', 403, 'domain scans are not enabled on this service'),
  noSuchScan: inBody('not_found', 404, 'there is no report with this id'),
  notReady: inBody('bad_input', 400, 'the report is not ready'),
  noSuchPath: inBoth('not_found', 404, 'not found'),
  wrongMethod: inBoth('bad_answer', 405, 'method not allowed'),
  tooLarge: inBoth('bad_input', 413, 'request too large'),
  badMediaType: inBoth('bad_input', 415, 'unsupported media type'),
  badRequest: inBoth('bad_input', 400, 'bad request'),
  serverError: inBoth('unavailable', 500, 'internal server error'),
  unavailable: inBoth('unavailable', 503, 'service unavailable'),
} as const satisfies Record<string, Failure>

/** A rate limit, not the end of a quota: the client may continue after a pause. */
export const tooFast = (retryAfterS: number): Failure => ({
  ...inBoth('throttled', 429, 'too many requests'),
  retryAfterS,
})
export const missingParameter = (name: string): Failure => inBody('bad_input', 412, `parameter ${name} is required`)
export const invalidParameter = (name: string): Failure => inBody('bad_input', 420, `parameter ${name} is invalid`)

export type OperationAnswer =
  | {
      readonly ok: true
      readonly body: JsonObject
      /** The reader of a body in the format of the provider; absent for our own format. */
      readonly read?: AnswerReader
      /** Whether local data had an answer; otherwise a gateway asks the provider. */
      readonly isKnown: boolean
      readonly isFeedMissing?: boolean
      /** Epoch milliseconds when it was obtained from the provider; absent for local data. */
      readonly at?: number
    }
  /** `isFeedMissing`: a feed here or upstream is not in use, so "not listed" is uncertain. */
  | { readonly ok: false; readonly failure: Failure; readonly isFeedMissing?: boolean; readonly at?: number }

/** Envelope A: the payload is next to the status. */
export const flat = (payload: JsonObject, isKnown: boolean): OperationAnswer => ({
  ok: true,
  body: { ...payload, status: 200 },
  isKnown,
})

/** Envelope B: the payload is under `data`. */
export const wrapped = (data: JsonObject, isKnown: boolean, message = 'api success'): OperationAnswer => ({
  ok: true,
  body: { status: 200, message, data },
  isKnown,
})

export const refused = (failure: Failure): OperationAnswer => ({ ok: false, failure })

/** `count` is the true total, of which at most `limit` rows are shown. */
export const collection = (rows: readonly JsonObject[], limit = Infinity): JsonObject => ({
  count: rows.length,
  data: rows.slice(0, limit),
})

/** `YYYY-MM-DD HH:mm:ss` in UTC, the time format of the provider. */
export const timeText = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

/** Normalises a time in any format; a plain date stays a date, and an invalid time becomes "". */
export const timeOrDate = (text: string): string => {
  const at = parseTimestamp(text)
  if (at === undefined) return ''
  return /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? text.trim() : timeText(at)
}
