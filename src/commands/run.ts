// The `run` command: annotates Kafka topics until it is stopped.
import type { ConsumerHealth } from '../domain/consumer-health.js'
import { availableParallelism } from 'node:os'
import { openApp } from '../app/open-app.js'
import type { Config } from '../config/schema.js'
import { startRunner } from '../kafka/runner.js'
import type { Emit } from '../telemetry/event.js'
import { createLogger } from '../telemetry/logger.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { keepHeapSmall } from '../app/keep-heap-small.js'
import { kafkaSettingsOf } from '../app/limits.js'
import { kafkaProblems } from '../app/start-problems.js'
import { parseAddress } from '../domain/address.js'
import type { SeenIn } from '../ops/history-page.js'
import type { CountedPartitions } from '../sightings/count-partitions.js'
import { accepted, configOption, loadConfig } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import { openRunAlerts } from '../app/open-alerting.js'
import { openFormats } from '../app/open-formats.js'
import { openCounting } from '../app/open-counting.js'
import type { Retro } from '../sightings/retro.js'
import type { WorkerFailure } from '../app/supervise-workers.js'
import { watchRun } from '../app/watch-run.js'

export const run: Command = {
  summary: 'annotate the events of Kafka topics and write them to another topic, until stopped',
  help: `Usage: threatweave run [options]

Reads kafka.input, annotates every event and writes it to kafka.output.topic, with the same key, headers and time, in the
order of its partition. Offsets are committed only after the brokers acknowledged the output; with kafka.delivery
exactly-once both are one transaction. Records that the output topic refuses go to kafka.deadLetterTopic with the reason.

Options:
      --workers N       number of processes in the group on this machine, or auto for one per core (default: 1)
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

On SIGTERM and SIGINT it finishes the chunks in progress, within kafka.limits.drainMs, logs its totals and exits. A worker
whose parent is gone does the same and exits with 1. \`threatweave check --online\` checks the topics beforehand.

Example:
  export THREATWEAVE_KAFKA_BROKERS=localhost:9092 THREATWEAVE_KAFKA_INPUT_TOPICS=firewall
  export THREATWEAVE_KAFKA_OUTPUT_TOPIC=firewall-annotated THREATWEAVE_KAFKA_DEAD_LETTER_TOPIC=firewall-dead
  threatweave check --online --create-topics && threatweave run

If no broker can be reached, at the start or later, it keeps retrying; /readyz and the log show it.

Exit codes: 0 stopped in order, 1 failed, 64 wrong usage, 78 a problem that a restart does not fix: wrong configuration, missing
topic, port in use, refused by the brokers.
`,
  options: { ...configOption, workers: { type: 'string' } },
  run: async (args, io) => {
    keepHeapSmall()
    const workers = workersOf(args)
    const config = loadConfig(args, io)
    const problems = kafkaProblems(config)
    if (problems.length > 0) throw new ConfigurationError(problems)
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const emit = createLogger(io.stderr, { level: config.log.level, pretty, clock: Date.now })
    const failure =
      workers === 1
        ? await runAlone(config, io, emit)
        : await (await import('../app/run-workers.js')).runWorkers(workers, config, args, io, emit)
    emit({ event: 'stopped', command: 'run', cause: failure?.sentence ?? String(io.signal.reason) })
    if (failure === undefined) return exitCodes.ok
    io.stderr.write(`threatweave: ${failure.sentence}\n`)
    return failure.code
  },
}

const workersOf = ({ values }: Arguments): number => {
  const { workers } = values
  if (workers === undefined) return 1
  if (workers === 'auto') return availableParallelism()
  if (typeof workers === 'string' && /^[1-9]\d?$/.test(workers)) return Number(workers)
  throw new UsageError('--workers must be a number from 1 to 99, or auto')
}

const runAlone = async (config: Config, io: Io, emit: Emit): Promise<WorkerFailure | undefined> => {
  const { formats } = openFormats(config.extract.formats)
  const watch = await watchRun(
    config,
    emit,
    formats.map(({ id }) => id),
  )
  const { recalled, joined, lookedUp, waited } = watch.hooks
  const settings = kafkaSettingsOf(config)
  const isComplete = config.enrich.mode === 'complete'
  let retro: Retro | undefined
  let counted: CountedPartitions | undefined
  const app = accepted(
    await openApp(config, {
      feedsChanged: () => retro?.feedsChanged(),
      accused: (asked, finding) => retro?.answered(asked, finding),
      env: io.env,
      emit: watch.emit,
      mode: isComplete ? 'complete' : 'live',
      waitsOutOutages: isComplete,
      recalled,
      joined,
      lookedUp,
      waited,
    }),
  )
  const { live, catchUp, throughOutages } = app.waits
  const stop = new AbortController()
  const closings: (() => Promise<unknown> | undefined)[] = [app.close]
  try {
    let health: () => ConsumerHealth = () => ({ state: 'starting', joins: 0, restarts: 0, partitions: {} })
    const alerts = await openRunAlerts(config, watch.emit)
    closings.push(() => alerts?.close())
    const ops = await watch.serve({
      provider: app.admission?.state,
      consumer: () => health(),
      feeds: app.feeds.status,
      alerts: alerts?.log,
      seenOf: (value) => (counted ? seenIn(counted, value) : []),
    })
    closings.push(ops.close)
    emit({ event: 'started', command: 'run' })
    const service = startRunner({
      settings,
      placement: config.output.placement,
      key: config.output.key,
      pipeline: app.observedPipeline(watch.observe),
      waitOf: ({ events, lag, goesOn }) =>
        isComplete ? throughOutages(goesOn) : events + lag > settings.limits.behindEvents ? catchUp(goesOn) : live,
      alerts,
      // Not observed: these events were counted when they were delivered.
      late: { pipeline: app.again, raise: alerts?.raiseLate },
      counting: openCounting(
        config,
        app,
        watch.emit,
        (opened, counts) => {
          retro = opened
          counted = counts
        },
        (alert) => alerts?.log.note(alert),
      ),
      emit: watch.emit,
      now: Date.now,
      signal: AbortSignal.any([io.signal, stop.signal]),
    })
    closings.unshift(() => service.ended)
    health = service.health
    const ended = await service.ended
    if (ended.how === 'stopped') return undefined
    return { sentence: ended.sentence, code: ended.needsOperator ? exitCodes.configuration : exitCodes.failure }
  } finally {
    // Close everything that was opened, also if a later part failed to start.
    stop.abort()
    for (const close of closings) await close()
    watch.flush()
    watch.logTotals()
  }
}

/** What the partitions of this process have seen of a value. */
const seenIn = (counted: CountedPartitions, value: string): readonly SeenIn[] =>
  [...counted.all()].flatMap(([partition, counts]) => {
    const seen = counts.seen({ type: parseAddress(value) === undefined ? 'domain' : 'ip', value })
    return seen ? [{ partition, ...seen }] : []
  })
