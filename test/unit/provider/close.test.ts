// What becomes of calls to the provider when the program ends.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { openApp } from '../../../src/app/open-app.js'
import { load } from '../../../src/config/load.js'
import { allOf } from '../../../src/pipeline/pipeline.js'
import type { TelemetryEvent } from '../../../src/telemetry/event.js'

it('a call that is under way at the end is no failure of the provider, and what waits is not sent', async () => {
  let calls = 0
  const hanging = createServer(() => {
    calls++
  })
  await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done))
  const loaded = load({
    values: {
      memory: { path: 'none' },
      gate: { documentation: true },
      enrich: { deadlineMs: 1 },
      intel: {
        service: { apiKey: 'sample-key', baseUrl: `http://127.0.0.1:${(hanging.address() as AddressInfo).port}` },
      },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const told: TelemetryEvent[] = []
  const app = await openApp(loaded.config, { mode: 'live', env: {}, emit: (event) => void told.push(event) })
  if ('problems' in app) throw new Error('cannot be opened')
  const chunk = Array.from({ length: 50 }, (_, n) => ({
    bytes: Buffer.from(JSON.stringify({ src_ip: `198.51.100.${n}` })),
    origin: `firewall/0/${n}`,
  }))
  await allOf(app.pipeline, chunk)
  await expect.poll(() => calls).toBe(1)
  await app.close()
  await new Promise((done) => setImmediate(done))
  hanging.closeAllConnections()
  hanging.close()
  expect(calls).toBe(1)
  expect(told).toEqual([])
})
