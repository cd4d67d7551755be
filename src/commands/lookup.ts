// The `lookup` command: looks up addresses or names through the same layers as the pipeline.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from '../domain/finding.js'
import type { Client } from '../provider/client.js'
import { createStartedScans } from '../provider/started-scans.js'
import { createStepScan } from '../provider/scan.js'
import type { Emit } from '../telemetry/event.js'
import { exitCodes, UsageError, type Io, type Arguments, type Command } from '../terminal/command.js'
import { createProgress } from '../terminal/progress.js'
import { openApp, type App } from '../app/open-app.js'
import type { Config } from '../config/schema.js'
import { parseAddress } from '../domain/address.js'
import { parseHostname } from '../domain/hostname.js'
import type { Indicator } from '../domain/indicator.js'
import { judge, judgeCounting } from '../domain/judge.js'
import type { JudgementTable } from '../domain/judgement-table.js'
import { withScope } from '../base/scope.js'
import type { Lookup } from '../domain/lookup.js'
import { kindOf } from '../domain/reason.js'
import { roles, type Role } from '../domain/sighting.js'
import { createLogger } from '../telemetry/logger.js'
import { reportStop, unlessStopped } from '../terminal/report-stop.js'
import { limits } from '../app/limits.js'
import { loadConfig } from '../app/load-config.js'
import { accepted, configOption } from '../config/load-config.js'
import { readLines } from '../input/read-lines.js'
import { providerClient } from '../app/provider-client.js'
import { renderCard, renderJson } from '../terminal/verdict-card.js'
import { write, writeJson } from '../terminal/write-lines.js'

export const lookup: Command = {
  summary: 'look up addresses or names',
  help: `Usage: threatweave lookup VALUE… [options]
       threatweave lookup ip|domain [VALUE…] [options]

Looks values up in the feeds and, if they are configured, at the lookup service and at other sources (intel.sources). After ip or domain, without VALUE, it
reads one per line from standard input. Private addresses and internal names are not sent. Prints text on a terminal, else one
JSON object per line, in the given order: the verdict, and every feed that lists the value, by which entry and since when.

  -c, --config FILE   the configuration
      --role ROLE     judge as: ${roles.join(', ')} (default: other)
      --json          print JSON on a terminal too
      --scan          domain: let the provider scan it, wait, and show the result; the scan is publicly visible
      --private       with --scan: a scan that only your account can see

Examples:
  threatweave lookup 198.51.100.23 bad.example.com
  cut -d, -f3 connections.csv | threatweave lookup ip --role source > verdicts.ndjson

Exit codes: 0 every value was answered ("not found" included), 1 some were not, 64 wrong usage, 130 or 143 interrupted.
`,
  options: {
    ...configOption,
    role: { type: 'string', takes: roles },
    json: { type: 'boolean' },
    scan: { type: 'boolean' },
    private: { type: 'boolean' },
  },
  takesArguments: [['ip', 'domain'], []],
  run: async (args, io) => {
    const { type, role, given } = readArguments(args)
    const config = loadConfig(args, io)
    const values = given.length > 0 ? given : await readValues(io)
    const isJson = args.values.json === true || io.stdout.isTTY !== true
    const emit = createLogger(io.stderr, { level: 'error', pretty: true, clock: Date.now })
    const judgeBy = config.intel.sources.length > 0 ? judgeCounting : judge
    const progress =
      values.length > 1 && io.stderr.isTTY === true && !(io.stdout.isTTY === true)
        ? createProgress(io.stderr, { label: 'lookup', total: values.length })
        : undefined
    let failures = 0
    let done = 0
    await withScope(async (scope) => {
      const app = scope.use(accepted<App>(await openApp(config, { mode: 'complete', env: io.env, emit })))
      const { table } = app.files
      const client = scope.use(args.values.scan === true ? providerClient(config, io) : undefined)
      const ask = client ? scanning(client, config, table, args, io, app.lookup) : app.lookup
      if (progress) scope.defer(progress.end)
      for await (const { indicator, finding } of inOrder(values, type, role, ask, io.signal)) {
        const verdict = judgeBy(finding, { ...indicator, role }, table, Date.now())
        if (verdict.reason !== undefined && kindOf(verdict.reason) === 'failure') failures++
        const shown = {
          indicator,
          verdict,
          finding,
          geo: app.geo?.of(indicator),
          sources: app.saidBySources(askedFor(app, indicator, role)),
        }
        const text = isJson
          ? renderJson(shown)
          : renderCard(shown, io.env.NO_COLOR === undefined || io.env.NO_COLOR === '')
        await (isJson ? writeJson : write)(io.stdout, text)
        done++
        progress?.update(done, `${done} of ${values.length}`)
      }
    })
    const code = done < values.length ? reportStop(done, io, 'value') : exitCodes.ok
    return code === exitCodes.ok && failures > 0 ? exitCodes.failure : code
  },
}

/** The registrable domain of a name, unless configured otherwise. */
const askedFor = ({ decide }: App, indicator: Indicator, role: Role): Indicator => {
  const decision = decide({ ...indicator, field: '', role, evidence: 'field' })
  return decision.decision === 'lookup' ? decision.ask : indicator
}

