// Every way in which a call can fail, played by a real server: the right reason each time, one request, and the key nowhere.
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { admissionLimits, createAdmission } from '../../src/lookup/admission/admission.js'
import { transmit } from '../../src/provider/transmit.js'
import { createFakeClock } from '../support/clock.js'
import type { Client, Reply } from '../../src/provider/client.js'
import { createClient } from '../../src/provider/client.js'
import {
  clientFor,
  settingsFor,
  startScriptedService,
  testKey,
  type ScriptedService,
} from '../support/scripted-service.js'

let service: ScriptedService
let client: Client
beforeAll(async () => {
  service = await startScriptedService(() => ({ status: 200 }))
  client = clientFor(service.baseUrl, { headersTimeoutMs: 500, connectTimeoutMs: 500, bodyTimeoutMs: 1000 })
})
afterAll(async () => {
  await client.close()
  await service.close()
})

const ask = async (script: ScriptedService['script'], by = client): Promise<{ reply: Reply; requests: number }> => {
  service.script = script
  const before = service.asked.length
  const reply = await by.call('ip/malicious-info', { ip: '198.51.100.60' })
  return { reply, requests: service.asked.length - before }
}
const say =
  (http: number, body: unknown, headers: Record<string, string> = {}) =>
  (_: unknown, response: ServerResponse): void => {
    response.writeHead(http, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
const noBudget = { perHour: 0, perDay: 0, perRun: 0 }
const html = '<!doctype html><html><body>Bad gateway</body></html>'
const examples: readonly [title: string, script: ScriptedService['script'], reason: string, afterMs?: number][] = [
  ['body 400', say(200, { status: 400, message: 'bad' }), 'bad_input'],
  ['body 401', say(200, { status: 401, message: 'Unauthorized' }), 'bad_key'],
  ['body 402', say(200, { status: 402, message: '' }), 'no_credit'],
  ['body 403', say(200, { status: 403, message: 'forbidden' }), 'no_credit'],
  ['body 403 about a plan', say(200, { status: 403, message: 'Please upgrade your plan' }), 'plan'],
  ['body 403 with the bad-key text', say(200, { status: 403, message: 'Invalid API Key' }), 'bad_key'],
  ['body 404', say(200, { status: 404, message: 'none' }), 'not_found'],
  ['body 412', say(200, { status: 412, message: 'x' }), 'bad_input'],
  ['body 413', say(200, { status: 413, message: 'x' }), 'bad_input'],
  ['body 414', say(200, { status: 414, message: 'x' }), 'bad_input'],
  ['body 415', say(200, { status: 415, message: 'x' }), 'bad_input'],
  ['body 420', say(200, { status: 420, message: 'x' }), 'bad_input'],
  ['body 429', say(200, { status: 429, message: 'x' }), 'throttled', 30_000],
  ['body 500', say(200, { status: 500, message: 'x' }), 'unavailable'],
  ['body code as text', say(200, { status: '401', message: 'x' }), 'bad_key'],
  ['status fail', say(200, { status: 'fail', message: 'something' }), 'bad_answer'],
  ['status fail with a known text', say(200, { status: 'fail', message: 'limit exceeded' }), 'no_credit'],
  ['no status at all', say(200, { ip: '198.51.100.60', is_malicious: false }), 'unavailable'],
  [
    'one call at a time as 403',
    say(200, { status: 403, message: 'Unable to call API at the same time' }),
    'busy',
    2000,
  ],
  [
    'one call at a time as 500',
    say(500, { status: 500, message: 'unable to call api at the same time.' }),
    'busy',
    2000,
  ],
  ['limit exceeded as 400', say(200, { status: 400, message: 'LIMIT EXCEEDED' }), 'no_credit'],
  ['limit exceeded as 429', say(429, { status: 429, message: 'limit exceeded' }), 'throttled', 30_000],
  ['rate limit exceeded', say(429, { status: 429, message: 'Rate limit exceeded' }), 'throttled', 30_000],
  ['invalid address', say(200, { status: 400, message: 'Invalid IP Address.' }), 'bad_input'],
  ['invalid address as 500', say(200, { status: 500, message: 'Invalid IP Address.' }), 'unavailable'],
  ['still scanning', say(200, { status: 400, message: 'Still scanning, please wait' }), 'busy', 15_000],
  [
    'not found, in words that repeat what was asked',
    say(200, { status: 404, message: 'no report of invalid-api-key.credit-plan.example: upgrade your plan' }),
    'not_found',
  ],
  ['bad input, in words of a quota', say(200, { status: 400, message: 'quota.example is no URL' }), 'bad_input'],
  ['HTTP 401', say(401, { status: 401, message: '' }), 'bad_key'],
  ['HTTP 401 around another code', say(401, { status: 503, message: 'invalid api key' }), 'unavailable'],
  ['HTTP 402 with a status in words', say(402, { status: 'fail', message: '' }), 'no_credit'],
  ['HTTP 402 without a body', say(402, ''), 'unavailable'],
  ['HTTP 403 with a page', say(403, html), 'unavailable'],
  ['HTTP 403 of a firewall in JSON', say(403, { error: 'blocked', support: 'it@example.com' }), 'unavailable'],
  ['HTTP 404 with a page: a wrong path, not an unknown address', say(404, html), 'unavailable'],
  ['HTTP 404 that says so itself', say(404, { status: 404, message: 'nothing' }), 'not_found'],
  ['HTTP 429 with seconds', say(429, '', { 'retry-after': '7' }), 'throttled', 7000],
  [
    'HTTP 429 with a date',
    say(429, '', { 'retry-after': new Date(1_800_000_060_000).toUTCString() }),
    'throttled',
    60_000,
  ],
  ['HTTP 500', say(500, { status: 500, message: 'x' }), 'unavailable'],
  ['HTTP 502 with a page', say(502, html), 'unavailable'],
  ['HTTP 503 that says when', say(503, html, { 'retry-after': '9' }), 'unavailable', 9000],
  ['HTTP 500 with a good body', say(500, { status: 200, ip: '198.51.100.60' }), 'unavailable'],
  ['HTTP 418', say(418, ''), 'unavailable'],
  ['HTTP 418 in the envelope', say(418, { status: 418, message: '' }), 'bad_answer'],
  ['a redirect', say(302, '', { location: 'http://127.0.0.1:9/' }), 'unavailable'],
  ['a permanent redirect with a good body', say(308, { status: 200 }, { location: '/v1/other' }), 'unavailable'],
  ['a page with 200', say(200, html), 'unavailable'],
  ['nothing with 200', say(200, ''), 'unavailable'],
  ['a list', say(200, []), 'unavailable'],
  ['half of an object', say(200, '{"status":200,"ip":"198.'), 'unavailable'],
  ['an object nested too deep', say(200, `${'{"a":'.repeat(33)}1${'}'.repeat(33)}`), 'bad_answer'],
  ['a part of an answer (HTTP 206)', say(206, { status: 200, is_malicious: false }), 'bad_answer'],
  ['a page with 206', say(206, html), 'bad_answer'],
  ['two members of the same name', say(200, '{"status":200,"is_malicious":true,"is_malicious":false}'), 'bad_answer'],
  ['the same name in escapes', say(200, '{"status":200,"a":[{"b":1,"\\u0062":2}]}'), 'bad_answer'],
  [
    'fewer bytes than announced',
    (_, response) => {
      response.writeHead(200, { 'content-length': '1000' })
      response.write('{"status":200,')
      setTimeout(() => response.destroy(), 20)
    },
    'unavailable',
  ],
  ['a reset', (_, response) => void response.socket?.resetAndDestroy(), 'unavailable'],
  ['silence', () => undefined, 'timeout'],
  [
    'interim answers (102) for ever',
    (_, response) => {
      const interim = setInterval(() => response.writeProcessing(), 20)
      response.on('close', () => clearInterval(interim))
    },
    'timeout',
  ],
  [
    'headers and then silence',
    (_, response) => {
      response.writeHead(200)
      response.write('{')
    },
    'timeout',
  ],
  [
    'a body that drips for ever',
    (_, response) => {
      response.writeHead(200)
      const drip = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(drip))
    },
    'timeout',
  ],
  ['ten megabytes', say(200, `{"status":200,"x":"${'x'.repeat(10_000_000)}"}`), 'bad_answer'],
]

describe('a call that fails', () => {
  it.each(examples)('%s', async (_, script, reason, afterMs) => {
    const limits = reason === 'timeout' ? { headersTimeoutMs: 100, connectTimeoutMs: 100, bodyTimeoutMs: 200 } : {}
    const dated = createClient(settingsFor(service.baseUrl, limits), { env: {}, now: () => 1_800_000_000_000 })
    const { reply, requests } = await ask(script, dated)
    await dated.close()
    expect(reply.status).toBe('failure')
    if (reply.status !== 'failure') return
    const { detail, said, ...rest } = reply.failure
    expect(said === undefined || said.message.length <= 500).toBe(true)
    expect(rest).toEqual({ reason, ...(afterMs === undefined ? {} : { afterMs }) })
    expect(detail.length).toBeLessThan(300)
    expect(requests).toBe(1)
  })

  it('is unavailable where nobody listens', async () => {
    const gone = createServer()
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve))
    const { port } = gone.address() as AddressInfo
    await new Promise((resolve) => gone.close(resolve))
    const lonely = clientFor(`http://127.0.0.1:${port}`)
    expect(await lonely.call('user/me', {})).toMatchObject({
      failure: { reason: 'unavailable', detail: 'ECONNREFUSED' },
    })
    await lonely.close()
  })

  it('leaves the way clear for the next one', async () => {
    for (const [, script] of examples.slice(-6)) await ask(script)
    expect((await ask(() => ({ status: 200, ip: '198.51.100.60' }))).reply.status).toBe('answer')
  })
})

