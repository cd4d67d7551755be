// One HTTP exchange with limits on size and time. Returns the response or a failure with its reason; never throws.
import { afterRunning } from '../base/after-running.js'
import { systemClock } from '../base/clock.js'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { classifyTransport, late, type CallFailure } from './classify.js'

export type ExchangeLimits = {
  readonly connectTimeoutMs: number
  readonly headersTimeoutMs: number
  readonly bodyTimeoutMs: number
  readonly maxAnswerBytes: number
}

type ExchangeContext = {
  readonly dispatcher: Pick<Dispatcher, 'dispatch'>
  readonly settings: ExchangeLimits
  readonly now: () => number
}

/** The head of the response; `at`: its arrival in epoch milliseconds. */
type Head = { readonly http: number; readonly headers: IncomingHttpHeaders; readonly at: number }

type Exchanged = { readonly head?: Head } & (
  | {
      readonly status: 'answered'
      readonly http: number
      /** Undefined if the body exceeds the limit. */
      readonly bytes: Uint8Array | undefined
      readonly retryAfterMs: number | undefined
    }
  | { readonly status: 'failed'; readonly failure: CallFailure }
)

export const unsent = (failure: CallFailure): CallFailure => ({ ...failure, isUnsent: true })

/** Uses `dispatch` of the library, because the streams and signals of `request` cost more than the rest of a call. */
export const exchange = (
  request: Pick<Dispatcher.DispatchOptions, 'path' | 'method' | 'headers' | 'body'>,
  { dispatcher, settings, now }: ExchangeContext,
): Promise<Exchanged> =>
  new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let head: Head | undefined
    let retryAfterMs: number | undefined
    let phase = 'the answer'
    /** Set when the request is written to a connection. */
    let controller: Dispatcher.DispatchController | undefined
    let isOver = false
    const end = (exchanged: Exchanged): void => {
      if (isOver) return
      isOver = true
      cancelLimit()
      resolve(head ? { ...exchanged, head } : exchanged)
    }
    const fail = (failure: CallFailure): void =>
      end({ status: 'failed', failure: controller ? failure : unsent(failure) })
    const answer = (bytes: Uint8Array | undefined): void =>
      end({ status: 'answered', http: head?.http ?? 0, bytes, retryAfterMs })
    const leave = (): void => controller?.abort(new Error('nobody waits for the answer any more'))
    const limit = (ms: number): (() => void) =>
      afterRunning({ now, after: systemClock.after }, ms, () => {
        fail(late(phase))
        leave()
      })
    let cancelLimit = limit(settings.connectTimeoutMs + settings.headersTimeoutMs)
    dispatcher.dispatch(request, {
      onRequestStart: (started) => {
        if (isOver) started.abort(new Error('nobody waits for the answer any more'))
        else controller = started
      },
      onResponseStart: (_, http, headers) => {
        // An interim response (1xx) does not extend the time limit.
        if (http < 200) return
        head = { http, headers, at: now() }
        retryAfterMs = retryAfter(headers['retry-after'], head.at)
        cancelLimit()
        phase = 'the body of the answer'
        cancelLimit = limit(settings.bodyTimeoutMs)
      },
      onResponseData: (_, chunk) => {
        chunks.push(chunk)
        if ((size += chunk.length) <= settings.maxAnswerBytes) return
        answer(undefined)
        leave()
      },
      onResponseEnd: () => answer(Buffer.concat(chunks, size)),
      onResponseError: (_, error) => fail(classifyTransport(codeOf(error))),
    })
  })

/** Seconds or a date, limited to a day. */
const retryAfter = (header: string | string[] | undefined, now: number): number | undefined => {
  if (typeof header !== 'string') return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), 86_400_000)
}

/** Only the code of an error is shown, because its message may contain secrets. */
const codeOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[A-Z0-9_]{1,64}$/.test(code) ? code : 'CONNECTION_FAILED'
}
