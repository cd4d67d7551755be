// The `replay` command: annotates a past range of a topic again, into a separate topic.
import { printable } from '../../domain/control-characters.js'
import { createLogger } from '../../telemetry/logger.js'
import { exitCodes, type Command } from '../../terminal/command.js'
import { keepHeapSmall } from '../../app/keep-heap-small.js'
import { nodeRuntime } from '../../app/run-alone.js'
import { connectionProblems } from '../../app/start-problems.js'
import { loadConfig } from '../../app/load-config.js'
import { configOption } from '../../config/load-config.js'
import { ConfigurationError } from '../../config/problem.js'
import { dryRunReplay } from './dry-run.js'
import { performReplay } from './perform-replay.js'
import { withReplay } from './replay-alone.js'
import { readReplayArguments } from './replay-options.js'

export const replay: Command = {
  summary: 'annotate a past range of a topic again, into a separate topic',
  help: `Usage: threatweave replay --topic TOPIC --from EDGE --to EDGE [options]

Reads a topic from the first offset at or after --from to the first at or after --to, in every partition, annotates the events
again and writes them to a separate topic, in order, with their times and a replay_id. It does not touch the live run and its
offsets. It waits for every answer; at a gateway its lookups go after live ones. It reads the live memory and writes nothing
to it. If nothing newer is known, the former verdict of an event stays and is counted separately.

An EDGE is a time (2026-11-09, 2026-11-09T08:00:00Z; UTC unless it has a zone), an age (90m, 24h, 7d), an offset, earliest or
now.

      --topic TOPIC         the topic to replay: raw, annotated or dead-letter
      --input KIND          raw, annotated or dead-letter (default: by the topic names in the configuration, else raw)
      --partition P         only this partition
      --strict-time         only events whose record time is between the edges
      --only pending        of an annotated topic, only the events that left before an answer
      --output TOPIC        the output topic (default: TOPIC-replay-ID, created with unlimited retention)
      --into-live           allow --output to be the live output
      --id ID               the name of this replay; use the same id to continue an interrupted one
      --against TOPIC       compare with the annotations in this topic (not needed for annotated input)
      --alerts WHICH        new: events whose verdict changed or was unknown (default), all, or none
      --alerts-output TOPIC the alerts topic (default: OUTPUT-alerts)
      --max-lookups N       send at most N calls to the lookup service; other indicators are budget_spent
      --lookups none        send no calls: memory and feeds only
      --rate N              at most N events per second
      --dry-run             print ranges, events and expected lookups; write nothing
      --json                print the summary as one JSON object
  -c, --config FILE         the configuration

Examples:
  threatweave replay --topic firewall --from 7d --to now --against firewall-annotated --lookups none
  threatweave replay --topic firewall-annotated --from 24h --to now --only pending --output firewall-corrections

Exit codes: 0 complete, 1 not complete, 64 wrong usage, 78 wrong configuration.
`,
  options: {
    ...configOption,
    topic: { type: 'string' },
    input: { type: 'string', takes: ['raw', 'annotated', 'dead-letter'] },
    from: { type: 'string' },
    to: { type: 'string' },
    partition: { type: 'string' },
    'strict-time': { type: 'boolean' },
    only: { type: 'string', takes: ['pending'] },
    output: { type: 'string' },
    'into-live': { type: 'boolean' },
    id: { type: 'string' },
    against: { type: 'string' },
    alerts: { type: 'string', takes: ['new', 'all', 'none'] },
    'alerts-output': { type: 'string' },
    'max-lookups': { type: 'string' },
    lookups: { type: 'string', takes: ['none'] },
    rate: { type: 'string' },
    'dry-run': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (given, io) => {
    keepHeapSmall()
    const config = loadConfig(given, io)
    const problems = connectionProblems(config)
    if (problems.length > 0) throw new ConfigurationError(problems)
    const args = readReplayArguments(given, config, Date.now())
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const level = config.log.level === 'info' ? 'warn' : config.log.level // progress and summary replace info lines
    const emit = createLogger(io.stderr, { level, pretty, clock: Date.now })
    const around = { env: io.env, signal: io.signal, emit, runtime: nodeRuntime }
    const work = args.isDryRun ? dryRunReplay : performReplay
    const done = await withReplay(args, config, around, (opened) => work(opened, args, config, io, around))
    if (typeof done === 'number') return done
    io.stderr.write(`threatweave: ${printable(done.refused)}\n`)
    return exitCodes.failure
  },
}
