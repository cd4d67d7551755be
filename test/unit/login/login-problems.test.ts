// What is refused of the settings of a login before anything is asked.
import { describe, expect, it } from 'vitest'
import { load } from '../../../src/config/load.js'
import { loginProblems, type LoginSettings } from '../../../src/login/login-problems.js'
import { openLogin } from '../../../src/login/open-login.js'

const settings = (kafka: string): LoginSettings => {
  const loaded = load({ file: { name: 'c.yaml', text: `kafka: { ${kafka} }` }, env: {}, readFile: () => '' })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config.kafka
}
const problems = (kafka: string, missing?: () => string | undefined): readonly string[] =>
  loginProblems(settings(kafka), missing).map(({ setting, message }) => `${setting} ${message}`)
const client = 'clientId: threatweave, clientSecret: planted'

describe('the settings of a login', () => {
  it.each([
    ['sasl: { mechanism: plain }'],
    ['sasl: { mechanism: oauthbearer, tokenFile: /run/token }'],
    [`sasl: { mechanism: oauthbearer, tokenUrl: "https://login.example.com/token", ${client} }`],
    [`sasl: { mechanism: oauthbearer, tokenUrl: "http://localhost:8080/token", ${client} }`],
    [`sasl: { mechanism: oauthbearer, tokenUrl: "http://login.example.com/token", allowHttp: true, ${client} }`],
    ['tls: { enabled: true }, sasl: { mechanism: aws-msk-iam, region: eu-central-1 }'],
  ])('are accepted: %s', (kafka) => {
    expect(problems(kafka)).toEqual([])
  })

  it.each([
    [
      'sasl: { mechanism: oauthbearer }',
      'kafka.sasl.tokenUrl must be the URL of a token server, unless sasl.tokenFile is set',
    ],
    [
      `sasl: { mechanism: oauthbearer, tokenFile: t, tokenUrl: "https://login.example.com/token", ${client} }`,
      'kafka.sasl.tokenUrl and sasl.tokenFile exclude each other; keep one',
    ],
    [
      `sasl: { mechanism: oauthbearer, tokenUrl: nonsense, ${client} }`,
      'kafka.sasl.tokenUrl is not a URL such as https://login.example.com/oauth2/token',
    ],
    [
      `sasl: { mechanism: oauthbearer, tokenUrl: "ftp://login.example.com", ${client} }`,
      'kafka.sasl.tokenUrl must be https',
    ],
    [
      `sasl: { mechanism: oauthbearer, tokenUrl: "http://login.example.com", ${client} }`,
      'kafka.sasl.tokenUrl must be https; sasl.allowHttp permits sending secret and token unencrypted',
    ],
    [
      `sasl: { mechanism: oauthbearer, tokenUrl: "https://me:planted@login.example.com", ${client} }`,
      'kafka.sasl.tokenUrl must not contain a password; use sasl.clientSecret',
    ],
    [
      'sasl: { mechanism: oauthbearer, tokenUrl: "https://login.example.com", clientId: threatweave }',
      'kafka.sasl.clientId and sasl.clientSecret are needed for sasl.tokenUrl',
    ],
    [
      'tls: { enabled: true }, sasl: { mechanism: aws-msk-iam }',
      'kafka.sasl.region must be the region of the cluster, such as eu-central-1',
    ],
    ['sasl: { mechanism: aws-msk-iam, region: eu-central-1 }', 'kafka.tls.enabled must be true for aws-msk-iam'],
  ])('are refused: %s', async (kafka, problem) => {
    expect(problems(kafka)).toEqual([problem])
    // A command that does not check them beforehand says the same when it connects.
    const login = openLogin(settings(kafka), { env: {} })
    if (login) expect(await login()).toEqual({ code: 'refused', message: problem })
  })

  it('say what to install where AWS’s signer was left out', () => {
    expect(
      problems('tls: { enabled: true }, sasl: { mechanism: aws-msk-iam, region: eu-central-1 }', () => 'needs it'),
    ).toEqual(['kafka.sasl.mechanism aws-msk-iam needs it'])
  })

  it('need no token where there is a password or a file', () => {
    expect(openLogin(settings('sasl: { mechanism: plain }'), { env: {} })).toBeUndefined()
    expect(openLogin(settings('sasl: { mechanism: oauthbearer, tokenFile: t }'), { env: {} })).toBeUndefined()
  })

  it('take extensions of letters and printable text alone', () => {
    const given = (extensions: string) =>
      load({
        file: { name: 'c.yaml', text: `kafka: { sasl: { extensions: ${extensions} } }` },
        env: {},
        readFile: () => '',
      })
    expect(given('{ logicalCluster: lkc-1, identityPoolId: pool-1 }')).not.toHaveProperty('problems')
    expect(given('{ logicalCluster: "lkc\\u0001auth=x" }')).toHaveProperty('problems')
    expect(given('{ "logical=Cluster": x }')).toHaveProperty('problems')
  })
})
