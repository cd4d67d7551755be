import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hashKey } from '../../../../src/server/keys.js'
import type { LookupServer } from '../../../../src/server/start-server.js'
import { startUpstream, type Upstream } from '../../../support/counting-upstream.js'
import { gatewayKey, gatewayOf, type GatewayOver } from '../../../support/gateway.js'
import { ask, newFolder, sampleKey, sampleNow, startSampleService } from '../../../support/lookup-service.js'

const otherKey = 'Another-callers-key-0123456789'

const start = async (
  over: GatewayOver & { readonly state?: string; readonly upstream?: Upstream } = {},
): Promise<{ service: LookupServer; upstream: Upstream; state: string }> => {
  const upstream = over.upstream ?? (await startUpstream())
  if (!over.upstream) onTestFinished(upstream.close)
  const state = over.state ?? newFolder()
  const keysFile = join(newFolder(), 'keys.json')
  writeFileSync(keysFile, JSON.stringify({ keys: [{ name: 'other', hash: hashKey(otherKey), plan: { inFlight: 8 } }] }))
  const now = over.now ?? (() => sampleNow)
  const service = await startSampleService(
    { state, keysFile },
    { now, openGateway: gatewayOf(upstream.url, { ...over, now }) },
  )
  return { service, upstream, state }
}

const malicious = (ip: string): string => `/v1/ip/malicious-info?ip=${ip}`

