// Runs the worker processes of one consumer group and their shared gateway.
import { openParts } from '../base/scope.js'
import type { Config } from '../config/schema.js'
import type { Emit } from '../telemetry/event.js'
import type { Arguments, Io } from '../terminal/command.js'
import { prefix } from '../config/environment-name.js'
import { leanMalloc, roomForEvents } from './room-for-events.js'
import { supervise, type WorkerFailure } from './supervise-workers.js'
import { refusePortsInUse, watchRun } from './watch-run.js'
import { openWorkersGateway } from './workers-gateway.js'

/** Workers share only the consumer group and the gateway in this process. */
export const runWorkers = async (
  count: number,
  config: Config,
  args: Arguments,
  io: Io,
  emit: Emit,
): Promise<WorkerFailure | undefined> => {
  // The ports of the workers and the gateway.
  const ports = Array.from({ length: count + 1 }, (_, index) => portOf(config.ops.port, index + 1))
  await refusePortsInUse(config, ports, 'ops.port')
  const failed = new AbortController()
  const opened = openShared(count, config, io, emit)
  const given = typeof args.values.config === 'string' ? ['--config', args.values.config] : []
  // Workers get their settings over the IPC channel, so the provider's key stays in this process.
  const isSetting = ([name]: readonly [string, unknown]): boolean => name.startsWith(prefix)
  const own = Object.entries(io.env)
  const supervised = supervise({
    count,
    command: process.execPath,
    args: [roomForEvents, ...process.execArgv, process.argv[1] ?? '', 'run', ...given],
    env: { ...leanMalloc, ...Object.fromEntries(own.filter((one) => !isSetting(one))) },
    settings: async (worker) => ({
      ...Object.fromEntries(own.filter(isSetting)),
      ...(await opened).gateway.env,
      THREATWEAVE_OPS_PORT: String(portOf(config.ops.port, worker)),
    }),
    limitMs: config.kafka.limits.drainMs + 5_000,
    signal: AbortSignal.any([io.signal, failed.signal]),
    emit,
  })
  try {
    await opened
  } catch (error) {
    failed.abort()
    await supervised
    throw error
  }
  const { close } = await opened
  emit({ event: 'started', command: `run with ${count} workers` })
  const failure = await supervised
  await close()
  return failure
}

/** Opens the gateway while the workers load their libraries. */
const openShared = (count: number, config: Config, io: Io, emit: Emit) =>
  openParts(async (scope) => {
    const watch = await watchRun(config, emit)
    scope.defer(watch.flush)
    const gateway = scope.use(await openWorkersGateway(config, { env: io.env, emit: watch.emit, watch: watch.hooks }))
    // No gateway without a key or sources.
    if (gateway.provider ?? gateway.sources)
      scope.use(
        await watch.serve(
          { provider: gateway.provider, sources: gateway.sources, kind: 'server' },
          portOf(config.ops.port, count + 1),
        ),
      )
    return { gateway }
  })

/** Each worker has its own ops port, counting up from the configured one; the gateway has the next. */
const portOf = (first: number, worker: number): number => (first === 0 ? 0 : first + worker - 1)
