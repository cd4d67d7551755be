// Opens the lookup server or the gateway from the configuration.
import { limits as ownLimits, lookupSettingsOf, type Limits } from './limits.js'
import { connectedSettingsOf } from './connected-settings.js'
import { budgetOf } from '../config/budget.js'
import { accepted } from '../config/load-config.js'
import { openParts, type Scope } from '../base/scope.js'
import { joinGateways, type Gateways } from './join-gateways.js'
import { createIsAccused } from '../provider/is-accused.js'
import { createAnswerReader } from '../provider/answer-reader.js'
import { bundledProfile } from './open-profile.js'
import { openClient, type ClientOptions } from './provider-client.js'
import { createAppNews, type AppNews } from './app-news.js'
import { loadFiles, type Files } from './load-files.js'
import { openSources, type SourceStatus } from './open-sources.js'
import { ConfigurationError, type Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../base/clock.js'
import { verdictsProblems, type KafkaSettings } from '../kafka/settings.js'
import { sourceIdOf, type Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { worstLevel } from '../domain/judge.js'
import type { Client } from '../provider/client.js'
import type { SharedVerdicts } from '../bulk/accept-bulk.js'
import { createDownload } from '../provider/download.js'
import type { LookupWatch } from '../lookup/stack.js'
import { openGateway, type Gateway } from '../server/gateway/gateway.js'
import { createSharedVerdicts } from '../server/gateway/shared-verdicts.js'
import {
  openServerState,
  serverLimits,
  startServer,
  type LookupServer,
  type ServeSettings,
} from '../server/start-server.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { verdictsOf } from '../verdicts/open-verdicts.js'

export type OpenServer = LookupServer & {
  /** The other providers that it calls; absent if there are none. */
  readonly sources?: () => readonly SourceStatus[]
}

export type OpenServerOptions = {
  /** For proxy variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly emit?: Emit
  readonly clock?: Clock
  /** Limits other than the program's own, for tests. */
  readonly limits?: Limits
  readonly watch?: LookupWatch | undefined
  /** A Unix socket path to listen on instead of host and port. */
  readonly socket?: string
}

/** The client of a gateway: like the pipeline's, but it calls `serve.upstream`. */
export const openUpstream = (config: Config, options: ClientOptions): Client | Refused => {
  const { serve, intel } = config
  // The gateway of workers calls the same endpoints as the workers would, possibly several gateways.
  const otherUrls = serve.upstream === intel.service.baseUrl ? intel.service.otherUrls : []
  const client = openClient(
    { ...config, intel: { ...intel, service: { ...intel.service, baseUrl: serve.upstream, otherUrls } } },
    options,
  )
  if (!client)
    return {
      problems: [{ setting: 'intel.service.apiKey', message: 'is needed by a gateway: its own key at the provider' }],
    }
  if (!('problems' in client)) return client
  return {
    problems: client.problems.map((problem) =>
      problem.setting === 'intel.service.baseUrl' ? { ...problem, setting: 'serve.upstream' } : problem,
    ),
  }
}

/** A gateway stores whole answers, each as large as several findings. */
const findingsPerAnswer = 5

/** Opens a gateway if `serve.upstream` is set. Throws if it cannot start. */
export const openServer = (config: Config, options: OpenServerOptions, version: string): Promise<OpenServer> =>
  openParts((scope) => openServerParts(scope, config, options, version))

const openServerParts = async (
  scope: Scope,
  config: Config,
  { env, emit = ignoreTelemetry, clock = systemClock, limits = ownLimits, watch, socket }: OpenServerOptions,
  version: string,
): Promise<OpenServer> => {
  const isGateway = config.serve.upstream !== ''
  const files = accepted<Files>(loadFiles(config))
  const settings = serveSettingsOf(config)
  const state = await openServerState(scope, settings, emit)
  const around = { env, emit, clock, limits, watch }
  const news = createAppNews()
  const kafka = connectedSettingsOf(config, { env, emit })
  const sharing = isGateway ? await openSharing(scope, config, kafka, files, news, around) : undefined
  // Only after loading the shared answers, because an elected gateway starts calling at once.
  const gateways =
    isGateway && config.kafka.gatewaysTopic !== ''
      ? scope.use(await joinGateways(config, kafka, { clock, limits, emit }))
      : undefined
  const gateway = isGateway
    ? scope.use(await openOwnGateway(config, files, state.memoryFolder, gateways, around))
    : undefined
  const { table } = files
  const sources = await openSources(scope, files.sources, {
    env,
    clock,
    random: Math.random,
    emit,
    limits,
    maxEntries: config.memory.maxEntries,
    folder: { path: state.memoryFolder, isNamed: true },
    isReader: false,
    waitsOutOutages: config.enrich.mode === 'complete',
    classify: (finding, about) => worstLevel(finding, about, table, clock.now()),
    approve: undefined,
    learnt: () => undefined,
    paid: sharing && ((asked, finding) => news.announce('paid', asked, finding)),
    permit: gateways?.election.permitUncounted,
  })
  sharing?.learnSources((id, asked, finding) => sources.find((each) => each.id === id)?.learn(asked, finding, false))
  const download = createDownload(env)
  const server = scope.use(
    await startServer(settings, {
      state,
      reader: createAnswerReader(bundledProfile()),
      isAccused: createIsAccused(table, () => clock.now()),
      now: () => clock.now(),
      emit,
      version,
      feeds: config.feeds,
      safeguard: files.safeguard,
      gate: files.gate,
      download: gateways ? gateways.whenCalling(download) : download,
      gateway,
      ...(sources.length > 0 && { sources }),
      shared: sharing?.shared,
      others: gateways?.others,
      ...(socket === undefined ? {} : { socket }),
    }),
  )
  // Leaves the election before the connections end, so that the next gateway can take over at once.
  if (gateways) scope.defer(gateways.close)
  return {
    ...server,
    ...(sources.length > 0 && { sources: () => sources.map((source) => source.status()) }),
  }
}

type Around = {
  readonly env: OpenServerOptions['env']
  readonly clock: Clock
  readonly limits: Limits
  readonly emit: Emit
  readonly watch: LookupWatch | undefined
}

/** Opens the gateway, which calls the provider on behalf of all callers. */
const openOwnGateway = (
  config: Config,
  { table }: Files,
  folder: string,
  gateways: Gateways | undefined,
  { env, clock, limits, emit, watch }: Around,
): Promise<Gateway> => {
  const client = accepted<Client>(openUpstream(config, { env, clock, limits }))
  // Several gateways share one budget, counted where all can read it.
  const counted: Config = gateways ? { ...config, admit: { ...config.admit, perHour: 0, perDay: 'unlimited' } } : config
  const settings = lookupSettingsOf(counted, limits, {
    maxEntries: Math.ceil(config.memory.maxEntries / findingsPerAnswer),
    forOutages: config.enrich.mode !== 'complete',
    isGateway: client.bulk.isOffered,
  })
  return openGateway(
    { ...settings, admit: { ...settings.admit, fleetBudget: budgetOf(config.admit) } },
    {
      client,
      table,
      clock,
      random: Math.random,
      folder,
      emit,
      ...(watch ? { watch } : {}),
      permit: gateways?.election.permit,
    },
  )
}

type Sharing = {
  readonly shared: SharedVerdicts
  /** From now on, passes findings of sources from the topic to `learn`. */
  readonly learnSources: (learn: LearnSource) => void
}
type LearnSource = (id: string, asked: Indicator, finding: Finding) => boolean | undefined

/** Shares the gateway's answers, unless its own intelligence could be mixed into them. */
const openSharing = async (
  scope: Scope,
  config: Config,
  kafka: KafkaSettings,
  { table }: Files,
  news: AppNews,
  { clock, limits, emit }: Around,
): Promise<Sharing | undefined> => {
  const now = (): number => clock.now()
  const problems = verdictsProblems(kafka)
  if (problems.length > 0) throw new ConfigurationError(problems)
  const open = verdictsOf(kafka, { now, emit })
  if (!open) return undefined
  if (config.serve.data !== '' || config.feeds.length > 0) {
    emit({ event: 'verdicts_not_used', message: 'this gateway has intelligence of its own (serve.data or feeds)' })
    return undefined
  }
  const { maxEntries } = config.memory
  const shared = createSharedVerdicts(lookupSettingsOf(config, limits, { maxEntries, forOutages: true }).memory, {
    table,
    now,
    paid: (asked, finding) => news.announce('paid', asked, finding),
  })
  const ofSources = keepForSources(maxEntries)
  const verdicts = scope.use(
    await open({
      ...shared,
      learn: (asked, finding, isJustNow) => {
        const id = sourceIdOf(finding)
        return id === undefined
          ? shared.learn(asked, finding, isJustNow)
          : (ofSources.learn(id, asked, finding) ?? false)
      },
    }),
  )
  news.subscribe('paid', verdicts.paid)
  return { shared, learnSources: ofSources.passTo }
}

/** Buffers findings until the sources are open, then passes them on directly. */
const keepForSources = (maxEntries: number) => {
  const early: Parameters<LearnSource>[] = []
  const learners: LearnSource[] = []
  return {
    learn: (...given: Parameters<LearnSource>): boolean | undefined => {
      const [learn] = learners
      if (learn) return learn(...given)
      if (early.length < maxEntries) early.push(given)
      return false
    },
    passTo: (learn: LearnSource): void => {
      learners.push(learn)
      for (const given of early.splice(0)) learn(...given)
    },
  }
}

/** Server settings, plus fixed limits. */
export const serveSettingsOf = ({ serve }: Pick<Config, 'serve'>): ServeSettings => ({
  ...serve,
  ...serverLimits,
  scan: { ...serverLimits.scan, ...serve.scan },
})
