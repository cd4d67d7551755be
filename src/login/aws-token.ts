// Obtains a token for MSK from the AWS signer, an optional dependency, with credentials from the default AWS provider chain.
import { createRequire } from 'node:module'
import { messageOf } from '../base/message-of.js'
import type { ObtainToken } from './token-source.js'

type Credentials = { readonly accessKeyId: string; readonly expiration?: Date }
type FindCredentials = () => Promise<Credentials>
type Signer = {
  readonly generateAuthTokenFromCredentialsProvider: (options: {
    readonly region: string
    readonly awsCredentialsProvider: FindCredentials
  }) => Promise<{ readonly token: string; readonly expiryTime: number }>
}
type CredentialProviders = { readonly fromNodeProviderChain: (options: object) => FindCredentials }

const signerName = 'aws-msk-iam-sasl-signer-js'
const load = createRequire(import.meta.url)

/** The remedy if the signer is not installed. */
export const missingSigner = (): string | undefined => {
  try {
    load.resolve(signerName)
    return undefined
  } catch {
    return `needs the package ${signerName}, which is not installed: npm install ${signerName}`
  }
}

/** A fixed session name for assumed roles: brokers refuse to reauthenticate a connection under another name. */
const roleSessionName = 'threatweave'

export const awsToken =
  (region: string, now: () => number): ObtainToken =>
  async () => {
    const missing = missingSigner()
    if (missing !== undefined) return { code: 'refused', message: `aws-msk-iam ${missing}` }
    try {
      const { generateAuthTokenFromCredentialsProvider: sign } = load(signerName) as Signer
      // Resolved from the signer, so that both use the same copy.
      const { fromNodeProviderChain } = createRequire(load.resolve(signerName))(
        '@aws-sdk/credential-providers',
      ) as CredentialProviders
      // Looked up each time, because credentials are rotated long before they expire.
      const find = fromNodeProviderChain({ roleSessionName, maxRetries: 3, clientConfig: { region } })
      const { expiration, ...credentials } = await find()
      // Credentials are passed without their expiry: with it the signer writes a fraction into X-Amz-Expires, which must be an integer.
      const { token, expiryTime } = await sign({ region, awsCredentialsProvider: () => Promise.resolve(credentials) })
      // A token is invalid once the credentials that signed it expire.
      const lifeMs = Math.min(expiryTime, expiration?.getTime() ?? Infinity) - now()
      return lifeMs > 0
        ? { value: token, lifeMs }
        : { code: 'unavailable', message: `the AWS credentials expired at ${expiration?.toISOString() ?? ''}` }
    } catch (error) {
      return { code: 'unavailable', message: `no token for MSK: ${messageOf(error).slice(0, 200)}` }
    }
  }
