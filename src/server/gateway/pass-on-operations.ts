// Operations over HTTP where another gateway calls: passed on to it with the key of who asked, and its answer is given as it is.
import type { Clock } from '../../base/clock.js'
import type { Election, Role } from '../../election/election.js'
import type { Client, Reply } from '../../provider/client.js'
import type { OperationName } from '../../domain/operations.js'
import { failures, refused, type JsonObject, type OperationAnswer } from '../answer.js'

type PassOnParts = {
  readonly election: Pick<Election, 'role' | 'changed'>
  /** A client of the gateway with this address, for who has the key. */
  readonly clientFor: (address: string, apiKey: string | undefined, urgency: 'live' | 'replay') => Client
  /** Who asks over HTTP waits no longer than this for a gateway that calls. */
  readonly waitMs: number
  readonly clock: Clock
  readonly passed: () => void
}

type Passed = {
  readonly name: OperationName
  readonly given: Readonly<Record<string, unknown>>
  readonly apiKey: string | undefined
  readonly urgency: 'live' | 'replay'
  /** It comes from another gateway already. */
  readonly isPassedOn: boolean
}

/** Undefined where it is this gateway that calls. */
export type PassOnOperation = (asked: Passed) => Promise<OperationAnswer | undefined>

const againMs = 200
const nobodyCalls = refused({
  ...failures.unavailable,
  message: 'no gateway calls the provider just now',
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
    : { ...failures.unavailable, message: `the gateway that calls could not be asked: ${detail}` }
  const retryAfterS = failure.http >= 400 && afterMs !== undefined ? { retryAfterS: Math.ceil(afterMs / 1000) } : {}
  return { ok: false, failure: { ...failure, ...retryAfterS }, ...provenance }
}
