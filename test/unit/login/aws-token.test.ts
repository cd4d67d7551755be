// The token for MSK next to the signer's own, with credentials of every life, from the environment and from a file.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateAuthTokenFromCredentialsProvider as sign } from 'aws-msk-iam-sasl-signer-js'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { awsToken } from '../../../src/login/aws-token.js'

const region = 'eu-central-1'
const keys = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'example-key', sessionToken: 'example-session' }
const now = Date.UTC(2026, 10, 17, 12)
const minute = 60_000
const folder = mkdtempSync(join(tmpdir(), 'threatweave-aws-'))

beforeEach(() => {
  // Both sign at the same second.
  vi.useFakeTimers({ toFake: ['Date'], now })
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, 'none'))
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(folder, 'none'))
  for (const name of [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_CREDENTIAL_EXPIRATION',
    'AWS_PROFILE',
  ])
    vi.stubEnv(name, undefined)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllEnvs()
})

const fromEnvironment = (endsAt?: number): void => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', keys.accessKeyId)
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', keys.secretAccessKey)
  vi.stubEnv('AWS_SESSION_TOKEN', keys.sessionToken)
  if (endsAt !== undefined) vi.stubEnv('AWS_CREDENTIAL_EXPIRATION', new Date(endsAt).toISOString())
}
/** As a tool that fetches credentials gives them. */
const fromFile = (name: string, endsAt: number): void => {
  const answer = {
    Version: 1,
    AccessKeyId: keys.accessKeyId,
    SecretAccessKey: keys.secretAccessKey,
    SessionToken: keys.sessionToken,
    Expiration: new Date(endsAt).toISOString(),
  }
  writeFileSync(join(folder, `${name}.json`), JSON.stringify(answer))
  writeFileSync(join(folder, name), `[default]\ncredential_process = cat ${join(folder, `${name}.json`)}\n`)
  vi.stubEnv('AWS_CONFIG_FILE', join(folder, name))
}
const obtain = awsToken(region, () => Date.now())
const signed = (token: string): URL => new URL(Buffer.from(token, 'base64url').toString())

describe('a token for MSK', () => {
  it('is the one that AWS’s signer makes, and lives as long', async () => {
    fromEnvironment()
    const own = await sign({ region, awsCredentialsProvider: () => Promise.resolve(keys) })
    expect(await obtain()).toEqual({ value: own.token, lifeMs: own.expiryTime - now })
    expect(own.expiryTime - now).toBe(15 * minute)
    expect(signed(own.token).host).toBe('kafka.eu-central-1.amazonaws.com')
  })

  it.each([
    ['longer than it', 60 * minute, 15 * minute],
    ['shorter than it', 7 * minute + 123, 7 * minute + 123],
  ])('lives no longer than credentials that live %s', async (_what, credentialsMs, lifeMs) => {
    fromEnvironment(now + credentialsMs)
    expect(await obtain()).toMatchObject({ lifeMs })
    fromFile(`config-${credentialsMs}`, now + credentialsMs)
    for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']) vi.stubEnv(name, undefined)
    // A file has whole seconds or fractions as its writer pleases.
    expect(await obtain()).toMatchObject({ lifeMs })
  })

  it('states a whole number of seconds, which the signer does not with credentials that end soon', async () => {
    const expiration = new Date(now + 7 * minute + 123)
    fromEnvironment(expiration.getTime())
    const own = await sign({ region, awsCredentialsProvider: () => Promise.resolve({ ...keys, expiration }) })
    const got = await obtain()
    if ('code' in got) throw new Error(got.message)
    expect(signed(own.token).searchParams.get('X-Amz-Expires')).toBe('420.123')
    expect(signed(got.value).searchParams.get('X-Amz-Expires')).toBe('900')
  })

  it('is made with the credentials of now', async () => {
    fromFile('changing', now + 30 * minute)
    expect(await obtain()).toMatchObject({ lifeMs: 15 * minute })
    vi.setSystemTime(now + 25 * minute)
    expect(await obtain()).toMatchObject({ lifeMs: 5 * minute })
    writeFileSync(
      join(folder, 'changing.json'),
      JSON.stringify({
        Version: 1,
        AccessKeyId: 'AKIDNEXT',
        SecretAccessKey: 'next-key',
        SessionToken: 'next-session',
        Expiration: new Date(now + 90 * minute).toISOString(),
      }),
    )
    const got = await obtain()
    expect(got).toMatchObject({ lifeMs: 15 * minute })
    if ('code' in got) throw new Error(got.message)
    expect(signed(got.value).searchParams.get('X-Amz-Credential')).toContain('AKIDNEXT')
  })

  it('is not made with credentials that have ended', async () => {
    fromEnvironment(now - 1_000)
    expect(await obtain()).toEqual({
      code: 'unavailable',
      message: 'the AWS credentials expired at 2026-11-17T11:59:59.000Z',
    })
  })

  it('is not there without credentials, which is no reason to end', async () => {
    expect(await obtain()).toEqual({
      code: 'unavailable',
      message: 'no token for MSK: Could not load credentials from any providers',
    })
  })
})
