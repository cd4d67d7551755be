// The `demo` command: annotates sample firewall logs with a local broker and lookup server, then cleans up.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openApp, openReader } from '../app/open-app.js'
import { load } from '../config/load.js'
import type { Config } from '../config/schema.js'
import { startBroker, type Broker } from '../demo/broker.js'
import { createTopic, receive, send } from '../demo/traffic.js'
import type { Annotation } from '../domain/annotation.js'
import { keyOf } from '../domain/indicator.js'
import { checkOnline } from '../kafka/check-online.js'
import { allOf } from '../pipeline/pipeline.js'
import { startServer } from '../server/start-server.js'
import { exitCodes, type Command, type Io } from '../terminal/command.js'
import { kafkaSettingsOf } from '../app/limits.js'
import { serveSettingsOf } from '../app/open-server.js'
import { accepted } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import { createProgress } from '../terminal/progress.js'
import { createSummary } from '../terminal/summary.js'
import { printable } from '../terminal/table.js'

const root = resolve(import.meta.dirname, '../..')
const rounds = 100

export const demo: Command = {
  summary: 'annotate sample firewall logs on this machine, with a real broker and a lookup server',
  help: `Usage: threatweave demo [--no-kafka]

Starts a Kafka broker (KAFKA_BROKERS if set, else Docker, else Java and Maven), a lookup server with sample data, and
\`threatweave run\` between two topics. Sends sample firewall logs through it and shows the result, then stops and removes
everything. Without a broker it says what is missing and runs the same pipeline over standard input.

      --no-kafka   do not start a broker
`,
  options: { 'no-kafka': { type: 'boolean' } },
  run: async (args, io) => {
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-demo-'))
    const say = (text: string): void => void io.stdout.write(`${text}\n`)
    const lines = readFileSync(join(root, 'examples/logs/firewall.log'), 'utf8').trimEnd().split('\n')
    const key = randomBytes(24).toString('hex')
    const calls = { made: 0 }
    const service = await startLookupService(folder, key, calls)
    let broker: Broker | undefined
    let factor = 1
    try {
      say(`Lookup server at ${service.url}, with data from examples/intel and examples/feeds.`)
      const env = demoEnvironment(io, folder, service.url, key)
      const found =
        args.values['no-kafka'] === true
          ? { missing: 'No broker, because of --no-kafka' }
          : await startBroker({ env: io.env, say })
      if ('missing' in found) {
        say(`${found.missing}.\nRunning the same pipeline over standard input:\n`)
        await overStandardInput(configOf(env), lines, io)
      } else {
        broker = found
        factor = rounds
        await overKafka({ ...env, THREATWEAVE_KAFKA_BROKERS: broker.plain }, lines, io)
      }
      const { distinct, seen } = countAsked(configOf(env), lines)
      say(
        `\n${seen * factor} sightings of ${distinct} distinct addresses and domains; calls to the lookup server: ${calls.made}`,
      )
      say('(one each, and a second one for addresses that are not clearly clean).')
      return exitCodes.ok
    } finally {
      await broker?.stop()
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

const startLookupService = (
  folder: string,
  apiKey: string,
  calls: { made: number },
): ReturnType<typeof startServer> => {
  const { serve, feeds } = configOf({
    THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample', path: join(root, 'examples/feeds/sample-feed.csv') }]),
  })
  return startServer(
    {
      ...serveSettingsOf({ serve }),
      port: 0,
      apiKey,
      data: join(root, 'examples/intel'),
      state: join(folder, 'service'),
    },
    {
      now: Date.now,
      version: 'demo',
      feeds,
      emit: (event) => {
        if (event.event === 'operation_answered') calls.made++
      },
    },
  )
}

/** The sample logs use documentation addresses, which are normally never looked up. */
const demoEnvironment = (io: Io, folder: string, url: string, key: string): Record<string, string> => ({
  PATH: io.env.PATH ?? '',
  THREATWEAVE_GATE_DOCUMENTATION: 'true',
  // The summary is made from the full annotations.
  THREATWEAVE_OUTPUT_DETAIL: 'full',
  THREATWEAVE_INTEL_SERVICE_BASE_URL: url,
  THREATWEAVE_INTEL_SERVICE_API_KEY: key,
  THREATWEAVE_MEMORY_PATH: join(folder, 'memory'),
  THREATWEAVE_FEEDS: JSON.stringify([{ name: 'sample-names', path: join(root, 'examples/feeds/sample-names.txt') }]),
  THREATWEAVE_KAFKA_INPUT_TOPICS: 'firewall',
  THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'firewall-annotated',
  THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'firewall-dead',
  THREATWEAVE_OPS_PORT: '0',
  THREATWEAVE_LOG_LEVEL: 'warn',
})

const configOf = (env: Record<string, string>): Config => {
  const loaded = load({ env, readFile: (path) => readFileSync(path, 'utf8') })
  if ('problems' in loaded) throw new ConfigurationError(loaded.problems)
  return loaded.config
}

const countAsked = (config: Config, lines: readonly string[]): { distinct: number; seen: number } => {
  const { decode, extract, decide } = accepted(openReader(config))
  const asked = lines.flatMap((line) =>
    extract(decode(Buffer.from(line)))
      .sightings.map(decide)
      .flatMap((decision) => (decision.decision === 'lookup' ? [keyOf(decision.ask)] : [])),
  )
  return { distinct: new Set(asked).size, seen: asked.length }
}

const overStandardInput = async (config: Config, lines: readonly string[], io: Io): Promise<void> => {
  const app = accepted(await openApp(config, { mode: 'complete', env: io.env }))
  try {
    const out = await allOf(
      app.pipeline,
      lines.map((line, place) => ({ bytes: Buffer.from(line), origin: `firewall.log:${place + 1}` })),
    )
    show(
      out.map((one) => one.bytes()),
      io,
    )
  } finally {
    await app.close()
  }
}

const overKafka = async (env: Record<string, string>, lines: readonly string[], io: Io): Promise<void> => {
  const kafka = kafkaSettingsOf(configOf(env))
  await createTopic(kafka, 'firewall', 4)
  const ready = await checkOnline(kafka, true)
  if (!ready.reached) throw new Error(ready.sentence)
  const all = Array.from({ length: rounds }, () => lines).flat()
  const out: Buffer[] = []
  const worker = spawn(process.execPath, [join(root, 'dist/cli.js'), 'run'], {
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const ended = new Promise<number | null>((done) => worker.once('exit', done))
  const stopReading = await receive(kafka, kafka.output.topic, (value) => void out.push(Buffer.from(value)))
  const progress = createProgress(io.stderr, { label: 'annotated', total: all.length })
  try {
    io.stdout.write(
      `Sending ${all.length} sample firewall events to the topic firewall; threatweave run writes to firewall-annotated.\n`,
    )
    const deadline = Date.now() + 120_000
    const untilOut = async (count: number): Promise<void> => {
      while (out.length < count && worker.exitCode === null && !io.signal.aborted) {
        if (Date.now() > deadline)
          throw new Error(`only ${out.length} of ${all.length} events were written in two minutes`)
        progress.update(out.length, `${out.length} of ${all.length} events`)
        await sleep(50)
      }
    }
    // The first events fill the empty memory; the rest use it.
    await send(kafka, 'firewall', all.slice(0, lines.length))
    await untilOut(lines.length)
    await send(kafka, 'firewall', all.slice(lines.length))
    await untilOut(all.length)
  } finally {
    progress.end()
    worker.kill('SIGTERM')
    await Promise.all([ended, stopReading()])
  }
  if (out.length < all.length && !io.signal.aborted)
    throw new Error('threatweave run exited before every event was written')
  show(out, io)
}

/** Shows one event before and after, then a summary. */
const show = (events: readonly Buffer[], io: Io): void => {
  const summary = createSummary()
  const annotated = events.map((bytes) => JSON.parse(bytes.toString()) as { message?: string; threatweave: Annotation })
  const sample = annotated.find(
    ({ message, threatweave }) => message !== undefined && threatweave.verdict === 'malicious',
  )
  if (sample) {
    const { status, verdict, score, value, role, direction, action, summary: why } = sample.threatweave
    io.stdout.write(`\n  before  ${printable(sample.message ?? '').slice(0, 150)}…\n`)
    io.stdout.write(
      `  after   the same plus "threatweave":${JSON.stringify({ status, verdict, score, value, role, direction, action, summary: why })}\n\n`,
    )
  }
  for (const { threatweave } of annotated) summary.see(threatweave)
  io.stdout.write(summary.text(undefined, 12))
}
