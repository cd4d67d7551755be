// What is remembered of events must not hold on to the events: a text cut from a longer one keeps all of that one in memory. It is here for the
// process of its own: it measures the heap.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApp, type App } from '../../src/app/open-app.js'
import { openAlerting } from '../../src/app/open-alerting.js'
import type { Alerts } from '../../src/alerts/open-alerts.js'
import { load } from '../../src/config/load.js'
import { allOf } from '../../src/pipeline/pipeline.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const heapMb = (): number => {
  collect()
  return process.memoryUsage().heapUsed / 1_048_576
}

const filler = 'x'.repeat(64 * 1024)
const fresh = (n: number) => ({
  address: `198.51.${100 + (n >> 8)}.${n & 255}`,
  name: `a-name-that-is-long-${n}.example-${n}.com`,
  verb: `permitted-by-rule-number-${n}`,
  key: `a_field_with_a_long_name_${n}_host`,
})

describe('400 events of 64 KB, each with addresses, names, verbs and keys of its own', () => {
  let hanging: Server
  let app: App
  let alerts: Alerts

  beforeAll(async () => {
    hanging = createServer(() => undefined)
    await new Promise<void>((done) => hanging.listen(0, '127.0.0.1', done))
    const { port } = hanging.address() as AddressInfo
    const loaded = load({
      values: {
        memory: { path: 'none' },
        gate: { documentation: true },
        intel: { service: { apiKey: 'sample-key', baseUrl: `http://127.0.0.1:${port}` } },
      },
      env: {},
      readFile: () => '',
    })
    if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
    const opened = await openApp(loaded.config, { mode: 'live', env: {} })
    const alerting = await openAlerting(loaded.config, {})
    if ('problems' in opened || 'problems' in alerting) throw new Error('cannot be opened')
    app = opened
    alerts = alerting
  })
  afterAll(async () => {
    hanging.closeAllConnections()
    hanging.close()
    await Promise.all([app.close(), alerts.close()])
  })

  it.each([
    [
      'lines of pairs',
      (n: number) => {
        const { address, name, verb, key } = fresh(n)
        return `fw action=${verb} src=${address} host=${name} ${key}=${name} note=${filler}`
      },
    ],
    [
      'text within JSON, beyond ASCII',
      (n: number) => {
        const { address, name, verb, key } = fresh(n)
        return JSON.stringify({ message: `é action=${verb} src=${address} host=${name} ${key}=${name} ${filler}` })
      },
    ],
    [
      'URLs and keys of JSON',
      (n: number) => {
        const { address, name, verb, key } = fresh(n)
        return JSON.stringify({ [key]: name, action: verb, src: address, url: `https://${name}/${filler}` })
      },
    ],
  ])('leave less than half of it in memory: %s', { timeout: 600_000 }, async (_, textOf) => {
    const before = heapMb()
    const count = 400
    for (let n = 0; n < count; n++) {
      const event = { bytes: Buffer.from(textOf(n)), origin: `firewall/0/${n}`, time: 0 }
      const left = await allOf(
        app.pipeline,
        [event],
        app.waits.catchUp(() => true),
      )
      for (const one of left) one.bytes()
      alerts.raise(left)
    }
    expect(heapMb() - before).toBeLessThan((count * 32) / 1024)
  })
})
