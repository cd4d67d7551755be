// Several gateways as processes on the shared broker, and a client that uses any that answers.
import { bundledProfile } from '../../src/app/open-profile.js'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inject } from 'vitest'
import { systemClock } from '../../src/base/clock.js'
import { createBulkLookup } from '../../src/bulk/bulk-lookup.js'
import type { Finding } from '../../src/domain/finding.js'
import type { Indicator } from '../../src/domain/indicator.js'
import { createClient } from '../../src/provider/client.js'
import { oneOfSeveral } from '../../src/provider/one-of-several.js'
import { ignoreTelemetry } from '../../src/telemetry/event.js'
import { cliPath } from './cli.js'
import { limitsEnv } from './limits.js'
import { runLoaded } from './loaded-program.js'
import { oneCallEach } from './operation-choices.js'

export const callerKey = 'The-key-of-those-who-ask-123456'
/** Limits without a setting: long enough for a busy machine, short enough that a takeover takes less than a minute. */
const limits = {
  admission: { callTimeoutMs: 8_000 },
  client: { connectTimeoutMs: 2_000, headersTimeoutMs: 4_000, bodyTimeoutMs: 2_000 },
}
export const sessionMs = 6_000

export type GatewayEvent = { readonly event: string; readonly time?: number } & Readonly<Record<string, unknown>>

export type GatewayProcess = {
  readonly url: string
  readonly opsUrl: Promise<string>
  readonly pid: number
  readonly events: readonly GatewayEvent[]
  readonly isCalling: () => boolean
  readonly kill: (signal: NodeJS.Signals) => void
  readonly exit: Promise<number | null>
}

export type Fleet = {
  readonly topics: { readonly gateways: string; readonly verdicts: string }
  /** Starts another gateway, or the same one with an empty disk. */
  readonly start: (nth: number) => GatewayProcess
  readonly urls: readonly string[]
  readonly close: () => Promise<void>
}

export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

/** Creates the topics as documented. */
export const openFleet = async (
  size: number,
  upstream: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Fleet> => {
  const id = randomUUID().slice(0, 8)
  const topics = { gateways: `gateways-${id}`, verdicts: `verdicts-${id}` }
  const brokers = inject('broker').plain
  const kafka = {
    THREATWEAVE_KAFKA_BROKERS: brokers,
    THREATWEAVE_KAFKA_VERDICTS_TOPIC: topics.verdicts,
    THREATWEAVE_KAFKA_GATEWAYS_TOPIC: topics.gateways,
    THREATWEAVE_KAFKA_VERDICTS_KEY: 'a key that nobody else has, of 40 letters',
  }
  const { stdout } = await runLoaded(['check', '--online', '--create-topics'], {
    env: {
      ...kafka,
      THREATWEAVE_KAFKA_INPUT_TOPICS: `in-${id}`,
      THREATWEAVE_KAFKA_OUTPUT_TOPIC: `out-${id}`,
      THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: `dead-${id}`,
      THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
    },
  })
  for (const topic of Object.values(topics))
    if (!stdout.includes(`Topic ${topic} was created.`)) throw new Error(`${topic} was not created: ${stdout}`)
  const ports = await Promise.all(Array.from({ length: size }, freePort))
  const urls = ports.map((port) => `http://127.0.0.1:${port}`)
  const running = new Set<GatewayProcess>()
  const start = (nth: number): GatewayProcess => {
    const child = spawn(process.execPath, [cliPath, 'serve', '--upstream', upstream], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        PATH: process.env.PATH,
        ...limitsEnv(limits),
        ...kafka,
        THREATWEAVE_GATE_DOCUMENTATION: 'true',
        THREATWEAVE_LOG_LEVEL: 'info',
        THREATWEAVE_LOG_FORMAT: 'json',
        THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
        THREATWEAVE_OPS_ENABLED: 'true',
        THREATWEAVE_SERVE_OPS_PORT: '0',
        THREATWEAVE_SERVE_PORT: String(ports[nth]),
        THREATWEAVE_SERVE_API_KEY: callerKey,
        THREATWEAVE_SERVE_STATE: mkdtempSync(join(tmpdir(), 'threatweave-fleet-')),
        THREATWEAVE_SERVE_SESSION_TIMEOUT_MS: String(sessionMs),
        THREATWEAVE_INTEL_SERVICE_API_KEY: 'sample-key',
        ...env,
      },
    })
    const events: GatewayEvent[] = []
    let rest = ''
    let found: (url: string) => void = () => undefined
    const opsUrl = new Promise<string>((resolved) => {
      found = resolved
    })
    child.stderr.setEncoding('utf8').on('data', (part: string) => {
      const lines = (rest + part).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event: GatewayEvent = line.startsWith('{') ? (JSON.parse(line) as GatewayEvent) : { event: line }
        events.push({ ...event, seenAt: Date.now() })
        if (event.event === 'ops_listening') found(String(event.url))
        if (process.env.THREATWEAVE_TEST_LOG !== undefined) process.stderr.write(`${nth} ${line}\n`)
      }
    })
    const gateway: GatewayProcess = {
      url: urls[nth] ?? '',
      opsUrl,
      pid: child.pid ?? 0,
      events,
      isCalling: () =>
        child.exitCode === null &&
        child.signalCode === null &&
        events.filter(({ event }) => event === 'calling_began' || event === 'calling_ended').at(-1)?.event ===
          'calling_began',
      kill: (signal) => child.kill(signal),
      exit: new Promise((done) => child.once('exit', done)),
    }
    running.add(gateway)
    void gateway.exit.then(() => running.delete(gateway))
    return gateway
  }
  return {
    topics,
    start,
    urls,
    close: async () => {
      const all = [...running]
      for (const gateway of all) gateway.kill('SIGKILL')
      await Promise.all(all.map(({ exit }) => exit))
    },
  }
}

