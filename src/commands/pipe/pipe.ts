// The `pipe` command: annotates events from files or standard input.
import { entriesIn } from '../../domain/entry-counts.js'
import { statSync } from 'node:fs'
import { withScope } from '../../base/scope.js'
import type { Finding } from '../../domain/finding.js'
import { kindOf, type Reason } from '../../domain/reason.js'
import { openApp, type App } from '../../app/open-app.js'
import { feedProblems, placeOf } from '../../feeds/status.js'
import { allOf, eventsIn, outputsOf } from '../../pipeline/pipeline.js'
import { createLogger } from '../../telemetry/logger.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../../terminal/command.js'
import { reportStop, unlessStopped } from '../../terminal/report-stop.js'
import { loadConfig } from '../../app/load-config.js'
import { accepted, configOption } from '../../config/load-config.js'
import { ConfigurationError } from '../../config/problem.js'
import { createProgress } from '../../terminal/progress.js'
import { readLines, withInputErrors } from '../../input/read-lines.js'
import { createSummary } from '../../terminal/summary.js'
import { writeJson } from '../../terminal/write-lines.js'
import { openAlertOutput, type AlertOutput } from './alert-output.js'
import { refuseOverwriting, approval, modeOf, refuseWithoutIntelligence, withArguments } from './pipe-options.js'

