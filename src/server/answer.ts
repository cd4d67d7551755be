// What an operation came back with: a body in one of the two envelopes, or a failure.
import { parseTimestamp } from '../domain/timestamp.js'
import type { Failure } from './failure.js'

export type Json = string | number | boolean | null | readonly Json[] | JsonObject
/** A member that is undefined is left out of the text. */
export type JsonObject = { readonly [name: string]: Json | undefined }

export type OperationAnswer =
  | {
      readonly ok: true
      readonly body: JsonObject
      /** Whether local intelligence had something to say; if not, a gateway asks further. */
      readonly isKnown: boolean
      readonly isFeedMissing?: boolean
      /** Epoch milliseconds when it was obtained from the provider; absent where it was found here just now. */
      readonly at?: number
    }
  /** `isFeedMissing`: some feed, here or where it was asked, is not in use, so not being listed says little. */
  | { readonly ok: false; readonly failure: Failure; readonly isFeedMissing?: boolean; readonly at?: number }

/** Envelope A: the payload stands beside the status. */
export const flat = (payload: JsonObject, isKnown: boolean): OperationAnswer => ({
  ok: true,
  body: { ...payload, status: 200 },
  isKnown,
})

/** Envelope B: the payload stands under `data`. */
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

/** `YYYY-MM-DD HH:mm:ss` in UTC, as the provider writes times. */
export const timeText = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

/** The same of a time that a row holds in any spelling; a date alone stays a date, and what is no time becomes "". */
export const timeOrDate = (text: string): string => {
  const at = parseTimestamp(text)
  if (at === undefined) return ''
  return /^\d{4}-\d\d-\d\d$/.test(text.trim()) ? text.trim() : timeText(at)
}
