// Keeps one token for all connections: asked for once, renewed at 80 % of its life, and used to its end while it cannot be renewed.
import type { Clock } from '../base/clock.js'
import type { Login, LoginFailure, LoginToken } from '../kafka/login.js'
import type { Emit } from '../telemetry/event.js'

/** A token with its life, counted from before it was asked for; never rejects. */
export type ObtainToken = () => Promise<
  { readonly value: string; readonly lifeMs: number } | (LoginFailure & { readonly retryAfterMs?: number | undefined })
>

const renewedAt = 0.8
/** A token that ends on its way to the broker is refused there. */
const marginMs = (lifeMs: number): number => Math.min(0.05 * lifeMs, 5_000)

// After a failure: the first try soon, the others further apart, and none sooner because more connections ask.
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
      const inUse = left > 0 ? `; the token in use is good for ${left} s more` : ''
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
    return usable() ?? failure ?? { code: 'bad_answer', message: 'the token ended before it could be used' }
  }
}
