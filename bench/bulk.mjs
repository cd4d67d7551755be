// Four clients, one gateway and a provider with 20 ms latency that allows 8 calls: measures how many calls stay in flight.
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openServer } from '../dist/app/open-server.js'
import { load } from '../dist/config/load.js'
import { startProvider } from './kafka-stage.mjs'

const apiKey = 'key-of-the-askers'
const askers = 4
const distinct = 5_000

export const run = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-bench-'))
  const provider = await startProvider({ delayMs: 20 })
  const { config } = load({
    values: {
      admit: { perDay: 'unlimited' },
      intel: { service: { apiKey: 'key-of-the-bench', concurrency: 8 } },
      serve: { upstream: provider.url, apiKey, state: join(folder, 'state') },
    },
    env: {},
    readFile: () => '',
  })
  const gateway = await openServer(config, { env: {}, socket: join(folder, 'gateway.sock') }, 'bench')
  try {
    const began = performance.now()
    const share = distinct / askers
    const known = await Promise.all(
      Array.from({ length: askers }, (_, n) =>
        ask({ baseUrl: gateway.url, apiKey, from: n * share, to: (n + 1) * share }),
      ),
    )
    const seconds = (performance.now() - began) / 1000
    const { calls, mostInFlight, meanInFlight } = await provider.asked()
    console.log('| askers | addresses | known | calls | seconds | most in flight | in flight on average |')
    console.log('|---|---|---|---|---|---|---|')
    console.log(
      `| ${askers} | ${distinct} | ${known.reduce((a, b) => a + b)} | ${calls} | ${seconds.toFixed(1)} | ${mostInFlight} | ${meanInFlight.toFixed(2)} |`,
    )
  } finally {
    await gateway.close()
    await provider.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const ask = (share) =>
  new Promise((resolve) => {
    const child = fork(fileURLToPath(new URL('asker.mjs', import.meta.url)), [JSON.stringify(share)])
    child.once('message', ({ known }) => resolve(known))
  })
