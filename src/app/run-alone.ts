// One worker of a run: every part is made from the configuration and connected, and events flow until it is stopped or cannot go on.
import type { ConsumerHealth } from '../domain/consumer-health.js'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import { parseAddress } from '../domain/address.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { startRunner } from './runner.js'
import type { SeenIn } from '../ops/page.js'
import type { CountedPartitions } from '../follow-up/count-partitions.js'
import { exitCodes } from '../terminal/command.js'
import { connectedSettingsOf } from './connected-settings.js'
import { openRunAlerts } from './open-alerting.js'
import { openApp, type AppOptions } from './open-app.js'
import { verdictsOf } from '../verdicts/open-verdicts.js'
import { createCounting, insideBy, startRetro } from './open-counting.js'
import type { WorkerFailure } from './supervise-workers.js'
import type { Watch } from './watch-run.js'

/**
 * What a run needs from the machine, so that the simulation can pass its own. Timers of the Kafka side are those of Node, as kafkajs's are:
 * the simulation replaces them for both.
 */
export type Runtime = Required<Pick<AppOptions, 'idleMs'>> &
  Pick<AppOptions, 'loadFeed' | 'dispatcher'> &
  Pick<KafkaSettings, 'sockets'> & { readonly clock: Clock; readonly random: () => number }

export const nodeRuntime: Runtime = {
  clock: systemClock,
  random: Math.random,
  idleMs: () => performance.eventLoopUtilization().idle,
}

export type RunOptions = {
  /** For proxy variables and the default memory folder. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Aborting it drains and stops. */
  readonly signal: AbortSignal
  readonly watch: Watch
  readonly runtime: Runtime
}

export const runAlone = async (
  config: Config,
  { env, signal, watch, runtime }: RunOptions,
): Promise<WorkerFailure | undefined> => {
  const { recalled, joined, lookedUp, waited } = watch.hooks
  const { clock, random, idleMs, loadFeed, dispatcher, sockets } = runtime
  const settings = { ...connectedSettingsOf(config, { env, emit: watch.emit }), sockets }
  const isComplete = config.enrich.mode === 'complete'
  const { counts, retro } = createCounting(config, { clock, random, emit: watch.emit })
  const stop = new AbortController()
  const closings: (() => Promise<unknown> | undefined)[] = []
  let isStarted = false
  try {
    const alerts = await openRunAlerts(config, { env, clock, emit: watch.emit, alerted: watch.alerted })
    closings.push(() => alerts?.close())
    const app = accepted(
      await openApp(config, {
        names: alerts?.names,
        feedsChanged: retro.feedsChanged,
        accused: retro.answered,
        verdicts: verdictsOf(settings, { now: clock.now, emit: watch.emit }),
        env,
        clock,
        random,
        idleMs,
        loadFeed,
        dispatcher,
        emit: watch.emit,
        mode: isComplete ? 'complete' : 'live',
        asksLater: settings.alertsTopic !== '' || settings.correctionsTopic !== '',
        waitsOutOutages: isComplete,
        recalled,
        joined,
        lookedUp,
        waited,
      }),
    )
    closings.push(app.close)
    const { live, catchUp, throughOutages } = app.waits
    let health: () => ConsumerHealth = () => ({ state: 'starting', joins: 0, restarts: 0, partitions: {} })
    const ops = await watch.serve({
      provider: app.admission?.state,
      consumer: () => health(),
      feeds: () => app.feeds.status().map((feed) => ({ ...feed, use: watch.feedUse(feed.name) })),
      geo: app.geo?.status,
      sources: config.intel.sources.length > 0 ? app.sources : undefined,
      rules: alerts?.rules,
      seenOf: (value) => seenIn(counts, value),
    })
    closings.push(ops.close)
    watch.emit({ event: 'started', command: 'run' })
    isStarted = true
    const service = startRunner({
      settings,
      placement: config.output.placement,
      key: config.output.key,
      pipeline: app.observedPipeline(watch.observe),
      waitOf: ({ events, lag, goesOn }) =>
        isComplete ? throughOutages(goesOn) : events + lag > settings.limits.behindEvents ? catchUp(goesOn) : live,
      mayRaise: alerts?.mayRaise,
      alerts,
      // Not observed: these events were counted when they were delivered.
      late: { pipeline: app.again },
      counting: {
        counts,
        known: app.known,
        isInside: insideBy(app.decide),
        retro,
        start: () =>
          startRetro(
            retro,
            app,
            (about) => alerts?.retroMatch(about),
            clock,
            (alert) => alerts?.note(alert),
          ),
      },
      emit: watch.emit,
      now: clock.now,
      signal: AbortSignal.any([signal, stop.signal]),
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
    if (isStarted) watch.logTotals()
  }
}

/** What the partitions of this process have seen of a value. */
const seenIn = (counted: CountedPartitions, value: string): readonly SeenIn[] =>
  [...counted.all()].flatMap(({ name, counts }) => {
    const seen = counts().seen({ type: parseAddress(value) === undefined ? 'domain' : 'ip', value })
    return seen ? [{ partition: name, ...seen }] : []
  })
