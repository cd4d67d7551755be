// Folders that version 0.1 wrote are kept under test/fixtures: an upgrade must not pay again for what is in them.
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openReader } from '../../../../src/app/open-app.js'
import { openIndicatorLookup } from '../../../../src/app/open-indicator-lookup.js'
import { openServer } from '../../../../src/app/open-server.js'
import { load } from '../../../../src/config/load.js'
import type { Config } from '../../../../src/config/schema.js'
import { systemClock, type Clock } from '../../../../src/base/clock.js'
import { startUpstream, type Upstream } from '../../../support/counting-upstream.js'
import { ask as askServer, sampleKey } from '../../../support/lookup-service.js'
import { outbound } from '../../../support/lookup.js'

/** An hour after the folders were written. */
const clock: Clock = { ...systemClock, now: () => Date.parse('2026-11-15T13:00:00Z') }
const fixtures = resolve(import.meta.dirname, '../../../fixtures/memory-folders')

let folder: string
let upstream: Upstream
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'earlier-'))
  upstream = await startUpstream()
})
afterEach(async () => {
  await upstream.close()
  rmSync(folder, { recursive: true, force: true })
})

const configured = (env: Readonly<Record<string, string>>): Config => {
  const loaded = load({
    env: {
      THREATWEAVE_INTEL_SERVICE_BASE_URL: upstream.url,
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'The-key-of-this-test-0123456789',
      THREATWEAVE_GATE_DOCUMENTATION: 'true',
      ...env,
    },
    readFile: () => '',
  })
  return 'config' in loaded ? loaded.config : expect.fail(JSON.stringify(loaded))
}

describe('a memory folder of an earlier version', () => {
  it('answers the stream without a call', async () => {
    cpSync(join(fixtures, 'stream'), folder, { recursive: true })
    const config = configured({ THREATWEAVE_MEMORY_PATH: folder })
    const reading = openReader(config)
    if ('problems' in reading) return expect.fail(JSON.stringify(reading))
    const asking = await openIndicatorLookup(config, reading.decide, { env: {}, clock })
    if ('problems' in asking) return expect.fail(JSON.stringify(asking))
    expect(asking.lookup({ type: 'ip', value: '198.51.100.7' }, outbound)).toMatchObject({
      status: 'known',
      facts: { flags: { is_malicious: true }, inbound: 'critical', outbound: 'dangerous' },
    })
    expect(asking.lookup({ type: 'ip', value: '198.51.100.8' }, outbound)).toMatchObject({ status: 'known' })
    expect(asking.admission?.state().spent).toMatchObject({ day: 4 })
    await asking.close()
    expect(upstream.calls).toEqual([])
  })

  it('answers the callers of a gateway without a call', async () => {
    cpSync(join(fixtures, 'gateway'), join(folder, 'memory'), { recursive: true })
    const config = configured({
      THREATWEAVE_SERVE_UPSTREAM: upstream.url,
      THREATWEAVE_SERVE_API_KEY: sampleKey,
      THREATWEAVE_SERVE_STATE: folder,
      THREATWEAVE_SERVE_PORT: '0',
    })
    const server = await openServer(config, { env: {}, clock }, '0.0.0')
    const bodies = []
    for (const path of [
      '/v1/ip/malicious-info?ip=198.51.100.7',
      '/v1/ip/suspicious_info?ip=198.51.100.7',
      '/v1/ip/malicious-info?ip=198.51.100.8',
      '/v1/domain/reports?query=example.com',
    ])
      bodies.push((await askServer(server.url, path)).body)
    await server.close()
    expect(bodies).toMatchObject([
      { ip: '198.51.100.7', is_malicious: true },
      { ip: '198.51.100.7', score: { inbound: 'Critical' } },
      { ip: '198.51.100.8', is_malicious: false },
      { data: { count: 0, reports: [] } },
    ])
    expect(upstream.calls).toEqual([])
  })
})
