import { request } from 'node:http'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashKey } from '../../../src/server/keys.js'
import type { LookupServer } from '../../../src/server/start-server.js'
import {
  ask,
  newFolder,
  sampleKey,
  sampleNow,
  serveSettings,
  startSampleService,
} from '../../support/lookup-service.js'

const clean = '/v1/ip/malicious-info?ip=203.0.113.20'

describe('the key that a caller needs', () => {
  it.each([
    ['no key', null],
    ['a wrong key', 'somebody-elses-key-0123456789'],
    ['a key that is too long to be one', 'x'.repeat(300)],
  ])('refuses %s in the provider’s words', async (_, key) => {
    const { url } = await startSampleService()
    expect(await ask(url, clean, { key })).toMatchObject({
      http: 200,
      body: { status: 401, message: 'invalid api key' },
    })
  })

  it('is asked for before anything else is looked at', async () => {
    const { url } = await startSampleService()
    expect((await ask(url, '/v1/ip/data?nonsense=1', { key: null })).body.status).toBe(401)
    expect((await ask(url, '/status', { key: null })).body.status).toBe(401)
  })

  it('is taken from a file of hashes, and the sole key beside it', async () => {
    const keysFile = join(newFolder(), 'keys.json')
    const keys = [{ name: 'soc', hash: hashKey('the-key-of-the-soc-1234567890'), plan: { name: 'team', credits: 2 } }]
    writeFileSync(keysFile, JSON.stringify({ keys }))
    const { url } = await startSampleService({ keysFile })
    const me = await ask(url, '/v1/user/me', { key: 'the-key-of-the-soc-1234567890', method: 'POST' })
    expect(me.body.data).toMatchObject({ name: 'soc', account_type: 'team', max_search: '2', api_key: '********' })
    expect((await ask(url, '/v1/user/me', { method: 'POST' })).body.data.name).toBe('default')
  })

  it('is nowhere in the state that is kept', async () => {
    const state = newFolder()
    const { url } = await startSampleService({ state })
    await ask(url, clean)
    for (const file of readdirSync(state, { recursive: true, withFileTypes: true }))
      if (file.isFile()) expect(readFileSync(join(file.parentPath, file.name), 'utf8')).not.toContain(sampleKey)
  })

  it('has to exist, or the service does not start', async () => {
    await expect(startSampleService({ apiKey: '' })).rejects.toThrow('THREATWEAVE_SERVE_API_KEY')
  })

  it('may be short only where nobody else can reach it', async () => {
    await expect(startSampleService({ apiKey: 'fifteen-letters', host: '0.0.0.0' })).rejects.toThrow(
      'serve.apiKey is shorter than 16 characters and could be guessed while serve.host is 0.0.0.0',
    )
    expect((await startSampleService({ apiKey: 'short' })).url).toContain('127.0.0.1')
  })
})

describe('a path that makes no sense', () => {
  it('is refused in the manner of every other refusal', async () => {
    const { url } = await startSampleService()
    const answer = await fetch(`${url}/v1/%zz`)
    expect([answer.status, await answer.json()]).toEqual([400, { status: 400, message: 'bad request' }])
  })
})