export const theCaller = async (gateways: readonly GatewayProcess[]): Promise<GatewayProcess> => {
  for (;;) {
    const caller = gateways.find((gateway) => gateway.isCalling())
    if (caller) return caller
    await sleep(20)
  }
}

export type Asker = {
  /** Retries until there is an answer. */
  readonly ask: (ip: string) => Promise<Finding>
  readonly close: () => void
}

/** Uses one bulk connection like a worker, to any gateway that answers. */
export const openAsker = (urls: readonly string[], first = 0): Asker => {
  const clients = urls.map((baseUrl) =>
    createClient(
      {
        baseUrl,
        apiKey: callerKey,
        profile: bundledProfile(),
        concurrency: 2,
        allowHttp: false,
        connectTimeoutMs: 5_000,
        headersTimeoutMs: 15_000,
        bodyTimeoutMs: 15_000,
        maxAnswerBytes: 1_048_576,
        maxAnswerDepth: 32,
      },
      { env: {}, now: Date.now },
    ),
  )
  const [one, ...others] = clients
  if (!one) throw new Error('there is nobody to ask')
  const client = oneOfSeveral([one, ...others], () => first / urls.length)
  const bulk = createBulkLookup({
    isOffered: client.bulk.isOffered,
    connect: () => client.bulk.connect(oneCallEach),
    isOneOfSeveral: client.bulk.isOneOfSeveral,
    takes: () => true,
    hidePeer: (name) => name,
    maxOpen: 60_000,
    giveUpMs: 30_000,
    againAfterMs: 100,
    clock: systemClock,
    emit: ignoreTelemetry,
  })
  let isClosed = false
  return {
    ask: async (value) => {
      const indicator: Indicator = { type: 'ip', value }
      for (;;) {
        await bulk.open()
        const finding = await bulk.ask(indicator, { role: 'destination', action: 'allowed', evidence: 'field' })
        if (isClosed || finding?.status === 'known') return finding ?? { status: 'unknown', reason: 'pending' }
        if (finding?.status === 'unknown' && finding.reason === 'budget_spent') return finding
        if (finding?.status === 'unknown' && finding.reason === 'no_credit') return finding
        await sleep(100)
      }
    },
    close: () => {
      isClosed = true
      bulk.close()
      void client.close()
    },
  }
}
