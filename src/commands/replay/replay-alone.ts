// A replay without a terminal: creates and connects its parts from the configuration, and reads the ranges until their end, a stop, or
// a fatal error.
import { connectedSettingsOf } from '../../app/connected-settings.js'
import type { Alerts } from '../../alerts/open-alerts.js'
import { openAlerting } from '../../app/open-alerting.js'
import { loadFiles, type Files } from '../../app/load-files.js'
import { openApp, type App } from '../../app/open-app.js'
import { withScope } from '../../base/scope.js'
import { readWrittenOf } from '../../app/open-records.js'
import type { RunOptions } from '../../app/run-alone.js'
import { accepted } from '../../config/load-config.js'
import type { Config } from '../../config/schema.js'
import { FatalKafkaError } from '../../kafka/failure.js'
import { openReplay, type OpenReplay, type ReplayRefused } from '../../replay/open-replay.js'
import type { Progress } from '../../replay/replay.js'
import type { Emit } from '../../telemetry/event.js'
import { alertsBefore, raiseOnce } from './replay-alerts.js'
import type { ReplayArguments } from './replay-options.js'
import { createTopFindings, type TopFindings } from './top-findings.js'

export type Surroundings = Pick<RunOptions, 'env' | 'signal' | 'runtime'> & { readonly emit: Emit }

type Work<T> = (opened: OpenReplay) => Promise<T | ReplayRefused>

/** Connects, runs `work` on the ranges and closes; or returns the reason of a refusal. */
export const withReplay = async <T>(
  args: ReplayArguments,
  config: Config,
  around: Surroundings,
  work: Work<T>,
): Promise<T | ReplayRefused> => {
  const done = await tryReplay(args, config, around, work)
  // Brokers may show commits of an earlier start with a delay, so one retry is needed.
  return isOvertaken(done) ? tryReplay(args, config, around, work) : done
}

const isOvertaken = (done: unknown): boolean =>
  typeof done === 'object' && done !== null && 'isOvertaken' in done && done.isOvertaken === true

const tryReplay = async <T>(
  args: ReplayArguments,
  config: Config,
  { env, signal, emit, runtime: { clock, sockets } }: Surroundings,
  work: Work<T>,
): Promise<T | ReplayRefused> => {
  const opened = await openReplay(
    { ...args, groupId: `${config.kafka.groupId}-replay-${args.id}` },
    {
      settings: { ...connectedSettingsOf(config, { env, emit }), sockets },
      placement: config.output.placement,
      key: config.output.key,
      readWritten: readWrittenOf(config),
      emit,
      now: clock.now,
      signal,
    },
  )
  if ('refused' in opened) return opened
  try {
    return await withScope((scope) => work(scope.use(opened)))
  } catch (error) {
    if (!(error instanceof FatalKafkaError)) throw error
    return { refused: `${error.message}; --id ${args.id} continues from here` }
  }
}

export type Replayed = Progress & {
  readonly lookups: number
  readonly found: TopFindings
  readonly alertsTopic: string | undefined
}

/** Annotates the ranges again; calls `moved` after every step with the lookups so far. */
export const replayAlone = (
  opened: OpenReplay,
  args: ReplayArguments,
  config: Config,
  around: Surroundings,
  moved: (progress: Progress, lookups: number) => void,
): Promise<Replayed | ReplayRefused> =>
  withScope(async (scope) => {
    const { plan } = opened
    const { emit, runtime } = around
    const { clock } = runtime
    const former = args.against === undefined ? undefined : await opened.former(args.against)
    if (former && 'refused' in former) return former
    const files = accepted<Files>(loadFiles(config))
    const rules = scope.use(accepted<Alerts>(await openAlerting(config, { emit, clock, files, replayId: args.id })))
    const app = scope.use(await openReplayApp(args, config, around, { files, names: rules.names }))
    const wantsAlerts = args.alerts !== 'none' && rules.status().rules > 0
    const alertsTopic = wantsAlerts ? args.alertsTopic : undefined
    const written = new Set<string>()
    const found = createTopFindings()
    const lookups = (): number => app.admission?.state().spent.run ?? 0
    const outcome = await opened.run({
      pipeline: found.observe(app.pipeline, clock.now),
      ready: () => (plan.isResumed && wantsAlerts ? alertsBefore(opened, args, written) : Promise.resolve()),
      wait: app.waits.complete,
      mayRaise: rules.mayRaise,
      beginAlerts: () => raiseOnce(rules, written),
      raiseAll: args.alerts === 'all',
      alertsTopic,
      former,
      eventsPerSecond: args.eventsPerSecond,
      moved: (progress) => moved(progress, lookups()),
    })
    return 'refused' in outcome ? outcome : { ...outcome, lookups: lookups(), found: found.read(), alertsTopic }
  })

/** Opens the app of a replay: waits for every lookup, yields to live traffic, and respects the limit of lookups. */
export const openReplayApp = async (
  args: ReplayArguments,
  config: Config,
  { env, emit, runtime: { clock, random, idleMs, loadFeed, dispatcher } }: Surroundings,
  {
    files,
    names,
  }: {
    /** Loaded if absent. */
    readonly files?: Files
    /** The names whose values in text the rules need. */
    readonly names?: Alerts['names']
  } = {},
): Promise<App> => {
  const { maxLookups } = args
  const sendsNothing = args.lookups === 'none' || maxLookups === 0 || args.isDryRun
  const budget = maxLookups === undefined || maxLookups === 0 ? {} : { perRun: maxLookups }
  return accepted(
    await openApp(
      { ...config, admit: { ...config.admit, ...budget } },
      {
        mode: 'complete',
        urgency: 'replay',
        env,
        emit,
        clock,
        random,
        idleMs,
        loadFeed,
        dispatcher,
        names,
        ...(files && { files }),
        replay: { id: args.id, isAnnotated: args.kind === 'annotated' },
        ...(sendsNothing && { approve: () => Promise.resolve(false) }),
      },
    ),
  )
}