describe('a plan', () => {
  it('ends with its credits, in the provider’s words, and user/me costs none', async () => {
    const { url } = await startSampleService({ plan: { inFlight: 8, credits: 2, perSecond: 0 } })
    const statuses = []
    for (const path of [clean, '/v1/user/me', clean, clean]) statuses.push((await ask(url, path)).body.status)
    expect(statuses).toEqual([200, 200, 200, 403])
    expect((await ask(url, clean)).body).toEqual({ status: 403, message: 'limit exceeded' })
  })

  it('does not charge for what was refused', async () => {
    const { url } = await startSampleService({ plan: { inFlight: 8, credits: 1, perSecond: 0 } })
    await ask(url, '/v1/ip/data?ip=nonsense')
    await ask(url, '/v1/domain/report/7')
    expect((await ask(url, clean)).body.status).toBe(200)
  })

  it('remembers its credits over a restart, and has new ones in the next month', async () => {
    const state = newFolder()
    const plan = { inFlight: 8, credits: 1, perSecond: 0 }
    const first = await startSampleService({ state, plan })
    expect((await ask(first.url, clean)).body.status).toBe(200)
    await first.close()
    const second = await startSampleService({ state, plan })
    expect((await ask(second.url, clean)).body.message).toBe('limit exceeded')
    await second.close()
    const nextMonth = await startSampleService({ state, plan }, { now: () => Date.parse('2026-12-01T00:00:00Z') })
    expect((await ask(nextMonth.url, clean)).body.status).toBe(200)
  })

  it('allows as many calls at the same time as it says', async () => {
    const { url } = await startSampleService({ plan: { inFlight: 1, credits: 0, perSecond: 0 } })
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, '/v1/banner/search?query=nginx')))
    const messages = new Set(answers.map(({ body }) => body.message))
    expect(answers.some(({ body }) => body.status === 200)).toBe(true)
    expect([...messages].filter((message) => message !== 'Success')).toEqual(
      messages.size > 1 ? ['unable to call api at the same time'] : [],
    )
  })

  it('slows a caller down without ending its quota', async () => {
    let now = sampleNow
    const { url } = await startSampleService({ plan: { inFlight: 8, credits: 0, perSecond: 1 } }, { now: () => now })
    expect((await ask(url, clean)).body.status).toBe(200)
    const refused = await ask(url, clean)
    expect(refused).toMatchObject({ http: 429, body: { status: 429, message: 'too many requests' } })
    expect(refused.headers.get('retry-after')).toBe('1')
    now += 1000
    expect((await ask(url, clean)).body.status).toBe(200)
  })
})

describe('parameters', () => {
  it.each([
    ['/v1/ip/data?ip=300.1.1.1', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=example.com', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=10.0.0.1', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=127.0.0.1', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=169.254.1.1', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=0.0.0.0', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=fe80::1', 400, 'Invalid IP Address.'],
    ['/v1/ip/data?ip=::ffff:10.0.0.1', 400, 'Invalid IP Address.'],
    ['/v1/ip/data', 412, 'parameter ip is required'],
    ['/v1/ip/data?ip=', 412, 'parameter ip is required'],
    ['/v1/banner/search', 412, 'parameter query is required'],
    ['/v1/ip/data?ip=203.0.113.20&full=maybe', 420, 'parameter full is invalid'],
    ['/v1/ip/data?ip=203.0.113.20&ip=203.0.113.21', 420, 'parameter ip is invalid'],
    ['/v1/ip/data?ip=203.0.113.20&fields=all', 420, 'parameter fields is invalid'],
    ['/v1/ip/data?ip=203.0.113.20&__proto__=1', 420, 'parameter __proto__ is invalid'],
    ['/v1/banner/search?query=nginx&offset=-1', 420, 'parameter offset is invalid'],
    ['/v1/banner/search?query=nginx&offset=ten', 420, 'parameter offset is invalid'],
    ['/v1/banner/search?query=nginx&offset=9910', 400, 'offset is too high'],
    ['/v1/banner/search?query=%22open', 420, 'parameter query is invalid'],
    ['/v1/domain/report/twelve', 420, 'parameter id is invalid'],
    ['/v1/domain/report/99', 404, 'there is no report with this id'],
    ['/v1/domain/status/99', 404, 'there is no report with this id'],
  ])('%s is refused with %i, %s', async (path, status, message) => {
    const { url } = await startSampleService()
    expect(await ask(url, path)).toMatchObject({ http: 200, body: { status, message } })
  })

  it('a query that is too long is refused', async () => {
    const { url } = await startSampleService()
    expect((await ask(url, `/v1/banner/search?query=${'x'.repeat(1100)}`)).body.status).toBe(420)
  })

  it('an address may be written in any way and is answered in its normal form', async () => {
    const { url } = await startSampleService()
    const { body } = await ask(url, '/v1/ip/malicious-info?ip=2001:0DB8:0BAD:0000::1')
    expect(body).toMatchObject({ ip: '2001:db8:bad::1', is_malicious: true })
  })
})

