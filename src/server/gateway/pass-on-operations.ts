// Forwards HTTP requests to the leading gateway with the key of the client, and returns its answer unchanged.
import type { Clock } from '../../base/clock.js'
import type { Election, Role } from '../../election/election.js'
import type { Client, Reply } from '../../provider/client.js'
import type { OperationName } from '../../domain/operations.js'
import { failures, refused, type JsonObject, type OperationAnswer } from '../answer.js'

type PassOnParts = {
  readonly election: Pick<Election, 'role' | 'changed'>
  /** A client for the gateway at this address, with the key. */
  readonly clientFor: (address: string, apiKey: string | undefined, urgency: 'live' | 'replay') => Client
  /** The maximum time that an HTTP request waits for a leader. */
  readonly waitMs: number
  readonly clock: Clock
  readonly passed: () => void
}

type Passed = {
  readonly name: OperationName
  readonly given: Readonly<Record<string, unknown>>
  readonly apiKey: string | undefined
  readonly urgency: 'live' | 'replay'
  /** The request was already forwarded by another gateway. */
  readonly isPassedOn: boolean
}

/** Undefined if this gateway is the leader. */
export type PassOnOperation = (asked: Passed) => Promise<OperationAnswer | undefined>

const againMs = 200
const nobodyCalls = refused({
  ...failures.unavailable,
  message: 'no gateway is the leader at the moment',
  retryAfterS: 5,
})

export const createPassOnOperation = ({ election, clientFor, waitMs, clock, passed }: PassOnParts): PassOnOperation => {
  const changedWithin = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        cancel()
        unsubscribe()
        resolve()
      }
      const cancel = clock.after(ms, end)
      const unsubscribe = election.changed(end)
    })
  const ask = async ({ address }: Role & { readonly kind: 'passes_on' }, asked: Passed): Promise<Reply> => {
    passed()
    const parameters = Object.entries(asked.given).map(([name, value]): [string, string] => [name, String(value)])
    return clientFor(address, asked.apiKey, asked.urgency).callNamed(asked.name, Object.fromEntries(parameters))
  }
  return async (asked) => {
    for (const until = clock.now() + waitMs; ;) {
      const role = election.role()
      if (role.kind === 'calls') return undefined
      const leftMs = until - clock.now()
      if ((asked.isPassedOn && role.kind !== 'takes_over') || leftMs <= 0) return nobodyCalls
      if (role.kind === 'passes_on') {
        const reply = await ask(role, asked)
        if (reply.status === 'answer' || reply.failure.isUnsent !== true) return answerOf(reply)
        await changedWithin(againMs)
      } else await changedWithin(leftMs)
    }
  }
}

const answerOf = (reply: Reply): OperationAnswer => {
  const { isFeedMissing = false, at } = reply
  const provenance = { isFeedMissing, ...(at !== undefined && { at }) }
  if (reply.status === 'answer') return { ok: true, body: reply.body as JsonObject, isKnown: true, ...provenance }
  const { reason, said, afterMs, detail } = reply.failure
  const failure = said
    ? { reason, http: said.http, status: said.code, message: said.message }
    : { ...failures.unavailable, message: `the leading gateway could not be reached: ${detail}` }
  const retryAfterS = failure.http >= 400 && afterMs !== undefined ? { retryAfterS: Math.ceil(afterMs / 1000) } : {}
  return { ok: false, failure: { ...failure, ...retryAfterS }, ...provenance }
}