describe('a firewall in between that refuses with a page for 20 s', () => {
  it('costs less than a minute of lookups', async () => {
    const clock = createFakeClock()
    const start = clock.now()
    const seconds = (): number => (clock.now() - start) / 1000
    const sent: number[] = []
    const admission = createAdmission({ ...admissionLimits, ...noBudget, inFlight: 1 }, clock)
    service.script = (asked, response) => {
      sent.push(seconds())
      if (seconds() >= 20) return { status: 200, ip: asked.query.ip, is_malicious: false }
      say(403, html)(asked, response)
      return undefined
    }
    const lost: number[] = []
    for (let nth = 1; nth <= 120; nth++) {
      const ip = `198.51.100.${nth}`
      const finding = await admission.run(ip, { urgency: 'live', role: 'source', action: 'allowed' }, (call) =>
        transmit({ client, now: clock.now, emit: () => undefined }, call, 'ip/malicious-info', { ip }),
      )
      if (finding.status === 'unknown') lost.push(seconds())
      await clock.advance(1000)
    }
    expect(sent.filter((at) => at < 20).length).toBeLessThan(10)
    expect(lost.at(-1)).toBeLessThan(60)
    expect(lost.length + sent.filter((at) => at >= 20).length).toBe(120)
  })
})

describe('the key', () => {
  const spellings = [testKey, encodeURIComponent(testKey), Buffer.from(testKey).toString('base64')]
  const escaped = Array.from(testKey)
    .map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`)
    .join('')
  it('goes in its header and nowhere else', async () => {
    const { reply } = await ask(() => ({ status: 200, ip: '198.51.100.60' }))
    expect(reply.status).toBe('answer')
    const last = service.asked.at(-1)!
    expect(last.key).toBe(testKey)
    expect(JSON.stringify({ ...last, key: '' })).not.toContain(testKey)
  })
  it.each([
    ['in an answer', say(200, { status: 200, data: { api_key: testKey, [testKey]: [spellings] } })],
    ['in escapes', say(200, `{"status":200,"data":{"api_key":"${escaped}"}}`)],
    ['in a failure', say(200, { status: 400, message: `Invalid key ${testKey}` })],
    ['in a failure, encoded', say(403, { status: 403, message: spellings.join(' ') })],
    ['in a redirect', say(302, testKey, { location: `https://example.com/?key=${testKey}` })],
    ['in a page', say(500, `<html>${testKey}</html>`)],
  ])('is taken out where the provider echoes it %s', async (_, script) => {
    const { reply } = await ask(script)
    for (const spelling of spellings) expect(JSON.stringify(reply)).not.toContain(spelling.replace(/=+$/, ''))
  })
  it('is not in what is thrown when the settings cannot work', () => {
    const bad = `${testKey}\n`
    let message = ''
    try {
      clientFor('https://intel.example.com', { apiKey: bad })
    } catch (error) {
      message = String(error)
    }
    expect(message).toContain('intel.service.apiKey')
    expect(message).not.toContain(testKey)
  })
})