describe('hostile requests', () => {
  it.each([
    ['an unknown path', '/v1/nothing', {}, 404],
    ['a wrong method', '/v1/ip/data?ip=203.0.113.20', { method: 'DELETE' }, 405],
    ['a body that is too large', '/v1/domain/scan', { form: { query: 'x'.repeat(70_000) } }, 413],
    ['broken JSON', '/v1/domain/scan', { body: '{', headers: { 'content-type': 'application/json' } }, 400],
    [
      'JSON that would change a prototype',
      '/v1/domain/scan',
      { body: '{"__proto__":{"query":"x"}}', headers: { 'content-type': 'application/json' } },
      400,
    ],
    ['a foreign media type', '/v1/domain/scan', { body: '<x/>', headers: { 'content-type': 'text/xml' } }, 415],
    [
      'a form without a boundary',
      '/v1/domain/scan',
      { body: 'x', headers: { 'content-type': 'multipart/form-data' } },
      400,
    ],
  ])('%s is refused with a failure in JSON', async (_, path, options, http) => {
    const { url } = await startSampleService()
    expect(await ask(url, path, options)).toMatchObject({ http, body: { status: http } })
  })

  it('headers that are too large are refused', async () => {
    const { url } = await startSampleService()
    const status = await new Promise((resolve, reject) => {
      request(`${url}/status`, { headers: { 'x-api-key': 'x'.repeat(20_000) } }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(431)
  })
})

describe('a start that cannot work', () => {
  it.each([
    ['a folder that is not there', { data: '/nowhere/intel' }, 'there is no folder'],
    ['TLS with half of its files', { tls: { certFile: 'a.pem', keyFile: '', passphrase: '' } }, 'both'],
  ])('is refused: %s', async (_, settings, message) => {
    await expect(startSampleService(settings)).rejects.toThrow(message)
  })

  it.each([
    ['lists', 'unheard-of.txt', '198.51.100.1\n', 'must be one of'],
    ['lists', 'vpn.txt', 'nonsense here\n', 'is not an address'],
    ['places', 'x.mmdb', 'nonsense', 'no MaxMind-format database'],
    ['reports', '12.json', '{}', 'has no site'],
    ['reports', 'twelve.json', '{}', 'the id of the report'],
    ['feeds', 'x.txt', '198.51.100.1\n', 'feeds/malicious/'],
  ])('is refused: %s/%s that cannot be understood', async (part, name, content, message) => {
    const data = newFolder()
    mkdirSync(join(data, part))
    writeFileSync(join(data, part, name), content)
    await expect(startSampleService({ data })).rejects.toThrow(message)
  })

  it.each([
    ['nonsense', 'must be JSON'],
    ['{"keys":[{"name":"a b","hash":"plain-text-key"}]}', 'must be 1 to 64 letters'],
    ['{"keys":[{"name":"a","hash":"plain-text-key"}]}', '--new-key'],
    [`{"keys":[{"name":"a","hash":"${hashKey('k')}","plan":{"credits":0}}]}`, 'whole numbers'],
  ])('is refused: a keys file with %s', async (content, message) => {
    const keysFile = join(newFolder(), 'keys.json')
    writeFileSync(keysFile, content)
    await expect(startSampleService({ keysFile })).rejects.toThrow(message)
  })
})

describe('a restart', () => {
  it('needs nothing but the folders', async () => {
    const settings = serveSettings()
    const start = (): Promise<LookupServer> => startSampleService(settings)
    await (await start()).close()
    expect((await ask((await start()).url, clean)).body.status).toBe(200)
    await expect(start()).rejects.toThrow('is in use by')
  })
})
