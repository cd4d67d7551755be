// replay: a stretch of a topic judged again, into a topic of its own, without touching the live service.
import type { Alerts } from '../../alerts/open-alerts.js'
import type { Config } from '../../config/schema.js'
import { FatalKafkaError } from '../../kafka/failure.js'
import { openReplay, type OpenReplay } from '../../kafka/replay/open-replay.js'
import { openAlerting } from '../../app/open-alerting.js'
import type { Emit } from '../../telemetry/event.js'
import { createLogger } from '../../telemetry/logger.js'
import { exitCodes, type Command, type Io } from '../../terminal/command.js'
import { kafkaProblems } from '../../app/kafka-problems.js'
import { accepted, configOption, loadConfig } from '../../config/load-config.js'
import { ConfigurationError } from '../../config/problem.js'
import { openReplayLine } from './open-replay-line.js'
import { createProgress } from '../../terminal/progress.js'
import { rehearseReplay } from './rehearse-replay.js'
import { alertsBefore, raiseOnce } from './replay-alerts.js'
import { readReplayArguments, type ReplayArguments } from './replay-options.js'
import { lengthOf, showing } from './replay-progress.js'
import { describeRanges, describeSummary, summarise } from './replay-summary.js'
import { write } from '../../terminal/write-lines.js'

export const replay: Command = {
  summary: 'judge a past stretch of a topic again, into a topic of its own',
  help: `Usage: threatweave replay --topic TOPIC --from EDGE --to EDGE [options]

Reads a topic from the first offset at or after --from to the first at or after --to, in every partition, annotates the events
again and writes them to a topic of their own, in order, with their times and a replay_id. The live service and its offsets are
never touched. Waits for every answer; asks behind live traffic where lookups go through a gateway. Reads the live memory and writes
nothing to it. Where nothing newer is known, the former verdict of an event stands and is counted apart.

An EDGE is a time (2026-11-09, 2026-11-09T08:00:00Z; UTC unless it says otherwise), a time ago (90m, 24h, 7d), an offset, or
earliest and now.

      --topic TOPIC         what to replay: a raw topic, an annotated one, or the dead letters
      --input KIND          raw, annotated or dead-letter (default: by the configuration's names, else raw)
      --partition P         this partition only
      --strict-time         only events whose record time lies between the edges
      --output TOPIC        where to (default: TOPIC-replay-ID, made with unlimited retention)
      --into-live           allow --output to be the live output
      --id ID               the name of this replay; the same id after a kill goes on where it stopped
      --against TOPIC       compare with the annotations in this topic (annotated input brings its own)
      --alerts WHICH        new: of events whose verdict changed or was not known (default), all, or none
      --alerts-output TOPIC where alerts go (default: OUTPUT-alerts)
      --max-lookups N       send at most N calls to the lookup service; what is left says budget_spent
      --lookups none        send none: memory and feeds only
      --rate N              at most N events a second
      --dry-run             say ranges, events and expected lookups; write nothing
      --json                print the summary as one JSON object
  -c, --config FILE         the configuration to run with

Example:
  threatweave replay --topic firewall --from 7d --to now --against firewall-annotated --lookups none

Exit codes: 0 all of it is through, 1 it is not and says why, 64 wrong usage, 78 wrong configuration.
`,
  options: {
    ...configOption,
    topic: { type: 'string' },
    input: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    partition: { type: 'string' },
    'strict-time': { type: 'boolean' },
    output: { type: 'string' },
    'into-live': { type: 'boolean' },
    id: { type: 'string' },
    against: { type: 'string' },
    alerts: { type: 'string' },
    'alerts-output': { type: 'string' },
    'max-lookups': { type: 'string' },
    lookups: { type: 'string' },
    rate: { type: 'string' },
    'dry-run': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  run: async (given, io) => {
    const config = loadConfig(given, io)
    const problems = kafkaProblems(config.kafka).filter(({ setting }) => !notNeeded.has(setting))
    if (problems.length > 0) throw new ConfigurationError(problems)
    const args = readReplayArguments(given, config, Date.now())
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const level = config.log.level === 'info' ? 'warn' : config.log.level // progress and summary say the rest
    const emit = createLogger(io.stderr, { level, pretty, clock: Date.now })
    const opened = await openReplay(
      { ...args, groupId: `${config.kafka.groupId}-replay-${args.id}` },
      {
        settings: config.kafka,
        placement: config.output.placement,
        key: config.output.key,
        emit,
        now: Date.now,
        signal: io.signal,
      },
    )
    if ('refused' in opened) return refuse(io, opened.refused)
    try {
      const work = args.isDryRun ? rehearseReplay : perform
      return await work(opened, args, config, io, emit)
    } catch (error) {
      if (!(error instanceof FatalKafkaError)) throw error
      return refuse(io, `${error.message}; --id ${args.id} goes on from here`)
    } finally {
      await opened.close()
    }
  },
}

/** A replay says on the command line what it reads and writes. */
const notNeeded = new Set(['kafka.input.topics', 'kafka.output.topic', 'kafka.deadLetterTopic'])

const refuse = (io: Io, sentence: string): number => {
  io.stderr.write(`threatweave: ${sentence}\n`)
  return exitCodes.failure
}

const perform = async (
  opened: OpenReplay,
  args: ReplayArguments,
  config: Config,
  io: Io,
  emit: Emit,
): Promise<number> => {
  const { plan } = opened
  const began = Date.now()
  io.stderr.write(
    `replay ${args.id} of ${args.topic} to ${args.output}${plan.isResumed ? ', taken up again' : ''}:\n${describeRanges(plan)}`,
  )
  const former = args.against === undefined ? undefined : await opened.former(args.against)
  if (former && 'refused' in former) return refuse(io, former.refused)
  const app = await openReplayLine(args, config, io, emit)
  let alerts: Alerts | undefined
  try {
    const rules = accepted(await openAlerting(config, { emit, late: () => undefined, replayId: args.id }))
    alerts = rules
    const wantsAlerts = args.alerts !== 'none' && rules.status().rules > 0
    const alertsTopic = wantsAlerts ? args.alertsTopic : undefined
    const said = new Set<string>()
    const lookups = (): number => app.admission?.state().spent.run ?? 0
    const progress = createProgress(io.stderr, { label: 'replay', total: lengthOf(opened) })
    const outcome = await opened
      .run({
        pipeline: app.pipeline,
        ready: () => (plan.isResumed && wantsAlerts ? alertsBefore(opened, args, said) : Promise.resolve()),
        raise: wantsAlerts ? (events) => raiseOnce(rules, events, said) : undefined,
        raiseAll: args.alerts === 'all',
        alertsTopic,
        former,
        eventsPerSecond: args.eventsPerSecond,
        moved: showing(opened, progress.update, lookups, began),
      })
      .finally(progress.end)
    if ('refused' in outcome) return refuse(io, outcome.refused)
    const seconds = (Date.now() - began) / 1000
    const { delivery } = config.kafka
    const summary = summarise(args, plan, outcome, { delivery, alertsTopic, lookups: lookups(), seconds })
    await write(io.stdout, args.isJson ? `${JSON.stringify(summary)}\n` : describeSummary(summary))
    return summary.complete ? exitCodes.ok : exitCodes.failure
  } finally {
    await alerts?.close()
    await app.close()
  }
}
