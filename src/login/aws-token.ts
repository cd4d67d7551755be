// Obtains a token for MSK from AWS's signer, an optional dependency, with the credentials that AWS's own tools would find.
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

/** What to do where the signer was left out of the installation. */
export const missingSigner = (): string | undefined => {
  try {
    load.resolve(signerName)
    return undefined
  } catch {
    return `needs the package ${signerName}, which is not installed: npm install ${signerName}`
  }
}

/** The name of the session where a role is assumed: brokers refuse a new login on an open connection under another name. */
const roleSessionName = 'threatweave'

export const awsToken =
  (region: string, now: () => number): ObtainToken =>
  async () => {
    const missing = missingSigner()
    if (missing !== undefined) return { code: 'refused', message: `aws-msk-iam ${missing}` }
    try {
      const { generateAuthTokenFromCredentialsProvider: sign } = load(signerName) as Signer
      // The signer's own copy, wherever the package manager has put it.
      const { fromNodeProviderChain } = createRequire(load.resolve(signerName))(
        '@aws-sdk/credential-providers',
      ) as CredentialProviders
      // Found anew each time: they are replaced long before they end.
      const find = fromNodeProviderChain({ roleSessionName, maxRetries: 3, clientConfig: { region } })
      const { expiration, ...credentials } = await find()
      // Signed without the end of the credentials: with it the signer writes a fraction into X-Amz-Expires, which has to be a whole number.
      const { token, expiryTime } = await sign({ region, awsCredentialsProvider: () => Promise.resolve(credentials) })
      // A token is worth nothing once the credentials that signed it have ended.
      const lifeMs = Math.min(expiryTime, expiration?.getTime() ?? Infinity) - now()
      return lifeMs > 0
        ? { value: token, lifeMs }
        : { code: 'unavailable', message: `the AWS credentials ended at ${expiration?.toISOString() ?? ''}` }
    } catch (error) {
      return { code: 'unavailable', message: `no token for MSK: ${messageOf(error).slice(0, 200)}` }
    }
  }
