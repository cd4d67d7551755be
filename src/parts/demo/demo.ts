// The `demo` command: annotates sample firewall logs with a local broker and lookup server, then cleans up.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAlerting } from '../../app/open-alerting.js'
import { openApp, type App } from '../../app/open-app.js'
import type { Alerts } from '../../alerts/open-alerts.js'
import { withScope, type Scope } from '../../base/scope.js'
import { bundledProfile } from '../../app/open-profile.js'
import { serveSettingsOf } from '../../app/open-server.js'
import { packageFolder } from '../../base/package-folder.js'
import { accepted } from '../../config/load-config.js'
import type { Config } from '../../config/schema.js'
import { startBroker, type Broker } from './broker.js'
import { openSlowLink } from './slow-link.js'
import { allOf, eventsIn } from '../../pipeline/pipeline.js'
import { createAnswerReader } from '../../provider/answer-reader.js'
import { startServer } from '../../server/start-server.js'
import { exitCodes, type Command, type Io } from '../../terminal/command.js'
import { listBefore, showRaised } from './acts.js'
import { configOf, overKafka } from './over-kafka.js'
import { showSummary } from './show-summary.js'
import type { Event } from './watch-topics.js'

export const demo: Command = {
  summary: 'show alerts from sample firewall logs on this machine, with a real broker and a lookup server',
  help: `Usage: threatweave demo [--keep | --no-kafka]

Starts a Kafka broker (KAFKA_BROKERS if set, else Docker, else Java and Maven), a lookup server with sample data, and
\`threatweave run\` between two topics. Sends sample firewall logs through it and shows an alert, then a verdict that comes
late (a correction and an alert), then an alert about the past after a list has changed. At the end it stops and removes
everything. Without a broker it says what is missing and runs the same pipeline over standard input, with the first
alert alone. On the brokers of KAFKA_BROKERS it uses topics of its own and deletes them. KAFKA_VERSION chooses another release
of Kafka.

      --keep       leave it running until Ctrl-C, for the status page, tail, explain and history
      --no-kafka   do not start a broker
`,
  options: { keep: { type: 'boolean' }, 'no-kafka': { type: 'boolean' } },
  uselessBeside: { 'no-kafka': ['keep'] },
  run: async (args, io) => {
    const say = (text: string): void => void io.stdout.write(`${text}\n`)
    const lines = [
      ...readFileSync(join(packageFolder, 'examples/logs/firewall.log'), 'utf8').trimEnd().split('\n'),
      ...queries.map(queryLine),
    ]
    const key = randomBytes(24).toString('hex')
    let calls = 0
    const callsMade = (): number => calls
    const show = async (scope: Scope): Promise<void> => {
      const folder = mkdtempSync(join(tmpdir(), 'threatweave-demo-'))
      scope.defer(() => rmSync(folder, { recursive: true, force: true }))
      const service = scope.use(await startLookupService(folder, key, () => calls++))
      const link = scope.use(await openSlowLink(service.url))
      const list = join(folder, 'watch-list.csv')
      writeFileSync(list, listBefore)
      say(`Lookup server at ${link.url}, with invented data (examples/intel).`)
      const env = demoEnvironment(io, { folder, list, url: link.url, key })
      const found: Broker | { readonly missing: string } =
        args.values['no-kafka'] === true
          ? { missing: 'No broker, because of --no-kafka' }
          : await startBroker({ env: io.env, stderr: io.stderr })
      if ('missing' in found) {
        say(`${found.missing}.\nRunning the same pipeline over standard input.\n`)
        await overStandardInput(configOf(env), lines, io, callsMade)
      } else {
        scope.defer(found.stop)
        const isKept = args.values.keep === true
        await overKafka(
          { env, brokers: found.plain, areShared: found.how === 'environment', lines, link, list, callsMade, isKept },
          io,
        )
      }
    }
    await withScope(show).catch((error: unknown) => {
      if (!io.signal.aborted) throw error
    })
    return exitCodes.ok
  },
}

/** The sample intelligence has one clean and one suspicious name. */
const queries = ['www.example.com', 'ads.example.net'] as const
const queryLine = (name: string, place: number): string =>
  `[INFO] 10.0.0.9${place}:42114 - 6482${place} "A IN ${name}. udp 57 false 1232" NOERROR qr,aa,rd 66 0.000150566s`

const startLookupService = (folder: string, apiKey: string, called: () => void): ReturnType<typeof startServer> => {
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
        if (event.event === 'operation_answered') called()
      },
    },
  )
}

/** Enables lookups of documentation addresses, because the sample logs use them. */
const demoEnvironment = (
  io: Io,
  {
    folder,
    list,
    url,
    key,
  }: { readonly folder: string; readonly list: string; readonly url: string; readonly key: string },
): Record<string, string> => {
  const suspicious = join(folder, 'suspicious.txt')
  const table = join(folder, 'judgement.yaml')
  writeFileSync(suspicious, 'ads.example.net\n')
  // The sample reports are old, so disable the age limit.
  writeFileSync(table, 'maxAgeDays: 100000\n')
  return {
    PATH: io.env.PATH ?? '',
    THREATWEAVE_GATE_DOCUMENTATION: 'true',
    // The range of our own servers in the sample logs.
    THREATWEAVE_GATE_OWN_RANGES: '192.0.2.0/24',
    THREATWEAVE_ADMIT_PER_DAY: 'unlimited',
    // The summary needs full annotations.
    THREATWEAVE_OUTPUT_DETAIL: 'full',
    THREATWEAVE_INTEL_SERVICE_BASE_URL: url,
    THREATWEAVE_INTEL_SERVICE_API_KEY: key,
    THREATWEAVE_MEMORY_PATH: join(folder, 'memory'),
    THREATWEAVE_INTEL_TABLE: table,
    THREATWEAVE_FEEDS: JSON.stringify([
      { name: 'sample-names', path: join(packageFolder, 'examples/feeds/sample-names.txt') },
      { name: 'sample-suspicious', path: suspicious, level: 'suspicious' },
      { name: 'watch-list', path: list },
    ]),
    THREATWEAVE_OPS_PORT: '0',
    THREATWEAVE_LOG_LEVEL: 'warn',
  }
}

const overStandardInput = async (
  config: Config,
  lines: readonly string[],
  io: Io,
  callsMade: () => number,
): Promise<void> => {
  await withScope(async (scope) => {
    const app = scope.use(accepted<App>(await openApp(config, { mode: 'complete', env: io.env })))
    const rules = scope.use(accepted<Alerts>(await openAlerting(config, { files: app.files })))
    const out = await allOf(
      app.pipeline,
      lines.map((line, place) => ({ bytes: Buffer.from(line), origin: `firewall.log:${place + 1}` })),
    )
    showRaised(rules.raise(eventsIn(out)), io)
    const events = out.map((one) => JSON.parse(one.bytes().toString()) as Event)
    showSummary({ events, corrected: 0, calls: callsMade() }, io)
  })
}