describe('the gateway', () => {
  it('answers what is known here without asking anybody', async () => {
    const { service, upstream } = await start()
    expect((await ask(service.url, malicious('198.51.100.60'))).body.is_malicious).toBe(true)
    expect((await ask(service.url, '/v1/domain/reports?query=login.example.org')).body.data.count).toBe(1)
    expect((await ask(service.url, '/v1/domain/report/1000001')).body.status).toBe(200)
    expect((await ask(service.url, '/v1/user/me', { method: 'POST' })).body.data.name).toBe('default')
    expect((await ask(service.url, '/v1/domain/reports/personal')).body.data.count).toBe(0)
    expect(upstream.calls).toEqual([])
  })

  it('asks the provider once for what is not, and passes the answer on as it came', async () => {
    const { service, upstream } = await start()
    for (let i = 0; i < 3; i++)
      expect((await ask(service.url, malicious('203.0.113.20'))).body).toEqual({
        ip: '203.0.113.20',
        is_malicious: false,
        is_vpn: false,
        status: 200,
      })
    expect(upstream.calls).toEqual([`GET ${malicious('203.0.113.20')}`])
  })

  it('keeps different questions apart', async () => {
    const { service, upstream } = await start()
    await ask(service.url, malicious('203.0.113.20'))
    await ask(service.url, '/v1/ip/suspicious_info?ip=203.0.113.20')
    await ask(service.url, '/v1/ip/data?ip=203.0.113.20')
    await ask(service.url, '/v1/ip/data?ip=203.0.113.20&full=true')
    expect(upstream.calls).toHaveLength(4)
  })

  it('lets callers who ask the same at the same time share one call, with its own key and never theirs', async () => {
    const { service, upstream } = await start()
    upstream.latencyMs = 200
    const answers = await Promise.all([
      ...Array.from({ length: 10 }, () => ask(service.url, malicious('203.0.113.21'))),
      ...Array.from({ length: 5 }, () => ask(service.url, malicious('203.0.113.21'), { key: otherKey })),
    ])
    expect(answers.every(({ body }) => body.status === 200)).toBe(true)
    expect(upstream.calls).toHaveLength(1)
    expect([...upstream.keys]).toEqual([gatewayKey])
    expect(upstream.keys.has(sampleKey)).toBe(false)
  })

  it('never has two calls under way', async () => {
    const { service, upstream } = await start()
    await Promise.all(Array.from({ length: 40 }, (_, i) => ask(service.url, malicious(`203.0.113.${i + 10}`))))
    expect(upstream).toMatchObject({ mostInFlight: 1, refused: 0 })
    expect(upstream.calls).toHaveLength(40)
  })

  it('lets live questions go before replayed ones', async () => {
    const { service, upstream } = await start()
    let release: () => void = () => undefined
    upstream.held = new Promise((resolve) => (release = resolve))
    const waiting = async (count: number): Promise<void> => {
      while ((await ask(service.url, '/status')).body.upstream.waiting !== count);
    }
    const replay = { headers: { 'x-threatweave-urgency': 'replay' } }
    const first = ask(service.url, malicious('203.0.113.30'))
    while (upstream.calls.length === 0) await ask(service.url, '/status')
    const second = ask(service.url, malicious('203.0.113.31'), replay)
    await waiting(1)
    const third = ask(service.url, malicious('203.0.113.32'))
    await waiting(2)
    release()
    await Promise.all([first, second, third])
    expect(upstream.calls.map((call) => call.split('.').at(-1))).toEqual(['30', '32', '31'])
  })

  it('remembers over a restart, and asks again when the life of the answer is over', async () => {
    const upstream = await startUpstream()
    onTestFinished(upstream.close)
    const state = newFolder()
    const first = await start({ state, upstream })
    await ask(first.service.url, malicious('203.0.113.40'))
    await ask(first.service.url, '/v1/banner/search?query=port:8888')
    await first.service.close()
    const second = await start({ state, upstream })
    expect((await ask(second.service.url, malicious('203.0.113.40'))).body.is_malicious).toBe(false)
    expect((await ask(second.service.url, '/v1/banner/search?query=port:8888')).body.status).toBe(200)
    expect(upstream.calls).toHaveLength(2)
    await second.service.close()
    const nextDay = await start({ state, upstream, now: () => sampleNow + 13 * 3_600_000 })
    await ask(nextDay.service.url, malicious('203.0.113.40'))
    expect(upstream.calls).toHaveLength(3)
  })

  it('serves bad news past its life while it is fetched anew, but not good news', async () => {
    let now = sampleNow
    const { service, upstream } = await start({ now: () => now })
    upstream.reply = ({ url }) => ({
      body: { ip: new URL(url!, 'http://x').searchParams.get('ip'), is_malicious: url!.includes('.50'), status: 200 },
    })
    await ask(service.url, malicious('203.0.113.50'))
    await ask(service.url, malicious('203.0.113.51'))
    now += 25 * 3_600_000
    upstream.reply = () => ({ http: 500, body: { status: 500, message: 'out of order' } })
    expect((await ask(service.url, malicious('203.0.113.50'))).body.is_malicious).toBe(true)
    expect((await ask(service.url, malicious('203.0.113.51'))).body.status).toBe(500)
  })

  it.each([
    [{ status: 400, message: 'Invalid IP Address.' }, 200, 'Invalid IP Address.', 400],
    [{ status: 403, message: 'limit exceeded' }, 200, 'limit exceeded', 403],
    [{ status: 420, message: 'parameter weird' }, 200, 'parameter weird', 420],
    [{ status: 404, message: 'no record' }, 200, 'no record', 404],
  ])('passes %j on in the provider’s words', async (said, http, message, status) => {
    const { service, upstream } = await start()
    upstream.reply = () => ({ body: said })
    expect(await ask(service.url, malicious('203.0.113.60'))).toMatchObject({ http, body: { status, message } })
  })

  it('does not blame the caller’s key when the provider refuses the gateway’s', async () => {
    const { service, upstream } = await start()
    upstream.reply = () => ({ body: { status: 401, message: 'invalid api key' } })
    const { body } = await ask(service.url, malicious('203.0.113.61'))
    expect(body).toEqual({ status: 401, message: 'invalid api key of the gateway at its provider' })
  })

  it('never takes a failure for an answer', async () => {
    let now = sampleNow
    const { service, upstream } = await start({ now: () => now })
    upstream.reply = () => ({ http: 500, body: { status: 500, message: 'out of order' } })
    expect((await ask(service.url, malicious('203.0.113.62'))).http).toBe(500)
    expect((await ask(service.url, malicious('203.0.113.62'))).body.status).toBe(500)
    expect(upstream.calls).toHaveLength(1)
    upstream.reply = undefined
    now += 31_000
    expect((await ask(service.url, malicious('203.0.113.62'))).body.status).toBe(200)
  })

  it('refuses an answer about another address', async () => {
    const { service, upstream } = await start()
    upstream.reply = () => ({ body: { ip: '203.0.113.99', is_malicious: false, status: 200 } })
    expect((await ask(service.url, malicious('203.0.113.63'))).http).toBe(502)
  })

  it('stops with its budget, and says what was spent', async () => {
    const { service, upstream } = await start({ admit: { perDay: 2 } })
    for (const last of [70, 71]) await ask(service.url, malicious(`203.0.113.${last}`))
    expect((await ask(service.url, malicious('203.0.113.72'))).body).toEqual({ status: 403, message: 'limit exceeded' })
    expect((await ask(service.url, malicious('203.0.113.70'))).body.status).toBe(200)
    expect(upstream.calls).toHaveLength(2)
    expect((await ask(service.url, '/status')).body.upstream).toEqual({
      calls: { hour: 2, day: 2, run: 2 },
      waiting: 0,
      in_flight: 0,
      asking: 'open',
      remembered: 2,
    })
  })

  it('says when the breaker is open', async () => {
    const { service, upstream } = await start({ admit: { breakerFailures: 1 } })
    upstream.reply = () => ({ http: 500, body: { status: 500, message: 'out of order' } })
    await ask(service.url, malicious('203.0.113.73'))
    const refused = await ask(service.url, malicious('203.0.113.74'))
    expect(refused.http).toBe(503)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(service.url, '/status')).body.upstream).toMatchObject({ asking: 'breaker_open' })
    expect(upstream.calls).toHaveLength(1)
  })
})

