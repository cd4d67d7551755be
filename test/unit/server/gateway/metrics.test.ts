// What the gateway counts of itself.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { watchRun } from '../../../../src/app/watch-run.js'
import { load } from '../../../../src/config/load.js'
import { openServer } from '../../../../src/app/open-server.js'
import type { Ops } from '../../../../src/ops/open-ops.js'
import type { LookupServer } from '../../../../src/server/start-server.js'
import { ignoreTelemetry } from '../../../../src/telemetry/event.js'
import { startUpstream, type Upstream } from '../../../support/counting-upstream.js'
import { limitsWith } from '../../../support/limits.js'
import { ask, sampleKey } from '../../../support/lookup-service.js'

describe('the endpoint of a gateway', () => {
  let upstream: Upstream
  let service: LookupServer
  let ops: Ops

  beforeAll(async () => {
    upstream = await startUpstream()
    const state = mkdtempSync(join(tmpdir(), 'threatweave-gateway-'))
    const feed = join(state, 'feed.txt')
    writeFileSync(feed, '192.0.2.7\n')
    const loaded = load({
      values: {
        feeds: [{ name: 'ours', path: feed }],
        admit: { perDay: 1000 },
        intel: { service: { apiKey: 'only-an-example-key' } },
        serve: {
          port: 0,
          apiKey: sampleKey,
          upstream: upstream.url,
          state,
        },
      },
      env: {},
      readFile: () => '',
    })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const watch = await watchRun(loaded.config, ignoreTelemetry)
    service = await openServer(
      loaded.config,
      {
        env: {},
        emit: watch.emit,
        watch: watch.hooks,
        limits: limitsWith({ admission: { breakerFailures: 2 }, retry: { times: 0 } }),
      },
      '1.2.3',
    )
    ops = await watch.serve({ provider: service.provider, feeds: service.feeds, kind: 'server' }, 0)
  })
  afterAll(async () => {
    await Promise.all([service.close(), ops.close()])
    await upstream.close()
  })

  const text = async (): Promise<string> => (await fetch(`${ops.url ?? ''}/metrics`)).text()
  const value = async (name: string): Promise<number> => {
    const line = (await text()).split('\n').find((one) => one.startsWith(`threatweave_${name} `))
    return Number(line?.split(' ').at(-1))
  }
  const series = async (): Promise<number> =>
    (await text()).split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  const about = (ip: string) => ask(service.url, `/v1/ip/malicious-info?ip=${encodeURIComponent(ip)}`)

  it('is healthy and ready, and says nothing of events', async () => {
    expect((await fetch(`${ops.url ?? ''}/healthz`)).status).toBe(200)
    expect((await fetch(`${ops.url ?? ''}/readyz`)).status).toBe(200)
    expect(await text()).not.toContain('threatweave_events')
  })

  it('counts calls, answers, memory hits and credits', async () => {
    await about('198.51.100.7')
    await Promise.all([about('198.51.100.7'), about('198.51.100.8'), about('198.51.100.8')])
    expect({
      calls: await value('provider_calls_total{operation="ip/malicious-info",code="ok"}'),
      answers: await value('requests_total{operation="ip/malicious-info",status="200"}'),
      fresh: await value('memory_lookups_total{result="fresh"}'),
      miss: await value('memory_lookups_total{result="miss"}'),
      coalesced: await value('memory_lookups_total{result="coalesced"}'),
      credits: await value('credits_total'),
      allowed: await value('budget_limit{window="day"}'),
      lookups: await value('lookup_duration_seconds_count'),
      inFlight: await value('provider_calls_in_flight'),
      waiting: await value('queued_lookups'),
      entries: await value('feed_entries{feed="ours",type="ip"}'),
    }).toEqual({
      calls: 2,
      answers: 4,
      fresh: 1,
      miss: 2,
      coalesced: 1,
      credits: 2,
      allowed: 1000,
      lookups: 2,
      inFlight: 0,
      waiting: 0,
      entries: 1,
    })
    expect(await text()).toMatch(/threatweave_build_info\{version="[^"]+",node="v[^"]+"\} 1/)
  })

  it('has as many series after hostile questions and an outage as before, and shows the open breaker', async () => {
    const before = await series()
    upstream.reply = () => ({ http: 503, body: { status: 503, message: 'gone' } })
    for (let n = 0; n < 200; n++) {
      await about(n % 2 === 0 ? `<script>${n}\n\u001b[2J"}` : `203.0.113.${n}`)
      await ask(service.url, `/v1/no/such/path/${n}`)
    }
    await ask(service.url, '/v1/ip/malicious-info?ip=203.0.113.1', { key: 'wrong' })
    expect(await series()).toBe(before)
    expect(await value('provider_state{state="breaker_open"}')).toBe(1)
    expect(await value('requests_total{operation="ip/malicious-info",status="401"}')).toBe(1)
    // Two open the breaker; a slow machine sees a few of its trial calls as well.
    const failed = await value('provider_calls_total{operation="ip/malicious-info",code="unavailable"}')
    expect(failed).toBeGreaterThanOrEqual(2)
    expect(failed).toBeLessThan(20)
    expect((await fetch(`${ops.url ?? ''}/healthz`)).status).toBe(200)
    expect(await text()).not.toContain('<script')
  })
})
