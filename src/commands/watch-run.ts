// What `run` and `serve` count and show of themselves while they run.
import { redact } from '../config/redact.js'
import type { Config } from '../config/schema.js'
import { backgroundClock } from '../domain/clock.js'
import { operationNames } from '../intel/service/operations.js'
import { openOps, type Ops, type OpsSources } from '../ops/open-ops.js'
import { createRecent } from '../ops/recent.js'
import { watchLine } from '../ops/watch-line.js'
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Tell } from '../telemetry/event.js'
import { summariseBursts } from '../telemetry/summarise-bursts.js'
import { createTally, type Tally } from '../telemetry/tally.js'
import { openTraces } from '../telemetry/traces.js'
import { version } from './version.js'

export type Watch = {
  /** Counts, remembers and logs. */
  readonly tell: Tell
  readonly hooks: Pick<Tally, 'recalled' | 'joined' | 'lookedUp'>
  readonly line: (pipeline: Pipeline) => Pipeline
  /** Before the end: logs what is only counted so far. */
  readonly flush: () => void
  readonly serve: (views: Pick<OpsSources, 'provider' | 'consumer' | 'shows'>, port?: number) => Promise<Ops>
}

/** Repeats of a failure are told as a count this often. */
const burstMs = 30_000
/** Past its own deadline a chunk gets this long to be noticed by its own watch. */
const graceMs = 5_000
const loopMs = 5_000

export const watchRun = async (config: Config, log: Tell): Promise<Watch> => {
  const clock = backgroundClock
  const now = (): number => clock.now()
  const tally = createTally(operationNames)
  const recent = createRecent(now)
  const traces = await openTraces(version, now)
  const logged = summariseBursts(log, clock, burstMs)
  const tell: Tell = (event) => {
    tally.tell(event)
    traces.tell(event)
    recent.tell(event)
    logged.tell(event)
  }
  const serve: Watch['serve'] = async (views, port = config.ops.port) => {
    if (!config.ops.enabled) return { url: undefined, close: () => Promise.resolve() }
    return openOps(
      { ...config.ops, port },
      {
        ...views,
        tally,
        recent,
        allowed: { hour: config.admit.perHour, day: config.admit.perDay },
        config: redact(config),
        version,
        limits: { chunkMs: config.kafka.limits.chunkDeadlineMs + graceMs, loopMs },
        clock,
        tell,
      },
    )
  }
  return {
    tell,
    flush: logged.flush,
    hooks: tally,
    line: (pipeline) => watchLine(traces.line(pipeline), { tally, recent, now }),
    serve,
  }
}