describe('scans through the gateway', () => {
  const form = { query: 'https://example.com/' }

  it('are posted once, and a private one is read by nobody but who asked for it', async () => {
    const { service, upstream } = await start()
    const { body } = await ask(service.url, '/v1/domain/scan/private', { form })
    expect(body.data.scan_id).toBe(1_000_777)
    for (const path of ['/v1/domain/report/1000777', '/v1/domain/status/1000777']) {
      expect((await ask(service.url, path)).body.status).toBe(200)
      expect((await ask(service.url, path, { key: otherKey })).body.status).toBe(404)
    }
    const personal = '/v1/domain/reports/personal?show_private=true'
    expect((await ask(service.url, personal)).body.data.reports).toMatchObject([{ scan_id: 1_000_777 }])
    expect((await ask(service.url, personal, { key: otherKey })).body.data.count).toBe(0)
    expect(upstream.calls.filter((call) => call.startsWith('POST'))).toHaveLength(1)
  })

  it('ask for the status every time and for the report once', async () => {
    const { service, upstream } = await start()
    for (let i = 0; i < 2; i++) {
      await ask(service.url, '/v1/domain/status/5')
      await ask(service.url, '/v1/domain/report/5')
    }
    expect(upstream.calls.filter((call) => call.includes('/status/'))).toHaveLength(2)
    expect(upstream.calls.filter((call) => call.includes('/report/'))).toHaveLength(1)
  })

  it.each([
    ['one is still running', { status: 400, message: 'still scanning, please wait' }],
    ['they are not enabled', { status: 403, message: 'domain scans are not enabled on this service' }],
    ['their quota is used up', { status: 403, message: 'limit exceeded' }],
    ['they are refused without a word', { status: 403, message: '' }],
  ])('do not stop everything else while %s', async (_, body) => {
    const { service, upstream } = await start()
    upstream.reply = ({ method }) => (method === 'POST' ? { body } : undefined)
    expect((await ask(service.url, '/v1/domain/scan', { form })).body.status).toBe(body.status)
    expect((await ask(service.url, malicious('203.0.113.80'))).body.status).toBe(200)
    expect((await ask(service.url, '/status')).body.upstream.asking).toBe('open')
  })
})
