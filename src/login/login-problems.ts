// What is wrong with the settings of a login that needs a token, where each of them alone is valid.
import type { SettingProblem } from '../domain/problem.js'
import { isThisMachine } from '../domain/this-machine.js'
import { missingSigner } from './aws-token.js'
import type { ClientCredentials } from './client-credentials.js'

type SaslSettings = ClientCredentials & {
  readonly mechanism: string
  readonly tokenFile: string
  readonly tokenCaFile: string
  readonly allowHttp: boolean
  readonly region: string
}
export type LoginSettings = { readonly sasl: SaslSettings; readonly tls: { readonly enabled: boolean } }

/** `missing`: what to do where AWS's signer is not installed. */
export const loginProblems = ({ sasl, tls }: LoginSettings, missing = missingSigner): readonly SettingProblem[] => {
  const problems: SettingProblem[] = []
  const refuse = (setting: string, message: string): void => {
    problems.push({ setting: `kafka.sasl.${setting}`, message })
  }
  if (sasl.mechanism === 'oauthbearer') {
    if (sasl.tokenFile === '' && sasl.tokenUrl === '')
      refuse('tokenUrl', 'must be the address of a token server, or sasl.tokenFile name the file with the token')
    if (sasl.tokenFile !== '' && sasl.tokenUrl !== '')
      refuse('tokenUrl', 'and sasl.tokenFile are two ways to one token; keep one')
    if (sasl.tokenUrl !== '') {
      const wrong = wrongUrl(sasl)
      if (wrong !== undefined) refuse('tokenUrl', wrong)
      if (sasl.clientId === '' || sasl.clientSecret === '')
        refuse('clientId', 'and sasl.clientSecret are needed for sasl.tokenUrl')
    }
  }
  if (sasl.mechanism === 'aws-msk-iam') {
    if (sasl.region === '') refuse('region', 'must be the region of the cluster, such as eu-central-1')
    // Without TLS the token could be used by everybody on the way.
    if (!tls.enabled) problems.push({ setting: 'kafka.tls.enabled', message: 'must be true for aws-msk-iam' })
    const needs = missing()
    if (needs !== undefined) refuse('mechanism', `aws-msk-iam ${needs}`)
  }
  return problems
}

/** The address is not repeated: it may hold a password. */
const wrongUrl = ({ tokenUrl, allowHttp }: SaslSettings): string | undefined => {
  if (!URL.canParse(tokenUrl)) return 'is not an address such as https://login.example.com/oauth2/token'
  const { protocol, hostname, username, password } = new URL(tokenUrl)
  if (username !== '' || password !== '') return 'must not hold a password; sasl.clientSecret is the place for it'
  if (protocol === 'https:' || (protocol === 'http:' && (allowHttp || isThisMachine(hostname)))) return undefined
  return protocol === 'http:'
    ? 'must be https; sasl.allowHttp lets secret and token travel in the clear'
    : 'must be https'
}
