// Runs one worker: builds all components from the configuration and processes events until it is stopped or fails.
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import { parseAddress } from '../domain/address.js'
import { systemClock, type Clock } from '../base/clock.js'
import { withScope, type Scope } from '../base/scope.js'
import { openBrokerWatch } from '../kafka/broker-watch.js'
import { recordHealth } from '../kafka/health.js'
import type { KafkaSettings } from '../kafka/settings.js'
import { createAppNews } from './app-news.js'
import { loadFiles, type Files } from './load-files.js'
import { runTopics } from './runner.js'
import type { SeenIn } from '../ops/page.js'
import type { CountedPartitions } from '../follow-up/count-partitions.js'
import { exitCodes } from '../terminal/command.js'
import { connectedSettingsOf } from './connected-settings.js'
import { openRunAlerts } from './open-alerting.js'
import { openApp, type App, type AppOptions } from './open-app.js'
import { verdictsOf } from '../verdicts/open-verdicts.js'
import { createCounting, insideBy, startRetro } from './open-counting.js'
import type { WorkerFailure } from './supervise-workers.js'
import type { Watch } from './watch-run.js'

/**
 * The machine as a run sees it; the simulation passes its own. Kafka code and kafkajs use Node's timers, which the simulation replaces for
 * both.
 */
export type Runtime = {
  readonly clock: Clock
  /** From 0 up to 1. */
  readonly random: () => number
  /** Milliseconds in which the process had nothing to do. */
  readonly idleMs: () => number
  /** Reads and indexes a feed; absent: in a thread. */
  readonly loadFeed?: AppOptions['loadFeed']
  /** Sends the requests to the provider; absent: a pool of connections. */
  readonly dispatcher?: AppOptions['dispatcher']
  /** Makes the connections to the brokers; absent: those of Node. */
  readonly sockets?: KafkaSettings['sockets']
}

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
  /** Loaded if absent. */
  readonly files?: Files
  readonly runtime: Runtime
}

export const runAlone = (config: Config, options: RunOptions): Promise<WorkerFailure | undefined> =>
  withScope((scope) => runIn(scope, config, options))

/** Opens the components of a worker in order of dependency. */
const runIn = async (
  scope: Scope,
  config: Config,
  { env, signal, watch, files = accepted<Files>(loadFiles(config)), runtime }: RunOptions,
): Promise<WorkerFailure | undefined> => {
  const { emit, hooks } = watch
  const { clock, random, idleMs, loadFeed, dispatcher, sockets } = runtime
  scope.defer(() => {
    watch.flush()
    watch.logTotals()
  })
  const settings = { ...connectedSettingsOf(config, { env, emit }), sockets }
  const isComplete = config.enrich.mode === 'complete'
  const news = createAppNews()
  const { counts, retro } = createCounting(config, files.table, { clock, random, emit })
  news.subscribe('feeds changed', retro.feedsChanged)
  news.subscribe('accused', retro.answered)
  const alerts = scope.use(await openRunAlerts(config, { env, clock, emit, files, alerted: watch.alerted }))
  const app = scope.use(
    accepted<App>(
      await openApp(config, {
        ...hooks,
        env,
        clock,
        random,
        idleMs,
        loadFeed,
        dispatcher,
        emit,
        files,
        news,
        names: alerts?.names,
        verdicts: verdictsOf(settings, { now: clock.now, emit }),
        mode: isComplete ? 'complete' : 'live',
        asksLater: settings.alertsTopic !== '' || settings.correctionsTopic !== '',
        waitsOutOutages: isComplete,
      }),
    ),
  )
  const { live, catchUp, throughOutages } = app.waits
  const brokers = scope.use(openBrokerWatch(settings, emit, clock.now))
  const health = recordHealth(clock.now, brokers)
  scope.use(
    await watch.serve({
      provider: app.admission?.state,
      consumer: health.read,
      feeds: () => app.feeds.status().map((feed) => ({ ...feed, use: watch.feedUse(feed.name) })),
      geo: app.geo?.status,
      sources: config.intel.sources.length > 0 ? app.sources : undefined,
      rules: alerts?.rules,
      seenOf: (value) => seenIn(counts, value),
    }),
  )
  emit({ event: 'started', command: 'run' })
  const ended = await runTopics({
    settings,
    brokers,
    health,
    placement: config.output.placement,
    key: config.output.key,
    pipeline: app.observedPipeline(watch.observe),
    waitOf: ({ events, lag, goesOn }) =>
      isComplete ? throughOutages(goesOn) : events + lag > settings.limits.behindEvents ? catchUp(goesOn) : live,
    mayRaise: alerts?.mayRaise,
    alerts,
    // Not observed, because these events were counted at delivery.
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
    emit,
    now: clock.now,
    signal,
  })
  if (ended.how === 'stopped') return undefined
  return { sentence: ended.sentence, code: ended.needsOperator ? exitCodes.configuration : exitCodes.failure }
}

/** Sightings of a value in this process's partitions. */
const seenIn = (counted: CountedPartitions, value: string): readonly SeenIn[] =>
  [...counted.all()].flatMap(({ name, counts }) => {
    const seen = counts().seen({ type: parseAddress(value) === undefined ? 'domain' : 'ip', value })
    return seen ? [{ partition: name, ...seen }] : []
  })
