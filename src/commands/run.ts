// The `run` command: annotates Kafka topics until it is stopped.
import { availableParallelism } from 'node:os'
import type { Config } from '../config/schema.js'
import { printable } from '../domain/control-characters.js'
import type { Emit } from '../telemetry/event.js'
import { createLogger } from '../telemetry/logger.js'
import { exitCodes, UsageError, type Arguments, type Command, type Io } from '../terminal/command.js'
import { keepHeapSmall } from '../app/keep-heap-small.js'
import { kafkaProblems } from '../app/start-problems.js'
import { workerNumberVariable } from '../config/environment-name.js'
import { budgetOf } from '../config/budget.js'
import { exposedFiles } from '../config/exposed-files.js'
import { allSettings, loadConfig } from '../app/load-config.js'
import { accepted, configOption } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'
import { refusePortsInUse, watchRun } from '../app/watch-run.js'
import type { WorkerFailure } from '../app/supervise-workers.js'
import { nodeRuntime, runAlone } from '../app/run-alone.js'
import { loadFiles, type Files } from '../app/load-files.js'

export const run: Command = {
  summary: 'annotate the events of Kafka topics and write them to another topic, until stopped',
  help: `Usage: threatweave run [options]

Reads kafka.input, annotates every event and writes it to kafka.output.topic, with the same key, headers and time, in the
order of its partition. Offsets are committed only after the brokers acknowledged the output; with kafka.delivery
exactly-once both are one transaction. Dead letters, alerts, corrections, state and verdicts go to topics named after the
output topic, such as firewall-annotated-alerts; \`threatweave check --online --create-topics\` creates them.

Options:
      --workers N       number of processes in the group on this machine, or auto for one per core (default: 1)
  -c, --config FILE     the configuration (default: THREATWEAVE_CONFIG, or built-in defaults)
  -h, --help            this text

On SIGTERM and SIGINT it finishes the chunks in progress, within kafka.limits.drainMs, logs its totals and exits. A worker
whose parent is gone does the same and exits with 1. \`threatweave check --online\` checks the topics beforehand.

Example:
  export THREATWEAVE_KAFKA_BROKERS=localhost:9092 THREATWEAVE_KAFKA_INPUT_TOPICS=firewall
  export THREATWEAVE_KAFKA_OUTPUT_TOPIC=firewall-annotated
  threatweave check --online --create-topics && threatweave run

If no broker can be reached, at the start or later, it keeps retrying; /readyz and the log show it.

Exit codes: 0 stopped in order, 1 failed, 64 wrong usage, 78 a problem that a restart does not fix: wrong configuration, missing
topic, port in use, refused by the brokers.
`,
  options: { ...configOption, workers: { type: 'string', takes: ['auto'] } },
  run: async (args, io) => {
    keepHeapSmall()
    const workers = workersOf(args)
    const config = loadConfig(args, io)
    const problems = kafkaProblems(config)
    if (problems.length > 0) throw new ConfigurationError(problems)
    const pretty = config.log.format === 'auto' ? io.stderr.isTTY === true : config.log.format === 'pretty'
    const number = io.env[workerNumberVariable]
    const worker = number === undefined ? undefined : Number(number)
    const emit = createLogger(io.stderr, { level: config.log.level, pretty, clock: Date.now, worker })
    // The parent process has reported it already.
    if (worker === undefined) {
      for (const { setting, message } of exposedFiles(config, io.env, allSettings.schema))
        emit({ event: 'secret_file_exposed', setting, message })
      const { perDay, isDefault } = budgetOf(config.admit)
      if (isDefault && config.intel.service.apiKey !== '') emit({ event: 'budget_not_set', perDay })
      if (config.gate.ownRanges.length === 0) emit({ event: 'own_ranges_missing' })
    }
    const failure =
      workers === 1
        ? await runHere(config, io, emit)
        : await (await import('../app/run-workers.js')).runWorkers(workers, config, args, io, emit)
    emit({ event: 'stopped', command: 'run', cause: failure?.sentence ?? String(io.signal.reason) })
    if (failure === undefined) return exitCodes.ok
    io.stderr.write(`threatweave: ${printable(failure.sentence)}\n`)
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

const runHere = async (config: Config, io: Io, emit: Emit): Promise<WorkerFailure | undefined> => {
  await refusePortsInUse(config, [config.ops.port], 'ops.port')
  const files = accepted<Files>(loadFiles(config))
  const formats = files.formats.map(({ id }) => id)
  const watch = await watchRun(config, emit, formats)
  return runAlone(config, { env: io.env, signal: io.signal, watch, files, runtime: nodeRuntime })
}
