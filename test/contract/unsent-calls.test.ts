// Promise: a call of which not a byte was written costs nothing, wherever costs are shown.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openApp, type App } from '../../src/app/open-app.js'
import { load } from '../../src/config/load.js'
import { createMetrics } from '../../src/telemetry/metrics.js'
import { allOf } from '../../src/pipeline/pipeline.js'
import { createCounters } from '../../src/telemetry/counters.js'
import { limitsWith } from '../support/limits.js'

let folder: string
let app: App | undefined
const servers: Server[] = []
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'unsent-'))))
afterEach(async () => {
  await app?.close()
  app = undefined
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done))
  rmSync(folder, { recursive: true, force: true })
})

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  servers.push(server)
  return (server.address() as AddressInfo).port
}
const refusing = async (): Promise<string> => {
  const server = createServer()
  const port = await portOf(server)
  await new Promise((done) => servers.splice(0)[0]!.close(done))
  return `http://127.0.0.1:${port}`
}
const untrusted = async (): Promise<string> => {
  const read = (name: string): Buffer => readFileSync(resolve(import.meta.dirname, '../fixtures/tls', name))
  return `https://127.0.0.1:${await portOf(createTlsServer({ cert: read('server.pem'), key: read('server.key') }))}`
}
/** Reads what it is asked, and hangs up. */
const hangingUp = async (): Promise<string> =>
  `http://127.0.0.1:${await portOf(createServer((socket) => socket.once('data', () => socket.destroy())))}`

const calls = 4
const spendingAt = async (baseUrl: string) => {
  const loaded = load({
    values: {
      memory: { path: folder },
      gate: { documentation: true },
      admit: { perHour: 2, perDay: 2 },
      intel: { service: { apiKey: 'sample-key', baseUrl } },
    },
    env: {},
    readFile: () => '',
  })
  if ('problems' in loaded) throw new Error(JSON.stringify(loaded.problems))
  const counters = createCounters([])
  const opened = await openApp(loaded.config, {
    mode: 'complete',
    env: {},
    emit: counters.emit,
    limits: limitsWith({ admission: { breakerFailures: 100 }, retry: { times: 0 } }),
  })
  if ('problems' in opened) throw new Error(JSON.stringify(opened.problems))
  app = opened
  const { admission } = opened
  const reasons = new Set<string | undefined>()
  for (let nth = 0; nth < calls; nth++)
    for (const { judged } of await allOf(opened.pipeline, [
      { bytes: Buffer.from(`{"dst_ip":"198.51.100.${nth}"}`), origin: `a/0/${nth}` },
    ]))
      for (const { verdict } of judged) reasons.add(verdict.reason)
  const { spent } = admission!.state()
  const metrics = await createMetrics({
    counts: counters.read,
    provider: admission!.state,
    allowed: { hour: 2, day: 2 },
    version: 'x',
  }).text()
  return {
    spent,
    reasons: [...reasons],
    ledger: /"count":(\d+)/.exec(readFileSync(join(folder, 'spent'), 'utf8'))?.[1],
    metric: /^threatweave_credits_total (\d+)$/m.exec(metrics)?.[1],
  }
}

it.each<[string, () => Promise<string>]>([
  ['a refused connection', refusing],
  ['a name that does not resolve', () => Promise.resolve('https://nowhere.invalid')],
  ['a certificate that is not trusted', untrusted],
])('%s is refunded to the budget and shown nowhere as a credit', async (_title, address) => {
  expect(await spendingAt(await address())).toEqual({
    spent: { hour: 0, day: 0, run: 0 },
    reasons: ['unavailable'],
    ledger: '0',
    metric: '0',
  })
})

it('a call that was written is charged, whatever became of it', async () => {
  expect(await spendingAt(await hangingUp())).toEqual({
    spent: { hour: 2, day: 2, run: 2 },
    reasons: ['unavailable', 'budget_spent'],
    ledger: '2',
    metric: '2',
  })
})
