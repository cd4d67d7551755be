// Why the provider could not be asked, as a failure for the caller: in the provider's words where it spoke, in its style where it did not.
import type { Unknown } from '../../domain/finding.js'
import type { Reason } from '../../domain/reason.js'
import type { CallFailure } from '../../provider/classify.js'
import { failures, tooFast, type Failure } from '../failure.js'

const unavailable = (message: string): Failure => ({ http: 503, status: 503, message })

/** The caller's own key is good; it is the gateway's that the provider does not take. */
const badGatewayKey: Failure = { http: 200, status: 401, message: 'invalid api key of the gateway at its provider' }

const notFound: Failure = { http: 200, status: 404, message: 'not found' }

const byReason: { readonly [reason in Reason]?: Failure } = {
  bad_key: badGatewayKey,
  no_credit: failures.noCredit,
  budget_spent: failures.noCredit,
  plan: failures.notPlanned,
  busy: failures.busy,
  not_found: notFound,
  feed_missing: notFound,
  bad_input: failures.badRequest,
  queue_full: unavailable('too many questions are waiting for the provider'),
  breaker_open: unavailable('the provider is out of order and left alone for a while'),
  cooling_down: unavailable('the provider could not answer this lately and is left alone with it for a while'),
  timeout: unavailable('the provider took too long'),
  unavailable: unavailable('the provider is out of reach'),
  bad_answer: { http: 502, status: 502, message: 'the provider gave an answer that makes no sense' },
}

const maxRetryAfterS = 86_400

export const passOn = ({ reason, retryAfterMs }: Unknown, said: CallFailure['said']): Failure => {
  const retryAfterS = retryAfterMs === undefined ? undefined : Math.min(Math.ceil(retryAfterMs / 1000), maxRetryAfterS)
  if (reason === 'throttled') return tooFast(retryAfterS ?? 1)
  const words = reason === 'bad_key' ? undefined : said
  const failure: Failure =
    words === undefined
      ? (byReason[reason] ?? unavailable('the provider was not asked'))
      : { http: words.http, status: words.code === 200 ? 500 : words.code, message: words.message }
  return retryAfterS === undefined || failure.http < 400 ? failure : { ...failure, retryAfterS }
}
