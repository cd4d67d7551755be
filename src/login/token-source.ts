// Shares one token between all connections. It is renewed at 80 % of its lifetime and used until it expires if renewal fails.
import type { Clock } from '../base/clock.js'
import type { Login, LoginFailure, LoginToken } from '../kafka/login.js'
import type { Emit } from '../telemetry/event.js'

/** A token with its lifetime, counted from the start of the request; never rejects. */
export type ObtainToken = () => Promise<
  { readonly value: string; readonly lifeMs: number } | (LoginFailure & { readonly retryAfterMs?: number | undefined })
>

const renewedAt = 0.8
/** Leaves time to use the token at the broker before it expires. */
const marginMs = (lifeMs: number): number => Math.min(0.05 * lifeMs, 5_000)

// Exponential backoff after a failure, shared by all connections.
const firstPauseMs = 1_000
const longestPauseMs = 30_000

export const createTokenSource = (
  obtain: ObtainToken,
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): Login => {
  let token: LoginToken | undefined
  let failure: LoginFailure | undefined
  let failures = 0
  let notBefore = 0
  let renewing: Promise<void> | undefined
  let cancel = (): void => undefined

  const usable = (): LoginToken | undefined => (token && clock.now() < token.endsAt ? token : undefined)
  const renewIn = (ms: number): void => {
    cancel()
    cancel = clock.after(ms, () => void renew())
  }
  const attempt = async (): Promise<void> => {
    const startedAt = clock.now()
    const got = await obtain()
    if ('code' in got) {
      const pauseMs = Math.min(firstPauseMs * 2 ** failures++, longestPauseMs)
      failure = { code: got.code, message: got.message }
      notBefore = clock.now() + firstPauseMs
      renewIn(Math.min(Math.max(pauseMs, got.retryAfterMs ?? 0), longestPauseMs))
      const left = Math.round(((usable()?.endsAt ?? 0) - clock.now()) / 1000)
      const inUse = left > 0 ? `; the token in use is valid for ${left} s more` : ''
      emit({ event: 'kafka_client_warned', about: 'login', message: `${got.message}${inUse}` })
      return
    }
    failures = 0
    failure = undefined
    token = { value: got.value, endsAt: startedAt + got.lifeMs - marginMs(got.lifeMs) }
    renewIn(renewedAt * got.lifeMs)
  }
  const renew = (): Promise<void> =>
    (renewing ??= attempt().finally(() => {
      renewing = undefined
    }))

  return async () => {
    if (!usable() && (renewing || !failure || clock.now() >= notBefore)) await renew()
    return usable() ?? failure ?? { code: 'bad_answer', message: 'the token expired before it could be used' }
  }
}
