// Attacks a gateway that has two keys and a slow provider, and measures the other key's latency and share of calls.
import { createHash } from 'node:crypto'
import { fork, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bundledProfile } from '../dist/app/open-profile.js'
import { systemClock } from '../dist/base/clock.js'
import { createBulkLookup } from '../dist/bulk/bulk-lookup.js'
import { usualAddressChoices, usualNameChoices } from '../dist/domain/operation-choice.js'
import { writeBulkSettings } from '../dist/bulk/protocol.js'
import { createClient, clientLimits } from '../dist/provider/client.js'
import { startProvider } from './kafka-stage.mjs'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const keys = { b: 'The-key-of-b-0123456789', c: 'The-key-of-c-0123456789' }
const providerMs = 50
const concurrency = 8
const probes = 200
const mostMs = 250

export const run = async () => {
  console.log(
    `provider ${providerMs} ms, ${concurrency} calls in flight; milliseconds that key c waits, at the median and p99`,
  )
  console.log(
    '| attack by key b | connections | /healthz | known, HTTP | new, in bulk | share of calls for 400 new | |',
  )
  console.log('|---|---|---|---|---|---|---|')
  for (const [kind, connections] of [
    ['none', 0],
    ['again', 1],
    ['again', 50],
    ['questions', 1],
    ['questions', 50],
    ['open', 1],
    ['open', 50],
  ])
    await attack(kind, connections)
  await budget()
}

const attack = async (kind, connections) => {
  const stage = await start({})
  const attacker =
    connections > 0
      ? await startAttacker({
          kind,
          port: stage.port,
          apiKey: keys.b,
          connections,
          settings: writeBulkSettings(oneCallEach),
        })
      : undefined
  try {
    // The attack's first questions are in the queue now.
    await sleep(2_000)
    const known = `${stage.url}/v1/ip/malicious-info?ip=46.1.1.1`
    const headers = { 'x-api-key': keys.c }
    await (await fetch(known, { headers })).text()
    const bulk = await openBulk(stage.url, keys.c)
    let asked = 0
    const ask = () => bulk.ask({ type: 'ip', value: `46.2.${asked >> 8}.${asked++ & 255}` }, outbound)
    const healthMs = await probe(() => fetch(stage.healthz).then((answer) => answer.text()))
    const knownMs = await probe(() => fetch(known, { headers }).then((answer) => answer.text()))
    const newMs = await probe(ask)
    const before = (await stage.provider.asked()).calls
    const found = await Promise.all(Array.from({ length: 400 }, ask))
    const calls = (await stage.provider.asked()).calls - before
    bulk.close()
    const share = found.filter(({ status }) => status === 'known').length / calls
    const isFair = share >= (kind === 'none' ? 0.95 : 0.45)
    const isFast = [healthMs, knownMs, newMs].every(({ p99 }) => p99 < mostMs)
    const text = ({ p50, p99 }) => `${p50.toFixed(0)} / ${p99.toFixed(0)}`
    console.log(
      `| ${kind} | ${connections} | ${text(healthMs)} | ${text(knownMs)} | ${text(newMs)} | ${(100 * share).toFixed(0)} % | ${isFair && isFast ? 'holds' : 'FAILS'} |`,
    )
    if (!isFair || !isFast) process.exitCode = 1
  } finally {
    attacker?.kill('SIGKILL')
    await stage.stop()
  }
}

/** One peer asks about 300 names and 59 others about one address each: counts each one's share of 60 calls. */
const budget = async () => {
  const stage = await start({ THREATWEAVE_ADMIT_PER_HOUR: '60', THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '1' })
  try {
    const bulk = await openBulk(stage.url, keys.c)
    const varied = Array.from({ length: 300 }, (_, n) =>
      bulk.ask({ type: 'domain', value: `name-${n}.com` }, { ...outbound, role: 'query', peer: 'client' }),
    )
    const genuine = Array.from({ length: 59 }, (_, n) =>
      bulk.ask({ type: 'ip', value: `46.3.0.${n}` }, { ...outbound, role: 'source', peer: `46.${n}.0.1` }),
    )
    const spent = new Set(['budget_spent', 'no_credit'])
    const count = (found) => found.filter(({ reason }) => !spent.has(reason)).length
    const [varying, others] = [count(await Promise.all(varied)), count(await Promise.all(genuine))]
    bulk.close()
    const { calls } = await stage.provider.asked()
    console.log(
      `\nbudget of 60 an hour: ${calls} calls, answered ${others} of 59 genuine sources, ${varying} of 300 names of one peer`,
    )
    if (others < 50) process.exitCode = 1
  } finally {
    await stage.stop()
  }
}

