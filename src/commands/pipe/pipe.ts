// pipe: events from files or standard input to standard output, each with its annotation, in order.
import { statSync } from 'node:fs'
import { openApp, type App } from '../../app/open-app.js'
import { feedProblems, placeOf } from '../../feeds/status.js'
import { allOf } from '../../pipeline/pipeline.js'
import { createLogger } from '../../telemetry/logger.js'
import { openAlertOutput, type AlertOutput } from './alert-output.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../../terminal/command.js'
import { endedAfter, unlessStopped } from '../../terminal/ended-after.js'
import { accepted, configOption, loadConfig } from '../../config/load-config.js'
import { ConfigurationError } from '../../config/problem.js'
import { refuseOverwriting } from './overwriting.js'
import { approval, modeOf, refuseWithoutIntelligence, withArguments } from './pipe-options.js'
import { createProgress } from '../../terminal/progress.js'
import { readLines } from '../../input/read-lines.js'
import { readingInput } from '../../input/reading-input.js'
import { createSummary } from '../../terminal/summary.js'
import { watchAnswers } from './watch-answers.js'
import { writeJson } from '../../terminal/write-lines.js'

export const pipe: Command = {
  summary: 'annotate events from files or standard input, without Kafka',
  help: `Usage: threatweave pipe [options] [FILE…]

Reads one event a line (JSON or text; a JSON array of events works too) from files, .gz too, or standard input, and writes
each with its annotation to standard output, one JSON object a line, in order. Verdicts come from the feeds and, where
intel.service.apiKey is set, from the lookup service; one of the two is needed.

  -c, --config FILE      the configuration to run with
      --feed FILE        a feed file to look indicators up in, beside those of the configuration (may be repeated); it is
                         called after its file, and refused where it cannot be loaded
      --mode MODE        complete: wait for every answer (the default for files); live: wait one deadline at most
      --max-lookups N    send at most N calls to the lookup service; what is left says budget_spent
      --malicious-only   write only events whose verdict is malicious
      --alerts FILE      write the alerts that the rules raise to FILE, one JSON object a line; with - they are written to
                         standard output instead of the events
      --summary          say on standard error what was found
      --yes              do not ask before the first call that costs a credit

Example:
  threatweave pipe --feed blocklist.txt --summary firewall.log > annotated.ndjson

Logs and progress go to standard error.

Exit codes: 0 done, 1 not everything could be written or the key was refused for every lookup, 64 wrong usage, 78 wrong configuration, 130 and 143 stopped by SIGINT and SIGTERM.
`,
  options: {
    ...configOption,
    feed: { type: 'string', multiple: true },
    mode: { type: 'string' },
    'max-lookups': { type: 'string' },
    'malicious-only': { type: 'boolean' },
    alerts: { type: 'string' },
    summary: { type: 'boolean' },
    yes: { type: 'boolean', short: 'y' },
  },
  takesArguments: true,
  unit: (args) => (args.values.alerts === '-' ? 'alert' : 'event'),
  run: async (args, io) => {
    const config = withArguments(loadConfig(args, io), args)
    const emit = createLogger(io.stderr, {
      level: args.values.summary === true || io.stderr.isTTY === true ? quieter(config.log.level) : config.log.level,
      pretty: config.log.format === 'pretty' || (config.log.format === 'auto' && io.stderr.isTTY === true),
      clock: Date.now,
    })
    const answers = watchAnswers()
    const around = {
      isOneSource: true,
      lookedUp: answers.lookedUp,
      mode: modeOf(args, config, io),
      env: io.env,
      emit,
      ...approval(args, config, io),
    }
    refuseWithoutIntelligence(config)
    refuseOverwriting(args, config, io)
    const app = accepted(await openApp(config, around))
    let alerts: AlertOutput | undefined
    let events = 0
    try {
      refuseWithoutFeeds(app, args)
      alerts = await openAlertOutput(args.values.alerts, config, emit, io)
      await readingInput(() => run(app, alerts, args, io, (more) => (events += more)))
    } finally {
      await (alerts?.close() ?? Promise.resolve()).finally(app.close)
    }
    const code = endedAfter(events, io)
    const refusal = answers.refusal()
    if (code !== exitCodes.ok || refusal === undefined) return code
    io.stderr.write(`threatweave: ${refusal}\n`)
    return exitCodes.failure
  },
}

/** A feed named here is meant to be used; of those of the configuration one is enough, or a service to ask. */
const refuseWithoutFeeds = ({ feeds, admission }: App, args: Arguments): void => {
  const all = feeds.status()
  const named = all.slice(all.length - ((args.values.feed as string[] | undefined)?.length ?? 0))
  const wrong = named.flatMap(({ path, problem }) =>
    problem ? [`--feed ${path} is refused: ${problem.message} (${placeOf(problem)})`] : [],
  )
  if (wrong.length > 0) throw new UsageError(wrong.join('; '))
  const problems = feedProblems(all)
  if (problems.length > 0 && problems.length === all.length && !admission) throw new ConfigurationError(problems)
  if (!admission && all.every(({ addresses, names }) => addresses + names === 0))
    throw new UsageError('nothing could be known about any event: there is no key, and no feed holds an entry')
}

/** `written` is told how many events each chunk was. */
const run = async (
  app: App,
  alerts: AlertOutput | undefined,
  args: Arguments,
  io: Io,
  written: (events: number) => number,
): Promise<void> => {
  const maliciousOnly = args.values['malicious-only'] === true
  const summary = createSummary()
  const total = sizeOf(args.positionals)
  const progress =
    args.positionals.length > 0 && io.stderr.isTTY === true
      ? createProgress(io.stderr, { label: 'pipe', ...(total === undefined ? {} : { total }) })
      : undefined
  let bytes = 0
  for await (const lines of readLines(args.positionals, io.stdin, io.signal)) {
    const outcome = allOf(app.pipeline, lines)
    const out = outcome instanceof Promise ? await unlessStopped(outcome, io.signal) : outcome
    if (!out) break
    const parts: Buffer[] = []
    for (const one of out) {
      summary.see(one.annotation)
      if (!maliciousOnly || one.annotation.verdict === 'malicious') parts.push(one.bytes(), newline)
    }
    if (parts.length > 0 && alerts?.isStandardOutput !== true) await writeJson(io.stdout, Buffer.concat(parts))
    await alerts?.raise(out)
    for (const line of lines) bytes += line.bytes.length + 1
    const events = written(lines.length)
    progress?.update(bytes, `${events} events`)
    if (io.signal.aborted) break
  }
  progress?.end()
  if (args.values.summary === true) io.stderr.write(summary.text(app.admission?.state().spent.run))
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