export const pipe: Command = {
  summary: 'annotate events from files or standard input, without Kafka',
  help: `Usage: threatweave pipe [options] [FILE…]

Reads one event per line (JSON or text, or a JSON array of events) from files, also .gz, or standard input, and writes
each with its annotation to standard output, one line of JSON each, in order; in a line that is a batch (an array,
{"records":[…]} and the like) every member has its own, or with kafka.input.batches: split a line. Verdicts come from feeds and, if
intel.service.apiKey is set, from the lookup service; at least one of the two is needed.

  -c, --config FILE      the configuration
      --feed FILE        an additional feed (can be repeated); it is named after its file
      --mode MODE        complete: wait for every answer (default for files); live: wait at most one deadline
      --max-lookups N    send at most N calls to the lookup service; other indicators are budget_spent
      --malicious-only   write only malicious events
      --alerts FILE      write alerts to FILE, one JSON object per line; with - to standard output, instead of the events,
                         and on a terminal as text
      --summary          print a summary on standard error
      --yes              do not ask before the first paid call

Examples:
  threatweave pipe --feed blocklist.txt --alerts - firewall.log
  threatweave pipe --feed blocklist.txt --summary firewall.log > annotated.ndjson

Logs and progress go to standard error.

Exit codes: 0 done, 1 output could not be written, or the key was refused for every lookup, 64 wrong usage, 78 wrong configuration,
130 and 143 interrupted by SIGINT and SIGTERM.
`,
  options: {
    ...configOption,
    feed: { type: 'string', multiple: true, takes: 'file' },
    mode: { type: 'string', takes: ['complete', 'live'] },
    'max-lookups': { type: 'string' },
    'malicious-only': { type: 'boolean' },
    alerts: { type: 'string', takes: 'file' },
    summary: { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
  },
  takesArguments: ['file'],
  unit: (args) => (args.values.alerts === '-' ? 'alert' : 'event'),
  run: async (args, io) => {
    const config = withArguments(loadConfig(args, io), args)
    const emit = createLogger(io.stderr, {
      level: args.values.summary === true || io.stderr.isTTY === true ? quieter(config.log.level) : config.log.level,
      pretty: config.log.format === 'pretty' || (config.log.format === 'auto' && io.stderr.isTTY === true),
      clock: Date.now,
    })
    const keyCheck = detectRefusedKey()
    const options = {
      isOneSource: true,
      lookedUp: keyCheck.lookedUp,
      mode: modeOf(args, config, io),
      env: io.env,
      emit,
      ...approval(args, config, io),
    }
    refuseWithoutIntelligence(config)
    refuseOverwriting(args, config, io)
    const events = await withScope(async (scope) => {
      const app = scope.use(accepted<App>(await openApp(config, options)))
      refuseWithoutFeeds(app, args)
      const alerts = await openAlertOutput(scope, args.values, config, app, emit, io)
      return withInputErrors(() => run(app, alerts, args, io))
    })
    const code = reportStop(events, io)
    const refusal = keyCheck.refusal()
    if (code !== exitCodes.ok || refusal === undefined) return code
    io.stderr.write(`threatweave: ${refusal}\n`)
    return exitCodes.failure
  },
}

type KeyCheck = {
  readonly lookedUp: (ms: number, finding: Finding) => void
  /** A message if every lookup failed because of the key or the account. */
  readonly refusal: () => string | undefined
}

const keyReasons: ReadonlyMap<Reason, string> = new Map([
  ['bad_key', 'the lookup service rejects the key'],
  ['no_credit', 'the account has no credit left'],
  ['plan', 'the plan of the account does not include them'],
])

/** Detects that all lookups failed because of the key or the account, so that `pipe` reports a failure. */
const detectRefusedKey = (): KeyCheck => {
  let others = 0
  const refused = new Map<Reason, number>()
  return {
    lookedUp: (_, finding) => {
      const reason = finding.status === 'unknown' && kindOf(finding.reason) === 'failure' ? finding.reason : undefined
      if (reason !== undefined && keyReasons.has(reason)) refused.set(reason, (refused.get(reason) ?? 0) + 1)
      else others++
    },
    refusal: () => {
      if (others > 0 || refused.size === 0) return undefined
      const why = [...refused.keys()].map((reason) => `${keyReasons.get(reason) ?? ''} (${reason})`).join(', ')
      return `no lookup was answered: ${why}; \`threatweave check --online\` checks the account`
    },
  }
}

/** Every feed on the command line must load; of the configured ones, one is enough, or none with a provider. */
const refuseWithoutFeeds = ({ feeds, asked }: App, args: Arguments): void => {
  const all = feeds.status()
  const named = all.slice(all.length - ((args.values.feed as string[] | undefined)?.length ?? 0))
  const wrong = named.flatMap(({ path, problem }) =>
    problem ? [`--feed ${path} is refused: ${problem.message} (${placeOf(problem)})`] : [],
  )
  if (wrong.length > 0) throw new UsageError(wrong.join('; '))
  const problems = feedProblems(all)
  if (problems.length > 0 && problems.length === all.length && !asked) throw new ConfigurationError(problems)
  if (!asked && all.every((feed) => entriesIn(feed) === 0))
    throw new UsageError('there is no source of verdicts: no key, and no feed has an entry')
}

/** Returns the number of events that were written. */
const run = async (app: App, alerts: AlertOutput | undefined, args: Arguments, io: Io): Promise<number> => {
  const maliciousOnly = args.values['malicious-only'] === true
  const summary = createSummary()
  const total = sizeOf(args.positionals)
  const progress =
    args.positionals.length > 0 && io.stderr.isTTY === true
      ? createProgress(io.stderr, { label: 'pipe', ...(total === undefined ? {} : { total }) })
      : undefined
  let bytes = 0
  let events = 0
  for await (const lines of readLines(args.positionals, io.stdin, io.signal)) {
    const outcome = allOf(app.pipeline, lines)
    const out = outcome instanceof Promise ? await unlessStopped(outcome, io.signal) : outcome
    if (!out) break
    const parts: Buffer[] = []
    const all = eventsIn(out)
    for (const one of all) summary.see(one.annotation)
    for (const one of outputsOf(out))
      if (!maliciousOnly || one.verdict === 'malicious') parts.push(one.bytes(), newline)
    if (parts.length > 0 && alerts?.isStandardOutput !== true) await writeJson(io.stdout, Buffer.concat(parts))
    await alerts?.raise(lines, out, progress?.clear)
    for (const line of lines) bytes += line.bytes.length + 1
    events += all.length
    progress?.update(bytes, `${events} events`)
    if (io.signal.aborted) break
  }
  progress?.end()
  const calls = app.admission?.state().spent.run
  if (args.values.summary === true) io.stderr.write(summary.text(calls, alerts?.withoutAlert()))
  else if (alerts?.isText === true) {
    const raised = alerts.raised()
    io.stderr.write(
      `${raised} ${raised === 1 ? 'alert' : 'alerts'} from ${summary.text(calls, alerts.withoutAlert(), 0)}`,
    )
  }
  return events
}

const newline = Buffer.from('\n')

const sizeOf = (files: readonly string[]): number | undefined => {
  let total = 0
  for (const name of files) {
    const size = name === '-' || name.endsWith('.gz') ? undefined : statSync(name, { throwIfNoEntry: false })?.size
    if (size === undefined) return undefined
    total += size
  }
  return total
}

const quieter = (level: string): string => (level === 'info' ? 'warn' : level)
