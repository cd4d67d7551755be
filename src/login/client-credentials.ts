// Obtains an OAuth token with client credentials (RFC 6749, 4.4). The answer of the token server is untrusted and bounded.
import { isObject } from '../base/json-object.js'
import { messageOf } from '../base/message-of.js'
import type { LoginFailure } from '../kafka/login.js'
import { connect } from '../provider/connect.js'
import { exchange, type ExchangeLimits } from '../provider/exchange.js'
import { parseBody } from '../provider/parse-body.js'
import { createRedact, type Redact } from '../provider/redact.js'
import type { ObtainToken } from './token-source.js'

export type ClientCredentials = {
  readonly tokenUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly clientAuthentication: 'basic' | 'body'
  readonly scope: string
  readonly audience: string
}

/** In total less than the authentication timeout of a broker connection. */
const ownLimits = { connectTimeoutMs: 5_000, headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000, maxAnswerBytes: 65_536 }
const maxDepth = 8

/** Opens a new connection per request, because tokens are minutes or hours apart. */
export const clientCredentials = (
  settings: ClientCredentials,
  dependencies: { readonly env: Readonly<Record<string, string | undefined>>; readonly ca?: string } & {
    readonly now: () => number
  },
  limits: ExchangeLimits = ownLimits,
): ObtainToken => {
  const url = new URL(settings.tokenUrl)
  const { headers, body } = requestOf(settings)
  const redact = redactAll([headers.authorization?.slice('Basic '.length) ?? '', settings.clientSecret])
  const { now } = dependencies
  const failed = (code: LoginFailure['code'], what: string): LoginFailure => ({
    code,
    message: `the token server ${url.host} ${what}`,
  })
  return async () => {
    let dispatcher
    try {
      dispatcher = connect({ concurrency: 1, connectTimeoutMs: limits.connectTimeoutMs }, url, dependencies)
    } catch (error) {
      return failed('refused', `cannot be reached: ${messageOf(error)}`)
    }
    const exchanged = await exchange(
      { path: url.pathname + url.search, method: 'POST', headers, body },
      { dispatcher, settings: limits, now },
    )
    await dispatcher.destroy()
    if (exchanged.status === 'failed') {
      const { reason, detail } = exchanged.failure
      return failed(reason === 'timeout' ? 'timeout' : 'unavailable', `does not answer: ${detail}`)
    }
    const { http, bytes, retryAfterMs } = exchanged
    if (http >= 300 && http < 400)
      return failed('bad_answer', `answers HTTP ${http}: a redirect, which is not followed`)
    const parsed = bytes
      ? parseBody(bytes, maxDepth, redact)
      : { problem: `is larger than ${limits.maxAnswerBytes} bytes` }
    if (http !== 200) {
      const said = 'body' in parsed ? saidBy(parsed.body) : ''
      const isRefused = http === 400 || http === 401 || http === 403
      const isAway = http >= 500 || http === 408 || http === 429
      const code = isRefused ? 'refused' : isAway ? 'unavailable' : 'bad_answer'
      return {
        ...failed(code, `${isRefused ? 'refuses the client' : 'gives no token'}: HTTP ${http}${said}`),
        retryAfterMs,
      }
    }
    if ('problem' in parsed) return failed('bad_answer', `gives no token: its answer ${parsed.problem}`)
    const token = tokenOf(parsed.body, now())
    return 'problem' in token ? failed('bad_answer', `gives no token: its answer ${token.problem}`) : token
  }
}

const requestOf = (
  settings: ClientCredentials,
): { readonly headers: Readonly<Record<string, string>>; readonly body: string } => {
  const { clientId, clientSecret, clientAuthentication, scope, audience } = settings
  const isBasic = clientAuthentication === 'basic'
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...(scope !== '' && { scope }),
    ...(audience !== '' && { audience }),
    ...(!isBasic && { client_id: clientId, client_secret: clientSecret }),
  })
  // Both parts are form-encoded before joining (RFC 6749, 2.3.1), so a colon in one of them is not the separator.
  const login = [clientId, clientSecret].map((text) => new URLSearchParams([['', text]]).toString().slice(1)).join(':')
  return {
    headers: {
      accept: 'application/json',
      'user-agent': 'threatweave',
      'content-type': 'application/x-www-form-urlencoded',
      ...(isBasic && { authorization: `Basic ${Buffer.from(login).toString('base64')}` }),
    },
    body: form.toString(),
  }
}

const redactAll = (secrets: readonly string[]): Redact => {
  const each = secrets.map(createRedact)
  return {
    text: (text) => each.reduce((result, redact) => redact.text(result), text),
    deep: (value) => each.reduce((result, redact) => redact.deep(result), value),
  }
}

/** The error members of RFC 6749, 5.2. */
const saidBy = ({ error, error_description }: Readonly<Record<string, unknown>>): string =>
  [error, error_description]
    .filter((said) => typeof said === 'string' && said !== '')
    .map((said) => `, ${String(said).slice(0, 200)}`)
    .join('')

/** The token characters of RFC 6750, 2.1. A control character would end the token and inject SASL fields at the broker. */
const tokenForm = /^[A-Za-z0-9._~+/-]{1,32768}=*$/

const tokenOf = (
  body: Readonly<Record<string, unknown>>,
  now: number,
): { readonly value: string; readonly lifeMs: number } | { readonly problem: string } => {
  const { access_token: value, token_type: type, expires_in: expires } = body
  if (typeof value !== 'string' || !tokenForm.test(value)) return { problem: 'has no usable access_token' }
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer')
    return { problem: 'has a token_type other than Bearer' }
  const seconds = secondsOf(expires) ?? secondsOf(endOf(value), now / 1000)
  if (seconds === undefined) return { problem: 'has neither expires_in nor a token with an expiry' }
  return seconds > 0 ? { value, lifeMs: seconds * 1000 } : { problem: 'has an expired token' }
}

/** Some servers write the number as text. */
const secondsOf = (value: unknown, since = 0): number | undefined => {
  const seconds = typeof value === 'string' && /^\d{1,12}$/.test(value) ? Number(value) : value
  return typeof seconds === 'number' && Number.isFinite(seconds) ? seconds - since : undefined
}

/** The claim `exp` of a JWT. It is not verified: a wrong value only changes the time of renewal. */
const endOf = (token: string): unknown => {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    return isObject(claims) ? claims.exp : undefined
  } catch {
    return undefined // not a JWT
  }
}