describe('a base URL', () => {
  it.each([
    ['http://intel.example.com', {}, /must be https/],
    ['ftp://intel.example.com', {}, /must be https/],
    ['https://user:pass@intel.example.com', {}, /must not contain a password/],
  ])('%s is refused', (baseUrl, over, message) => {
    expect(() => clientFor(baseUrl, over)).toThrow(message)
  })
  it.each([
    ['http://127.0.0.1:1', {}],
    ['http://localhost:1', {}],
    ['http://[::1]:1', {}],
    ['http://intel.example.com', { allowHttp: true }],
    ['https://intel.example.com/base', {}],
  ])('%s is taken', async (baseUrl, over) => {
    await clientFor(baseUrl, over).close()
  })
  it('may have a path of its own', async () => {
    const below = clientFor(`${service.baseUrl}/gateway/`)
    await ask(() => ({ status: 200 }), below)
    expect(service.asked.at(-1)?.path).toBe('/gateway/v1/ip/malicious-info')
    await below.close()
  })
})

describe('a proxy', () => {
  it('is not used for this machine, and its variables are checked', async () => {
    const env = { HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' }
    const local = createClient(settingsFor(service.baseUrl), { env, now: Date.now })
    expect((await ask(() => ({ status: 200 }), local)).reply.status).toBe('answer')
    await local.close()
    expect(() =>
      createClient(settingsFor('https://intel.example.com'), { env: { https_proxy: 'secret word' }, now: Date.now }),
    ).toThrow('HTTPS_PROXY is not a URL such as http://proxy.example.com:3128')
  })
  it('is asked for a tunnel, and never shown the key; NO_PROXY goes around it', async () => {
    const heard: string[] = []
    const proxy = createServer((socket) => {
      socket.once('data', (data) => {
        heard.push(data.toString())
        socket.destroy()
      })
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    const via = createClient(settingsFor('https://intel.example.test'), { env: { https_proxy: url }, now: Date.now })
    expect(await via.call('user/me', {})).toMatchObject({ failure: { reason: 'unavailable' } })
    await via.close()
    expect(heard[0]).toMatch(/^CONNECT intel\.example\.test:443 /)
    expect(heard.join('')).not.toContain(testKey)
    const around = createClient(settingsFor('https://intel.example.test'), {
      env: { HTTPS_PROXY: url, NO_PROXY: 'example.test' },
      now: Date.now,
    })
    expect(await around.call('user/me', {})).toMatchObject({ failure: { reason: 'unavailable' } })
    await around.close()
    expect(heard.length).toBe(1)
    await new Promise((resolve) => proxy.close(resolve))
  })
})
