// Reports contradictions between login settings that are valid on their own.
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

/** `missing`: the remedy if the AWS signer is not installed. */
export const loginProblems = ({ sasl, tls }: LoginSettings, missing = missingSigner): readonly SettingProblem[] => {
  const problems: SettingProblem[] = []
  const refuse = (setting: string, message: string): void => {
    problems.push({ setting: `kafka.sasl.${setting}`, message })
  }
  if (sasl.mechanism === 'oauthbearer') {
    if (sasl.tokenFile === '' && sasl.tokenUrl === '')
      refuse('tokenUrl', 'must be the URL of a token server, unless sasl.tokenFile is set')
    if (sasl.tokenFile !== '' && sasl.tokenUrl !== '')
      refuse('tokenUrl', 'and sasl.tokenFile exclude each other; keep one')
    if (sasl.tokenUrl !== '') {
      const wrong = wrongUrl(sasl)
      if (wrong !== undefined) refuse('tokenUrl', wrong)
      if (sasl.clientId === '' || sasl.clientSecret === '')
        refuse('clientId', 'and sasl.clientSecret are needed for sasl.tokenUrl')
    }
  }
  if (sasl.mechanism === 'aws-msk-iam') {
    if (sasl.region === '') refuse('region', 'must be the region of the cluster, such as eu-central-1')
    // Without TLS anyone on the network path could use the token.
    if (!tls.enabled) problems.push({ setting: 'kafka.tls.enabled', message: 'must be true for aws-msk-iam' })
    const needs = missing()
    if (needs !== undefined) refuse('mechanism', `aws-msk-iam ${needs}`)
  }
  return problems
}

/** The message does not repeat the URL, which may contain a password. */
const wrongUrl = ({ tokenUrl, allowHttp }: SaslSettings): string | undefined => {
  if (!URL.canParse(tokenUrl)) return 'is not a URL such as https://login.example.com/oauth2/token'
  const { protocol, hostname, username, password } = new URL(tokenUrl)
  if (username !== '' || password !== '') return 'must not contain a password; use sasl.clientSecret'
  if (protocol === 'https:' || (protocol === 'http:' && (allowHttp || isThisMachine(hostname)))) return undefined
  return protocol === 'http:'
    ? 'must be https; sasl.allowHttp permits sending secret and token unencrypted'
    : 'must be https'
}
