import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { Ops } from '../../../src/ops/open-ops.js'
import { observePipeline } from '../../../src/ops/observe-pipeline.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'
import { openTestOps, runningConsumer, seen } from '../../support/ops.js'

let open: Ops[] = []
afterEach(async () => {
  await Promise.all(open.map((ops) => ops.close()))
  open = []
})
const start = async (...args: Parameters<typeof openTestOps>) => {
  const ops = await openTestOps(...args)
  open.push(ops)
  return ops
}

type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

const get = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { headers, method }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        body += part
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
    })
    sent.on('error', reject).end()
  })

describe('the ops endpoint', () => {
  it('answers health, readiness and metrics', async () => {
    const { url } = await start()
    expect(await get(`${url}/healthz`)).toMatchObject({ status: 200, body: '{"status":"ok","problems":[]}' })
    expect((await get(`${url}/readyz`)).status).toBe(200)
    const metrics = await get(`${url}/metrics`)
    expect(metrics.headers['content-type']).toContain('text/plain; version=0.0.4')
    expect(metrics.body).toContain('threatweave_events_read_total 0')
  })

  it('is unhealthy when a chunk is stuck, and healthy through an outage of provider and brokers', async () => {
    const now = Date.now()
    let view = runningConsumer(now)
    const { url } = await start(
      {},
      {
        consumer: () => view,
        provider: () => ({
          state: 'breaker_open',
          reason: 'unavailable',
          waiting: 0,
          inFlight: 0,
          latencyMs: 1,
          spent: { hour: 0, day: 0, run: 0 },
        }),
      },
    )
    view = { ...view, restarts: 2, partitions: { 'firewall/0': { lag: 5000, progressAt: now - 600_000 } } }
    expect((await get(`${url}/healthz`)).status).toBe(200)
    view = { ...view, partitions: { 'firewall/0': { lag: 1, progressAt: now, chunkSince: now - 121_000 } } }
    const stuck = await get(`${url}/healthz`)
    expect(stuck.status).toBe(503)
    expect(stuck.body).toContain('a chunk has been in progress for 121 s')
    view = { ...view, state: 'draining', partitions: {} }
    expect((await get(`${url}/readyz`)).status).toBe(503)
  })

  it('refuses a host that it does not know with 421, on every path', async () => {
    const { url } = await start({ allowedHosts: ['status.example.com'] })
    for (const path of ['/', '/healthz', '/metrics', '/events', '/nothing'])
      expect((await get(url + path, { host: 'rebound.example.net' })).status).toBe(421)
    expect((await get(`${url}/healthz`, { host: 'status.example.com' })).status).toBe(200)
  })

  it('shows the page to another machine only with the token', async () => {
    const { url } = await start({ token: 'correct-horse-battery' })
    const elsewhere = { 'x-forwarded-for': '192.0.2.7' }
    for (const path of ['/', '/events', '/nothing']) expect((await get(url + path, elsewhere)).status).toBe(401)
    for (const path of ['/healthz', '/readyz', '/metrics']) expect((await get(url + path, elsewhere)).status).toBe(200)
    const shown = { ...elsewhere, authorization: 'Bearer correct-horse-battery' }
    expect((await get(`${url}/`, shown)).status).toBe(200)
    expect((await get(`${url}/`, { ...elsewhere, authorization: 'Bearer wrong' })).status).toBe(401)
  })

  it('shows it to no other machine without a token', async () => {
    const { url } = await start()
    expect((await get(`${url}/`, { 'x-forwarded-for': '192.0.2.7' })).status).toBe(403)
    expect((await get(`${url}/`)).status).toBe(200)
  })

  it('blocks other origins and foreign scripts', async () => {
    const { url } = await start()
    const { headers } = await get(`${url}/`, { origin: 'https://example.net' })
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha/)
    expect(headers['content-security-policy']).not.toContain('unsafe')
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'DENY' })
    expect((await get(`${url}/`, { origin: 'https://example.net' }, 'OPTIONS')).status).toBe(405)
    expect((await get(`${url}/healthz`, {}, 'POST')).status).toBe(405)
  })

  it('shows what an event says as text, whatever it says', async () => {
    const { url, sources } = await start()
    const hostile = seen({
      value: '<script>alert(1)</script>',
      summary: '"><img src=x onerror=alert(1)> \u001b[31mred\u202e',
      enrichment_id: "'--></style><script>",
    })
    const line: Parameters<typeof observePipeline<number, typeof hostile, undefined>>[0] = (_, use) => {
      use(hostile, 0)
      return true
    }
    await observePipeline(line, { ...sources, now: Date.now })([1], () => undefined)
    sources.recent.emit({
      event: 'kafka_client_warned',
      about: 'x',
      message: '</td><script>alert(2)</script>\u0007',
    } satisfies TelemetryEvent)
    const { body } = await get(`${url}/`)
    expect(body.match(/<script/g)).toHaveLength(1)
    expect(body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(body).toContain('&quot;&gt;&lt;img src=x onerror=alert(1)&gt; \\u001b[31mred\\u202e')
    expect(body).toContain('&lt;/td&gt;&lt;script&gt;alert(2)&lt;/script&gt;\\u0007')
    expect(body).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/)
  })

  it('writes everything into the page itself, so that it needs no script', async () => {
    const { url, sources } = await start()
    sources.counters.eventAnnotated(seen())
    const { body } = await get(`${url}/`)
    expect(body).toContain('Provider available: 1 calls in flight, 3 queued, about 120 ms per lookup.')
    expect(body).toContain('Working')
    expect(body).toContain('<td>firewall/0</td><td>12</td>')
    expect(body).toContain('<td>private address</td>')
    expect(body).toContain('<td>ops.token</td><td>(hidden)</td>')
    expect(body).not.toMatch(/(?:src|href)="(?!data:,")/)
  })

  it('sends updates to watchers', async () => {
    const { url } = await start()
    const view = await new Promise<string>((resolve, reject) => {
      const sent = request(`${url}/events`, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part
          const match = /^data: (.*)\n\n/m.exec(text)
          if (!match) return
          response.destroy()
          resolve(match[1]!)
        })
      })
      sent.on('error', reject).end()
    })
    expect(JSON.parse(view)).toMatchObject({ texts: { 'now-lag': '12' }, tones: { headline: 'good' } })
  })

  it('is refused when its port is taken', async () => {
    const { url } = await start()
    await expect(openTestOps({ port: Number(new URL(url).port) })).rejects.toThrow('EADDRINUSE')
  })
})
