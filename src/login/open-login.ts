// Opens the token login for all connections of a process; undefined for mechanisms that need no token service.
import { readFileSync } from 'node:fs'
import { backgroundClock } from '../base/clock.js'
import { messageOf } from '../base/message-of.js'
import type { Login } from '../kafka/login.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { awsToken } from './aws-token.js'
import { clientCredentials } from './client-credentials.js'
import { loginProblems, type LoginSettings } from './login-problems.js'
import { createTokenSource, type ObtainToken } from './token-source.js'

export type LoginSurroundings = {
  /** For the proxy settings of requests to the token server. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly emit?: Emit
}

/** Requests the first token lazily, because a process may have Kafka settings without using Kafka. */
export const openLogin = (
  settings: LoginSettings,
  { env, emit = ignoreTelemetry }: LoginSurroundings,
): Login | undefined => {
  const { mechanism, tokenUrl } = settings.sasl
  const clock = backgroundClock
  if (mechanism !== 'aws-msk-iam' && (mechanism !== 'oauthbearer' || tokenUrl === '')) return undefined
  let login: Login | undefined
  return () => {
    login ??= createTokenSource(obtainFor(settings, env, clock.now), { clock, emit })
    return login()
  }
}

/** Settings were checked before, so failures here are bugs. */
const obtainFor = (settings: LoginSettings, env: LoginSurroundings['env'], now: () => number): ObtainToken => {
  const { sasl } = settings
  const refused =
    (message: string): ObtainToken =>
    () =>
      Promise.resolve({ code: 'refused', message })
  const [problem] = loginProblems(settings)
  if (problem) return refused(`${problem.setting} ${problem.message}`)
  if (sasl.mechanism === 'aws-msk-iam') return awsToken(sasl.region, now)
  try {
    const ca = sasl.tokenCaFile === '' ? {} : { ca: readFileSync(sasl.tokenCaFile, 'utf8') }
    return clientCredentials(sasl, { env, now, ...ca })
  } catch (error) {
    return refused(`kafka.sasl.tokenCaFile cannot be read: ${messageOf(error)}`)
  }
}
