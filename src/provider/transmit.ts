// Sends one operation through admission, and turns its failure into the finding that says so.
import type { Unknown } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import type { Emit } from '../telemetry/event.js'
import type { Answer, Client } from './call.js'
import { badAnswer, isGivenUp, type Failure } from './classify.js'
import type { OperationName, Parameters } from './operations.js'

export type Wire = { readonly client: Client; readonly now: () => number; readonly emit: Emit }

/** `isMeant` refuses an answer about something else than was asked. */
export const transmit = <Name extends OperationName>(
  wire: Wire,
  call: Call,
  name: Name,
  parameters: Parameters<Name>,
  isMeant: (answer: Answer) => boolean = () => true,
): Promise<Answer | Unknown> =>
  call<Answer>(async () => {
    const from = wire.now()
    const reply = await wire.client.call(name, parameters)
    const ms = wire.now() - from
    if (reply.status === 'answer' && isMeant(reply)) {
      wire.emit({ event: 'provider_answered', operation: name, ms })
      return reply
    }
    const failure = reply.status === 'answer' ? badAnswer('the answer is about something else') : reply.failure
    if (!isGivenUp(failure))
      wire.emit({ event: 'provider_call_failed', operation: name, reason: failure.reason, detail: failure.detail, ms })
    return unknownOf(failure, wire.now())
  })

export const unknownOf = ({ reason, afterMs, isUnsent }: Failure, now: number): Unknown => ({
  status: 'unknown',
  reason,
  ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
  ...(isUnsent && { isUnsent }),
  // That nothing is known is an answer too, and may be remembered.
  ...(reason === 'not_found' ? { at: now } : {}),
})
