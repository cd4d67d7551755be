// The `demo` command: annotates sample firewall logs with a local broker and lookup server, then cleans up.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openApp, openReader } from '../../app/open-app.js'
import type { Config } from '../../config/schema.js'
import { startBroker, type Broker } from '../../demo/broker.js'
import { keyOf } from '../../domain/indicator.js'
import { allOf } from '../../pipeline/pipeline.js'
import { bundledProfile } from '../../app/open-profile.js'
import { createAnswerReader } from '../../provider/answer-reader.js'
import { startServer } from '../../server/start-server.js'
import { exitCodes, type Command, type Io } from '../../terminal/command.js'
import { serveSettingsOf } from '../../app/open-server.js'
import { accepted } from '../../config/load-config.js'
import { packageFolder } from '../../base/package-folder.js'
import { configOf, overKafka, rounds } from './over-kafka.js'
import { showEvents } from './show-events.js'

export const demo: Command = {
  summary: 'annotate sample firewall logs on this machine, with a real broker and a lookup server',
  help: `Usage: threatweave demo [--keep | --no-kafka]

Starts a Kafka broker (KAFKA_BROKERS if set, else Docker, else Java and Maven), a lookup server with sample data, and
\`threatweave run\` between two topics. Sends sample firewall logs through it and shows an event of every verdict, an alert and
the address of the status page, then stops and removes everything. Without a broker it says what is missing and runs the
same pipeline over standard input. KAFKA_VERSION chooses another release of Kafka.

      --keep       leave it running until Ctrl-C, for the status page, tail and explain
      --no-kafka   do not start a broker
`,
  options: { keep: { type: 'boolean' }, 'no-kafka': { type: 'boolean' } },
  uselessBeside: { 'no-kafka': ['keep'] },
  run: async (args, io) => {
    const folder = mkdtempSync(join(tmpdir(), 'threatweave-demo-'))
    const say = (text: string): void => void io.stdout.write(`${text}\n`)
    const lines = [
      ...readFileSync(join(packageFolder, 'examples/logs/firewall.log'), 'utf8').trimEnd().split('\n'),
      ...queries.map(queryLine),
    ]
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
          : await startBroker({ env: io.env, stderr: io.stderr })
      if ('missing' in found) {
        say(`${found.missing}.\nRunning the same pipeline over standard input:\n`)
        await overStandardInput(configOf(env), lines, io)
      } else {
        broker = found
        factor = rounds
        await overKafka({ ...env, THREATWEAVE_KAFKA_BROKERS: broker.plain }, lines, io, args.values.keep === true)
      }
      if (io.signal.aborted) return exitCodes.ok
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

/** Names that the sample intelligence knows as clean and as suspicious. */
const queries = ['www.example.com', 'ads.example.net'] as const
const queryLine = (name: string, place: number): string =>
  `[INFO] 10.0.0.9${place}:42114 - 6482${place} "A IN ${name}. udp 57 false 1232" NOERROR qr,aa,rd 66 0.000150566s`

const startLookupService = (
  folder: string,
  apiKey: string,
  calls: { made: number },
): ReturnType<typeof startServer> => {
  const { serve, feeds } = configOf({
    THREATWEAVE_FEEDS: JSON.stringify([
      { name: 'sample', path: join(packageFolder, 'examples/feeds/sample-feed.csv') },
    ]),
  })
  return startServer(
    {
      ...serveSettingsOf({ serve }),
      port: 0,
      apiKey,
      data: join(packageFolder, 'examples/intel'),
      state: join(folder, 'service'),
    },
    {
      reader: createAnswerReader(bundledProfile()),
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
const demoEnvironment = (io: Io, folder: string, url: string, key: string): Record<string, string> => {
  const suspicious = join(folder, 'suspicious.txt')
  const table = join(folder, 'judgement.yaml')
  writeFileSync(suspicious, 'ads.example.net\n')
  // The sample reports are dated.
  writeFileSync(table, 'maxAgeDays: 100000\n')
  return {
    PATH: io.env.PATH ?? '',
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    // The summary is made from the full annotations.
    THREATWEAVE_OUTPUT_DETAIL: 'full',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: url,
    THREATWEAVE_INTEL_SERVICE_API_KEY: key,
    THREATWEAVE_MEMORY_PATH: join(folder, 'memory'),
    THREATWEAVE_INTEL_TABLE: table,
    THREATWEAVE_FEEDS: JSON.stringify([
      { name: 'sample-names', path: join(packageFolder, 'examples/feeds/sample-names.txt') },
      { name: 'sample-suspicious', path: suspicious, level: 'suspicious' },
    ]),
    THREATWEAVE_KAFKA_INPUT_TOPICS: 'firewall',
    THREATWEAVE_KAFKA_INPUT_START: 'earliest',
    THREATWEAVE_KAFKA_OUTPUT_TOPIC: 'firewall-annotated',
    THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC: 'firewall-dead',
    THREATWEAVE_KAFKA_ALERTS_TOPIC: 'firewall-alerts',
    THREATWEAVE_OPS_PORT: '0',
    THREATWEAVE_LOG_LEVEL: 'warn',
  }
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
    showEvents(
      out.map((one) => one.bytes()),
      io,
    )
  } finally {
    await app.close()
  }
}
