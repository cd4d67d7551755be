// Many askers over bulk connections to one gateway, in front of a provider that counts its calls.
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Finding } from '../../../src/domain/finding.js'
import { keyOf, type Indicator } from '../../../src/domain/indicator.js'
import { address, askAll, countKnown, startAsker, startGateway } from '../../support/askers.js'
import { startUpstream } from '../../support/counting-upstream.js'
import { startLimitedProvider, type LimitedProvider } from '../../support/limited-provider.js'
import { ask, newFolder, sampleKey } from '../../support/lookup-service.js'
import { ask as inbound, outbound } from '../../support/lookup.js'
import { startScriptedService, type Asked } from '../../support/scripted-service.js'
import { listen } from '../../support/test-site.js'

const onSocket = (): { state: string; socket: string } => {
  const state = newFolder()
  return { state, socket: join(state, 'gateway.sock') }
}
const startProvider = async (allowed: number, latencyMs: number): Promise<LimitedProvider> => {
  const provider = await startLimitedProvider(allowed, latencyMs)
  onTestFinished(provider.close)
  return provider
}
const timesAsked = ({ asked }: LimitedProvider): number => [...asked.values()].reduce((sum, times) => sum + times, 0)

describe('four askers with a gateway between them and the provider', () => {
  it('get 1,000 addresses for 1,000 calls, never more than 8 at the same time', { timeout: 600_000 }, async () => {
    const provider = await startProvider(8, 20)
    const place = onSocket()
    const gateway = await startGateway(provider.url, place)
    expect(gateway.url).toBe(`unix:${place.socket}`)
    const askers = await Promise.all([0, 1, 2, 3].map(() => startAsker(gateway.url)))
    // Every address is asked for by two of them.
    const found = await Promise.all(
      askers.map((asker, turn) => askAll(asker, turn < 2 ? 0 : 500, turn < 2 ? 500 : 1000)),
    )
    expect(found.map(countKnown)).toEqual([500, 500, 500, 500])
    expect([provider.asked.size, timesAsked(provider)]).toEqual([1000, 1000])
    expect(provider).toMatchObject({ mostInFlight: 8, refused: 0 })
  })
})

