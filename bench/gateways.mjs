// Two gateways and one client: measures the cost of a question for the calling gateway, a passing one, and one with a cached answer.
import { bundledProfile } from '../dist/app/open-profile.js'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../dist/base/clock.js'
import { createBulkLookup } from '../dist/bulk/bulk-lookup.js'
import { startBroker } from '../dist/parts/demo/broker.js'
import { createClient, clientLimits } from '../dist/provider/client.js'
import { usualAddressChoices, usualNameChoices } from '../dist/domain/operation-choice.js'
import { startProvider } from './kafka-stage.mjs'

const oneCallEach = {
  ip: { operations: { ...usualAddressChoices, suspicious_info: 'never' } },
  domain: { maxAgeDays: 90, operations: usualNameChoices },
}

const apiKey = 'key-of-the-askers'
const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const count = 20_000
const addressOf = (n) => `45.${1 + (n >> 12)}.${1 + ((n >> 6) & 63)}.${1 + (n & 63)}`

export const run = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'threatweave-bench-'))
  const broker = await startBroker({ env: process.env, say: () => undefined })
  if ('missing' in broker) throw new Error(broker.missing)
  const provider = await startProvider({ delayMs: 0 })
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    THREATWEAVE_KAFKA_BROKERS: broker.plain,
    THREATWEAVE_KAFKA_VERDICTS_TOPIC: `verdicts-${process.pid}`,
    THREATWEAVE_KAFKA_GATEWAYS_TOPIC: `gateways-${process.pid}`,
    THREATWEAVE_KAFKA_INPUT_TOPICS: 'events',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'annotated',
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'dead',
    THREATWEAVE_INTEL_SERVICE_API_KEY: 'key-of-the-bench',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: provider.url,
    THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
    THREATWEAVE_INTEL_SERVICE_CONCURRENCY: '64',
    THREATWEAVE_SERVE_API_KEY: apiKey,
    THREATWEAVE_SERVE_OPS_PORT: '0',
    THREATWEAVE_LOG_FORMAT: 'json',
  }
  spawnSync(process.execPath, [cli, 'check', '--online', '--create-topics'], { env })
  const gateways = []
  try {
    // Started in sequence, so that the first one becomes the caller.
    for (const nth of [0, 1]) gateways.push(await startGateway(nth, { env, folder, upstream: provider.url }))
    const [calling, other] = gateways
    console.log(
      '| questions | gateway | questions/s | CPU a question, this gateway | CPU a question, the one that calls |',
    )
    console.log('|---|---|---|---|---|')
    await measure('new, asked by it', calling, calling, 0)
    await measure('new, passed on', other, calling, count)
    await measure('known from the topic', other, calling, 0)
  } finally {
    for (const { child } of gateways) child.kill('SIGKILL')
    await provider.stop()
    await broker.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const startGateway = (nth, { env, folder, upstream }) =>
  new Promise((resolve) => {
    const port = 28_000 + (process.pid % 2_000) * 2 + nth
    const child = spawn(process.execPath, [cli, 'serve', '--upstream', upstream], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...env, THREATWEAVE_SERVE_PORT: String(port), THREATWEAVE_SERVE_STATE: join(folder, `state-${nth}`) },
    })
    child.stderr.on('data', (data) => {
      if (/"event":"(?:calling_began|caller_known)"/.test(data))
        resolve({ child, name: nth === 0 ? 'calls' : 'stands ready', url: `http://127.0.0.1:${port}` })
    })
  })

/** User and system time in milliseconds, on Linux. */
const cpuMs = ({ child }) => {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

const measure = async (what, asked, calling, from) => {
  const client = createClient(
    {
      ...clientLimits,
      baseUrl: asked.url,
      apiKey,
      profile: bundledProfile(),
      concurrency: 2,
      allowHttp: false,
    },
    { env: {}, now: Date.now },
  )
  const bulk = createBulkLookup({
    isOffered: () => true,
    connect: () => client.bulk.connect(oneCallEach),
    takes: () => true,
    hidePeer: (name) => name,
    maxOpen: 60_000,
    giveUpMs: 60_000,
    clock: systemClock,
    emit: () => undefined,
  })
  await bulk.open()
  const before = [cpuMs(asked), cpuMs(calling)]
  const began = performance.now()
  const ask = { role: 'destination', action: 'allowed', evidence: 'field' }
  let known = 0
  // At most as many at once as the queue of a gateway takes.
  for (let first = from; first < from + count; first += 5_000) {
    const found = await Promise.all(
      Array.from({ length: 5_000 }, (_, n) => bulk.ask({ type: 'ip', value: addressOf(first + n) }, ask)),
    )
    known += found.filter(({ status }) => status === 'known').length
  }
  const seconds = (performance.now() - began) / 1000
  const [here, there] = [cpuMs(asked) - before[0], cpuMs(calling) - before[1]]
  if (known !== count) throw new Error(`${known} of ${count} are known`)
  const each = (ms) => `${((1000 * ms) / count).toFixed(0)} µs`
  console.log(`| ${what} | ${asked.name} | ${Math.round(count / seconds)} | ${each(here)} | ${each(there)} |`)
  bulk.close()
  await client.close()
}