const oneCallEach = {
  ip: { operations: { ...usualAddressChoices, suspicious_info: 'never' } },
  domain: { maxAgeDays: 90, operations: usualNameChoices },
}

const outbound = { role: 'destination', action: 'allowed', evidence: 'field' }

const start = async (settings) => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-bench-'))
  const provider = await startProvider({ delayMs: providerMs })
  const hashOf = (key) =>
    `sha256:${'0'.repeat(16)}:${createHash('sha256')
      .update(`${'0'.repeat(16)}:${key}`)
      .digest('hex')}`
  const entries = Object.entries(keys).map(([name, key]) => ({ name, hash: hashOf(key), plan: { inFlight: 100_000 } }))
  writeFileSync(join(folder, 'keys.json'), JSON.stringify({ keys: entries }))
  const port = 28_000 + Math.floor(Math.random() * 4_000)
  const child = spawn(process.execPath, [here('../dist/cli.js'), 'serve', '--upstream', provider.url], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      THREATWEAVE_LOG_FORMAT: 'json',
      THREATWEAVE_LOG_LEVEL: 'info',
      THREATWEAVE_OPS_ENABLED: 'true',
      THREATWEAVE_SERVE_OPS_PORT: '0',
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'key-of-the-bench',
      THREATWEAVE_INTEL_SERVICE_CONCURRENCY: String(concurrency),
      THREATWEAVE_ADMIT_PER_DAY: '1000000',
      THREATWEAVE_SERVE_PORT: String(port),
      THREATWEAVE_SERVE_KEYS_FILE: join(folder, 'keys.json'),
      THREATWEAVE_SERVE_STATE: join(folder, 'state'),
      ...settings,
    },
  })
  let log = ''
  const opsUrl = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(log)))
    child.stderr.setEncoding('utf8').on('data', (text) => {
      log = (log + text).slice(-10_000)
      const told = /"event":"ops_listening"[^\n]*"url":"([^"]+)"/.exec(log)
      if (told) resolve(told[1])
    })
  })
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    const answer = await fetch(`${url}/openapi.json`).catch(() => undefined)
    await answer?.text()
    if (answer?.ok) break
    await sleep(50)
  }
  return {
    url,
    port,
    healthz: `${opsUrl}/healthz`,
    provider,
    stop: async () => {
      child.removeAllListeners('exit').kill('SIGKILL')
      await provider.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

const startAttacker = (how) =>
  new Promise((resolve) => {
    const child = fork(here('attacker.mjs'), [JSON.stringify(how)])
    child.once('message', () => resolve(child))
  })

const openBulk = async (baseUrl, apiKey) => {
  const client = createClient(
    { ...clientLimits, baseUrl, apiKey, profile: bundledProfile(), concurrency: 2, allowHttp: false },
    { env: {}, now: Date.now },
  )
  const bulk = createBulkLookup({
    isOffered: () => true,
    connect: () => client.bulk.connect(oneCallEach),
    takes: () => true,
    hidePeer: (name) => name,
    maxOpen: 10_000,
    giveUpMs: 60_000,
    clock: systemClock,
    emit: () => undefined,
  })
  await bulk.open()
  if (bulk.state() === undefined) throw new Error('the gateway takes no bulk connection')
  return bulk
}

/** Sends the requests one after the other. */
const probe = async (once) => {
  const tookMs = []
  for (let nth = 0; nth < probes; nth++) {
    const began = performance.now()
    await once()
    tookMs.push(performance.now() - began)
  }
  tookMs.sort((one, other) => one - other)
  return { p50: tookMs[probes >> 1], p99: tookMs[Math.floor(probes * 0.99)] }
}