describe('an asker of a gateway over HTTP', () => {
  const one: Indicator = { type: 'ip', value: address(0) }

  it('asks in bulk from the first answer on, with more open than its own calls at a time', async () => {
    const provider = await startProvider(8, 20)
    const gateway = await startGateway(provider.url, { state: newFolder() })
    const asker = await startAsker(gateway.url, {
      intel: { service: { baseUrl: gateway.url, apiKey: sampleKey, concurrency: 1 } },
    })
    await asker.lookup(one, outbound)
    // The connection is opened beside the lookups that find it offered.
    for (let from = 1; provider.mostInFlight < 8; from += 50)
      expect(countKnown(await askAll(asker, from, from + 50))).toBe(50)
    expect(provider.refused).toBe(0)
  })

  it('waits where its plan allows no further call, instead of being refused', async () => {
    const provider = await startProvider(8, 5)
    const gateway = await startGateway(provider.url, { ...onSocket(), plan: 2 })
    const asker = await startAsker(gateway.url)
    expect(countKnown(await askAll(asker, 0, 100))).toBe(100)
    expect(provider.mostInFlight).toBe(2)
  })

  it('makes single calls where a limit of its own counts them', async () => {
    const provider = await startProvider(8, 5)
    const gateway = await startGateway(provider.url, onSocket())
    const asker = await startAsker(gateway.url, {
      intel: { service: { baseUrl: gateway.url, apiKey: sampleKey, concurrency: 4 } },
      admit: { perRun: 20 },
    })
    expect(countKnown(await askAll(asker, 0, 50))).toBe(20)
    expect(timesAsked(provider)).toBe(20)
    expect(asker.admission?.state().spent.run).toBe(20)
  })

  it('makes single calls, and no attempt at anything else, where the provider does not offer bulk', async () => {
    const methods = new Set<string | undefined>()
    const server = createServer((request, response) => {
      methods.add(request.method)
      const ip = new URL(request.url ?? '/', 'http://provider').searchParams.get('ip')
      response.end(JSON.stringify({ status: 200, ip, is_malicious: false }))
    }).on('connect', (request, socket) => {
      methods.add(request.method)
      socket.destroy()
    })
    const asker = await startAsker(`http://127.0.0.1:${await listen(server)}`)
    expect(countKnown(await askAll(asker, 0, 10))).toBe(10)
    expect([...methods]).toEqual(['GET'])
  })

  it('goes on with single calls where bulk is offered but something in between does not let it through', async () => {
    const server = createServer((request, response) => {
      const ip = new URL(request.url ?? '/', 'http://provider').searchParams.get('ip')
      response.setHeader('x-threatweave-bulk', '1').end(JSON.stringify({ status: 200, ip, is_malicious: false }))
    }).on('connect', (_, socket) => socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n'))
    const asker = await startAsker(`http://127.0.0.1:${await listen(server)}`)
    for (let from = 0; from < 50; from += 10) expect(countKnown(await askAll(asker, from, from + 10))).toBe(10)
  })

  it('is refused with a wrong key, and told so as by any operation', async () => {
    const provider = await startProvider(8, 5)
    const gateway = await startGateway(provider.url, onSocket())
    const asker = await startAsker(gateway.url, {
      intel: { service: { baseUrl: gateway.url, apiKey: 'A-wrong-key-0123456789' } },
    })
    expect(await asker.lookup(one, outbound)).toMatchObject({ status: 'unknown', reason: 'bad_key' })
    expect(timesAsked(provider)).toBe(0)
  })

  it('pays from the same credits and memory as the operations', async () => {
    const provider = await startProvider(8, 5)
    const gateway = await startGateway(provider.url, { state: newFolder() })
    await ask(gateway.url, `/v1/ip/malicious-info?ip=${encodeURIComponent(one.value)}`)
    const asker = await startAsker(gateway.url)
    await askAll(asker, 0, 30)
    expect(timesAsked(provider)).toBe(30)
  })
})

describe('a question that waits at the gateway', () => {
  it('is not given up by an asker whose own calls would have timed out: time counts from the start of the call', async () => {
    const provider = await startProvider(1, 50)
    const gateway = await startGateway(provider.url, { ...onSocket(), concurrency: 1 })
    const asker = await startAsker(gateway.url, {}, 200)
    expect(countKnown(await askAll(asker, 0, 20))).toBe(20)
  })

  it('has the role, the action and the number of its asks with it', async () => {
    const upstream = await startUpstream()
    onTestFinished(upstream.close)
    let release = (): void => undefined
    upstream.held = new Promise((resolve) => (release = resolve))
    const gateway = await startGateway(upstream.url, { ...onSocket(), concurrency: 1 })
    const [first, second] = [await startAsker(gateway.url), await startAsker(gateway.url)]
    const sources = askAll(first, 0, 40, inbound)
    // The last of them is asked for many times; three destinations come from another asker.
    for (let times = 0; times < 64; times++) void first.lookup({ type: 'ip', value: address(39) }, inbound)
    const further = askAll(first, 40, 41, inbound)
    const destinations = askAll(second, 100, 103, outbound)
    await expect.poll(() => gateway.provider?.().waiting, { timeout: 600_000 }).toBe(40 + 3)
    release()
    await Promise.all([sources, further, destinations])
    const order = upstream.calls.map((call) => decodeURIComponent(call.slice(call.indexOf('ip=') + 3)))
    expect(order.slice(0, 6)).toEqual([0, 100, 101, 102, 39, 1].map(address))
    expect(order).toHaveLength(44)
  })

  it('is expected by its asker when the gateway expects it', async () => {
    const provider = await startProvider(1, 3_600_000)
    const gateway = await startGateway(provider.url, { ...onSocket(), concurrency: 1 })
    const [first, second] = [await startAsker(gateway.url), await startAsker(gateway.url)]
    void askAll(first, 0, 100)
    let nth = 1000
    const estimateOfOneMore = (): number => {
      const indicator: Indicator = { type: 'ip', value: address(nth++) }
      void second.lookup(indicator, outbound)
      return second.admission?.estimateMs(keyOf(indicator)) ?? 0
    }
    // A hundred calls are before it, of a tenth of a second each as long as none has come back.
    await expect.poll(estimateOfOneMore, { timeout: 600_000 }).toBeGreaterThan(9_000)
  })
})

describe('findings in bulk', () => {
  const answers = ({ path, query }: Asked): unknown => {
    const { ip } = query
    if (path.includes('/domain/reports'))
      return query.query === 'example.com'
        ? { status: 200, data: { count: 1, reports: [{ scan_id: 7, url: 'https://example.com/', score: 'Critical' }] } }
        : { status: 200, data: { count: 0, reports: [] } }
    if (path.includes('suspicious_info'))
      return { status: 200, ip, score: { inbound: 'Dangerous', outbound: 'Low' }, issues: { is_tor: true } }
    if (ip === '198.51.100.3') return { status: 404, message: 'not found' }
    if (ip === '198.51.100.4') return { status: 400, message: 'Invalid IP Address.' }
    if (ip === '198.51.100.5') return { status: 200, ip: '198.51.100.99', is_malicious: false }
    return { status: 200, ip, is_malicious: ip === '198.51.100.2', ids: { count: ip === '198.51.100.1' ? 2 : 0 } }
  }
  const asked: readonly Indicator[] = [
    ...[1, 2, 3, 4, 5, 6].map((n): Indicator => ({ type: 'ip', value: `198.51.100.${n}` })),
    { type: 'domain', value: 'example.com' },
    { type: 'domain', value: 'example.net' },
  ]

  it('are the same as from single calls', async () => {
    const upstream = await startScriptedService(answers)
    onTestFinished(upstream.close)
    const findings = async (over: Record<string, unknown>): Promise<Finding[]> => {
      const gateway = await startGateway(upstream.baseUrl, onSocket())
      const asker = await startAsker(gateway.url, over)
      const found: Finding[] = []
      for (const indicator of asked) found.push(await asker.lookup(indicator, outbound))
      return JSON.parse(JSON.stringify(found, (name, value: unknown) => (name === 'at' ? 0 : value))) as Finding[]
    }
    const single = await findings({ admit: { perRun: 1000 } })
    expect(single.map((finding) => (finding.status === 'known' ? 'known' : finding.reason))).toEqual([
      'known',
      'known',
      'not_found',
      'bad_input',
      'unavailable',
      'known',
      'known',
      'not_found',
    ])
    expect(await findings({})).toEqual(single)
  })
})
