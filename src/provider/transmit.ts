// Sends one operation through admission, and turns a failure into an unknown finding.
import { unlisted, type Unknown } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import type { Emit } from '../telemetry/event.js'
import type { ProviderAnswer, Client } from './client.js'
import { badAnswer, isGivenUp, type CallFailure } from './classify.js'
import type { OperationName, Parameters } from '../domain/operations.js'

export type CallContext = { readonly client: Pick<Client, 'call'>; readonly now: () => number; readonly emit: Emit }

/** `misfitOf` returns why an answer does not fit the request. */
export const transmit = <Name extends OperationName>(
  context: CallContext,
  call: Call,
  name: Name,
  parameters: Parameters<Name>,
  misfitOf: (answer: ProviderAnswer) => string | undefined = () => undefined,
): Promise<ProviderAnswer | Unknown> =>
  call<ProviderAnswer>(async () => {
    const from = context.now()
    const reply = await context.client.call(name, parameters)
    const ms = context.now() - from
    const misfit = reply.status === 'answer' ? misfitOf(reply) : undefined
    if (reply.status === 'answer' && misfit === undefined) {
      context.emit({ event: 'provider_answered', operation: name, ms })
      return { ...reply, operation: name }
    }
    const failure = reply.status === 'answer' ? badAnswer(misfit ?? '') : reply.failure
    if (!isGivenUp(failure))
      context.emit({
        event: 'provider_call_failed',
        operation: name,
        reason: failure.reason,
        detail: failure.detail,
        ms,
      })
    const finding = findingOf(failure, reply.at ?? context.now())
    return reply.isFeedMissing === true ? unlisted(finding) : finding
  })

export const findingOf = ({ reason, afterMs, isUnsent }: CallFailure, now: number): Unknown => ({
  status: 'unknown',
  reason,
  ...(afterMs === undefined ? {} : { retryAfterMs: afterMs }),
  ...(isUnsent && { isUnsent }),
  // A not-found answer may be remembered.
  ...(reason === 'not_found' ? { at: now } : {}),
})