type Request = {
  /** Absent: detected from each value. */
  readonly type: 'ip' | 'domain' | undefined
  readonly role: Role
  readonly given: readonly string[]
}

const readArguments = (args: Arguments): Request => {
  const [first, ...rest] = args.positionals
  if (first === undefined) throw new UsageError('write `lookup VALUE`, or `lookup ip` for values on standard input')
  const type = first === 'ip' || first === 'domain' ? first : undefined
  const given = type === undefined ? args.positionals : rest
  const role = roles.find((known) => known === (args.values.role ?? 'other'))
  if (role === undefined) throw new UsageError(`--role must be one of ${roles.join(', ')}`)
  if (args.values.scan === true && type !== 'domain')
    throw new UsageError('--scan is only for domains: write `lookup domain VALUE --scan`')
  if (args.values.private === true && args.values.scan !== true) throw new UsageError('--private needs --scan')
  return { type, role, given }
}

const readValues = async (io: Io): Promise<string[]> => {
  if (io.stdin.isTTY === true) throw new UsageError('give a value, or several on standard input')
  const values: string[] = []
  for await (const lines of readLines([], io.stdin))
    for (const { bytes } of lines) {
      const text = bytes.toString('utf8').trim()
      if (text !== '') values.push(text)
    }
  return values
}

const readIndicator = (text: string, type: Request['type']): Indicator | undefined => {
  const address = type === 'domain' ? undefined : parseAddress(text)
  if (address !== undefined) return { type: 'ip', value: address }
  const name = type === 'ip' ? undefined : parseHostname(text)
  return name === undefined ? undefined : { type: 'domain', value: name }
}

/** The number of concurrent lookups; results keep the input order. */
const ahead = 64
async function* inOrder(
  values: readonly string[],
  type: Request['type'],
  role: Role,
  ask: Lookup,
  signal: AbortSignal,
): AsyncGenerator<{ indicator: Indicator; finding: Finding }> {
  const start = (text: string): { indicator: Indicator; finding: Finding | Promise<Finding> } => {
    const indicator = readIndicator(text, type)
    if (indicator === undefined)
      return {
        indicator: { type: type ?? 'domain', value: text.slice(0, 253) },
        finding: { status: 'unknown', reason: 'bad_input' },
      }
    return { indicator, finding: ask(indicator, { role, action: 'unknown', evidence: 'field' }) }
  }
  const started = values.slice(0, ahead).map(start)
  for (let next = ahead; ; next++) {
    const first = started.shift()
    if (!first) return
    const finding = await unlessStopped(Promise.resolve(first.finding), signal)
    if (finding === undefined || signal.aborted) return
    yield { indicator: first.indicator, finding }
    const more = values[next]
    if (more !== undefined) started.push(start(more))
  }
}

type ScanOptions = {
  readonly visibility: 'public' | 'private'
  readonly folder: string
  readonly pollMs: number
  readonly giveUpMs: number
  readonly againAfterMs: number
  readonly emit: Emit
}

const stepMs = 250

/** Scans a domain at the provider and shows the progress. An interrupted scan continues there; its stored id lets a later call find it. */
const scanDomain = async (name: string, client: Client, options: ScanOptions, io: Io): Promise<Finding> => {
  const progress = createProgress(io.stderr, { label: `scan ${name}`, total: 100 })
  let percent = 0
  const step = createStepScan(
    { client, now: Date.now, emit: options.emit },
    options,
    createStartedScans(options.folder),
    (reached) => {
      percent = reached
    },
  )
  const started = Date.now()
  const stopped = (): boolean => io.signal.aborted
  try {
    for (;;) {
      const finding = await step(name, (send) => send())
      if (finding.status === 'known' || finding.reason !== 'pending') return finding
      if (stopped() || Date.now() - started > options.giveUpMs) return finding
      const until = Date.now() + (finding.retryAfterMs ?? options.pollMs)
      while (Date.now() < until && !stopped()) {
        progress.update(percent, `waiting ${Math.ceil((until - Date.now()) / 1000)}s`)
        await sleep(Math.min(stepMs, Math.max(1, until - Date.now())))
      }
    }
  } finally {
    progress.end()
  }
}

/** One scan at a time, as accounts allow. */
const scanning = (
  client: Client,
  config: Config,
  table: JudgementTable,
  args: Arguments,
  io: Io,
  inner: Lookup,
): Lookup => {
  const { domain } = config.intel
  const emit = createLogger(io.stderr, { level: 'warn', pretty: true, clock: Date.now })
  let turn: Promise<unknown> = Promise.resolve()
  return (indicator, ask) => {
    const mine = turn.then(async (): Promise<Finding> => {
      if (io.signal.aborted) return { status: 'unknown', reason: 'pending' }
      const finding = await scanDomain(
        indicator.value,
        client,
        {
          visibility: args.values.private === true ? 'private' : 'public',
          folder: domain.scanFolder,
          pollMs: limits.scanPollMs,
          giveUpMs: 600_000,
          againAfterMs: table.maxAgeDays * 86_400_000,
          emit,
        },
        io,
      )
      // The reports include a scan that finished earlier.
      return finding.status === 'unknown' && finding.reason === 'not_found' ? inner(indicator, ask) : finding
    })
    turn = mine
    return mine
  }
}
