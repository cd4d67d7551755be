import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createFiredRules } from '../../../../src/ops/fired-rules.js'
import { observePipeline } from '../../../../src/ops/observe-pipeline.js'
import { createRecentActivity } from '../../../../src/parts/status-page/state/recent-activity.js'
import type { TelemetryEvent } from '../../../../src/telemetry/event.js'
import { runningConsumer, seen } from '../../../support/ops.js'
import { openTestPage } from '../../../support/status-page.js'

type RaisedAlert = Parameters<Ops['page']['alerted']>[0]

type Ops = Awaited<ReturnType<typeof openTestPage>>

let open: Ops[] = []
afterEach(async () => {
  await Promise.all(open.map((ops) => ops.close()))
  open = []
})
const start = async (...args: Parameters<typeof openTestPage>) => {
  const ops = await openTestPage(...args)
  open.push(ops)
  return ops
}

const alertOf = (id: string, name: string, count: number): RaisedAlert => ({
  '@timestamp': '2026-11-15T08:00:00.000Z',
  rule: { id, name },
  threatweave: {
    alert_id: id,
    level: 'high',
    value: '203.0.113.9',
    direction: 'outbound',
    action: 'allowed',
    peer: '10.0.0.5',
    origin: 'firewall/0/1',
    count,
  },
})

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
  it('has a page that names a gateway as one', async () => {
    expect((await get(`${(await start({}, { kind: 'server' })).url}/`)).body).toContain('Threatweave gateway')
    expect((await get(`${(await start()).url}/`)).body).not.toContain('Threatweave gateway')
  })

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
          allowed: 1,
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
    for (const path of ['/', '/history?value=x', '/events', '/nothing'])
      expect((await get(url + path, elsewhere)).status).toBe(401)
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
    const { url, page, counters } = await start()
    const hostile = seen({
      value: '<script>alert(1)</script>',
      summary: '"><img src=x onerror=alert(1)> \u001b[31mred\u202e',
      enrichment_id: "'--></style><script>",
    })
    const line: Parameters<typeof observePipeline<number, typeof hostile, undefined>>[0] = (_, use) => {
      use(hostile, 0)
      return true
    }
    await observePipeline(line, { counters, see: page.see, now: Date.now })([1], () => undefined)
    page.emit({
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
    const { url, counters } = await start()
    counters.eventAnnotated(seen())
    const { body } = await get(`${url}/`)
    expect(body).toContain('Provider available: 1 of 8 calls in flight, 3 queued, about 120 ms per lookup.')
    expect(body).toContain('Working')
    expect(body).toContain('<td>firewall/0</td><td>12</td>')
    expect(body).toContain('<td>private address</td>')
    expect(body).toContain('<td>ops.token</td><td>(hidden)</td>')
    expect(body).not.toMatch(/(?:src|href)="(?!data:,"|history\?|alert\?)/)
  })

  it('shows findings with the inside host, direction and action, alerts, rules, feeds and latency beside the deadline', async () => {
    const fired = createFiredRules(Date.now, () => [
      { id: 'r1', title: 'Malicious Destination', level: 'high' },
      { id: 'r2', title: 'Quiet Rule', level: 'low' },
    ])
    fired.note(alertOf('r1', 'Malicious Destination', 3))
    const { url, page, counters } = await start(
      {},
      {
        rules: fired.all,
        feeds: () => [
          {
            name: 'urlhaus',
            state: 'kept',
            addresses: 1200,
            endpoints: 0,
            names: 3,
            urls: 0,
            skipped: { unusable: 1, too_broad: 2 },
            modified: Date.now() - 7_200_000,
            fetch: { fetches: 2, failures: 1, nextAt: Date.now() + 60_000, error: 'answered 401' },
          },
        ],
      },
    )
    page.alerted(alertOf('r1', 'Malicious Destination', 3))
    const inside = { type: 'ip', field: 'src', role: 'source', decision: 'skip', verdict: 'unknown' } as const
    for (const value of ['10.0.0.5', '10.0.0.6'])
      page.see(
        seen({
          role: 'destination',
          direction: 'outbound',
          indicators: [{ ...inside, value, reason: 'private_address' }],
        }).annotation,
      )
    for (let nth = 0; nth < 100; nth++) counters.chunkAnnotated(nth < 60 ? 4 : 200)
    const { body } = await get(`${url}/`)
    expect(body).toContain(
      '<td><a href="history?value=198.51.100.60">198.51.100.60</a></td><td>10.0.0.6 and 1 more</td><td>outbound</td><td>allowed</td>',
    )
    expect(body).toMatch(
      /<a class="what" href="history\?value=203\.0\.113\.9">203\.0\.113\.9<\/a>.+<b>Malicious Destination<\/b>/,
    )
    expect(body).toMatch(/<td>Malicious Destination<\/td><td>high<\/td><td>1<\/td><td>3<\/td>/)
    expect(body).toMatch(/<td>Quiet Rule<\/td><td>low<\/td><td>0<\/td><td>0<\/td><td>never<\/td>/)
    expect(body).toMatch(
      /<td>urlhaus<\/td><td>kept<\/td><td>1200<\/td><td>0<\/td><td>3<\/td><td>0<\/td><td>3<\/td><td>2 h 0 min<\/td>.+answered 401/,
    )
    expect(body).toMatch(/including waits<\/td><td>4\.6 ms<\/td><td>246 ms<\/td><td>250 ms<\/td>/)
    const metrics = (await get(`${url}/metrics`)).body
    expect(metrics).toContain('threatweave_rule_alerts_total{id="r1",rule="Malicious Destination"} 1')
    expect(metrics).toContain('threatweave_rule_matches_total{id="r1",rule="Malicious Destination"} 3')
  })

  it('says that a problem is over once it is', () => {
    const { emit, problems } = createRecentActivity(Date.now)
    const states = (): string[] => problems().map(({ state }) => state)
    emit({ event: 'lookups_paused', state: 'breaker_open', reason: 'unavailable', forMs: 1000 })
    emit({ event: 'feed_fetch_failed', feed: 'a', from: 'x', message: 'answered 500', kept: true })
    emit({ event: 'feed_fetch_failed', feed: 'b', from: 'x', message: 'answered 500', kept: true })
    expect(states()).toEqual(['warning', 'warning', 'warning'])
    emit({ event: 'lookups_resumed' })
    emit({ event: 'feed_fetched', feed: 'a', from: 'x', bytes: 0, ms: 1 })
    expect(states()).toEqual(['warning', 'over', 'over'])
    emit({ event: 'feed_fetch_failed', feed: 'a', from: 'x', message: 'answered 500', kept: true })
    expect(states()).toEqual(['warning', 'warning', 'over'])
  })

  it('has a page about one indicator: where, when and by whom it was seen, and its alerts', async () => {
    const { url, page } = await start(
      {},
      {
        seenOf: (value) =>
          value === '203.0.113.9'
            ? [
                {
                  partition: 'firewall/0',
                  count: 7,
                  first: 0,
                  last: 1000,
                  peers: ['10.0.0.5'],
                  otherSightings: 2,
                  offsets: [3, 9],
                  traffic: [],
                  kinds: [],
                },
              ]
            : [],
      },
    )
    page.alerted(alertOf('r1', 'Malicious Destination', 1))
    const { body } = await get(`${url}/history?value=203.0.113.9`)
    expect(body).toContain('<td>firewall/0</td><td>7 events</td><td>1970-01-01 00:00:00 UTC</td>')
    expect(body).toContain('10.0.0.5 and 2 sightings by others')
    expect(body).toContain('firewall/0/3, firewall/0/9')
    expect(body).toContain('Malicious Destination')
    for (const hostile of ['<script>alert(1)</script>', '8.8.8.8;curl x|sh', '$(id).example.net', 'x'.repeat(300)])
      expect((await get(`${url}/history?value=${encodeURIComponent(hostile)}`)).status).toBe(400)
    expect((await get(`${url}/history`)).status).toBe(400)
  })

  it('shows a gateway its own side: requests, memory, provider and feeds, and nothing of events', async () => {
    const { url, counters } = await start({}, { kind: 'server', consumer: undefined })
    counters.emit({ event: 'operation_answered', operation: 'ip/malicious-info', status: 200, ms: 3 })
    counters.emit({ event: 'operation_answered', operation: 'ip/malicious-info', status: 404, ms: 3 })
    const { body } = await get(`${url}/`)
    expect(body).toContain('Working: waiting for requests.')
    expect(body).toContain('<td>ip/malicious-info</td><td>1</td><td>1</td>')
    expect(body).toContain('2 since the start, 1 of them refused or failed')
    expect(body).not.toMatch(/<h[23][^>]*>(?:Events|Partitions|Alerts|Malicious)/)
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
    expect(Object.keys(JSON.parse(view) as object)).toEqual(['state', 'alerted', 'charts', 'health', 'machine'])
    expect(view).toContain('12 events wait in 2 partitions')
  })

  it('is refused when its port is taken', async () => {
    const { url } = await start()
    await expect(openTestPage({ port: Number(new URL(url).port) })).rejects.toThrow('EADDRINUSE')
  })
})
