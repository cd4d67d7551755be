// Builds all layers below `enrich` from the configuration: gate, feeds, memory, admission and the provider.
import { budgetOf } from '../config/budget.js'
import { accepted, attempt } from '../config/load-config.js'
import { feedsFolder, memoryFolder } from '../config/memory-folder.js'
import { openParts, type Scope } from '../base/scope.js'
import { ConfigurationError, type Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { Decide, IndicatorList } from '../domain/decision.js'
import type { JudgementTable } from '../domain/judgement-table.js'
import { readAddress } from '../domain/address.js'
import { sourceIdOf, unknownOf, type Finding, type Known, type Level } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { worstLevel } from '../domain/judge.js'
import type { Lookup, Source } from '../domain/lookup.js'
import type { ProviderState } from '../domain/provider-state.js'
import type { Load } from '../feeds/load-in-thread.js'
import { openFeeds, type Feeds } from '../feeds/open-feeds.js'
import { approve } from '../lookup/approve.js'
import { createHidePeer } from '../bulk/hide-peer.js'
import { createBulkLookup } from '../bulk/bulk-lookup.js'
import type { BulkSettings } from '../bulk/protocol.js'
import { type BulkLookup, type LookupStack, type LookupWatch, stack } from '../lookup/stack.js'
import { feeds } from '../lookup/feeds.js'
import { gate } from '../lookup/gate.js'
import { joinSources } from '../lookup/join-sources.js'
import { openLookup } from '../lookup/open-lookup.js'
import { indicators } from '../lookup/question.js'
import type { Client } from '../provider/client.js'
import { createDownload } from '../provider/download.js'
import { createIsAccused } from '../provider/is-accused.js'
import { meetsSettings } from '../provider/meets-settings.js'
import { providerSource, type SourceSettings } from '../provider/provider-source.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import type { OpenVerdicts } from '../verdicts/open-verdicts.js'
import { limits as ownLimits, lookupSettingsOf, type Limits } from './limits.js'
import { loadFiles, type Files } from './load-files.js'
import { createAppNews, type AppNews } from './app-news.js'
import { openSources, type SourceStatus } from './open-sources.js'
import type { SourceSaid } from '../terminal/verdict-card.js'
import { openClient, type ClientOptions } from './provider-client.js'

type Layers = {
  readonly lookup: Lookup
  readonly feeds: Feeds
  /** State of the API key; absent without a provider. */
  readonly admission?: LookupStack<Indicator>['admission']
  /** When to expect an answer, and how those who are asked are doing, sources included; absent where nobody is asked. */
  readonly asked?: { readonly estimateMs: (key: string) => number | undefined; readonly state: () => ProviderState }
  readonly sources: () => readonly SourceStatus[]
  /** The remembered answer of each source that takes the indicator. */
  readonly saidBySources: (indicator: Indicator) => readonly SourceSaid[]
}

export type IndicatorLookup = Layers & { readonly close: () => Promise<void> }

export type LookupOptions = LookupWatch &
  Pick<ClientOptions, 'dispatcher'> & {
    /** Announces what the program learns while it runs. */
    readonly news?: AppNews
    /** Loaded if absent. */
    readonly files?: Files
    readonly emit?: Emit
    readonly clock?: Clock
    readonly random?: () => number
    /** Loads and indexes a feed; by default in a thread. */
    readonly loadFeed?: Load | undefined
    /** Limits other than the program's own, for tests. */
    readonly limits?: Limits
    /** Events wait until the provider is back, so an outage causes no cooldown. */
    readonly waitsOutOutages?: boolean
    readonly urgency?: 'live' | 'replay'
    /** Set for a replay; `isAnnotated` if the events already carry our annotation. */
    readonly replay?: { readonly id: string; readonly isAnnotated: boolean }
    /** If false, existing copies of feeds with a URL are used without fetching them. */
    readonly fetchesFeeds?: boolean
    /** For proxy variables and the default memory folder. */
    readonly env: Readonly<Record<string, string | undefined>>
    /** Shares paid answers with the other processes of the fleet. */
    readonly verdicts?: OpenVerdicts | undefined
    /** Called once before the first paid call. */
    readonly approve?: () => Promise<boolean>
  }

export const openIndicatorLookup = (
  config: Config,
  decide: Decide,
  options: LookupOptions,
): Promise<IndicatorLookup | Refused> => attempt(() => openParts((scope) => openLayers(scope, config, decide, options)))

/** Opens the feeds first. Sources and provider end their calls before the stores for their answers close. */
const openLayers = async (scope: Scope, config: Config, decide: Decide, options: LookupOptions): Promise<Layers> => {
  const { emit = ignoreTelemetry, clock = systemClock, random = Math.random, limits = ownLimits } = options
  const { news = createAppNews(), env } = options
  const opened = openClient(config, options)
  const client = scope.use(opened && accepted<Client>(opened))
  const { table, safeguard, sources: configured } = options.files ?? accepted<Files>(loadFiles(config))
  const local = scope.use(
    await openFeeds(config.feeds, {
      emit,
      clock,
      random,
      ...(options.loadFeed && { load: options.loadFeed }),
      safeguard,
      changed: () => news.announce('feeds changed'),
      fetching: {
        folder: feedsFolder(config, env),
        download: options.fetchesFeeds === false ? undefined : createDownload(env),
      },
    }),
  )
  const now = (): number => clock.now()
  const isAccused = createIsAccused(table, now)
  const { classify, learnt } = createLearning(table, now, news)
  const paid = options.verdicts && ((asked: Indicator, finding: Finding): void => news.announce('paid', asked, finding))
  const approval = options.approve && once(options.approve)
  const folder = memoryFolder(config, env)
  const isReader = options.replay !== undefined
  const waitsOutOutages = options.waitsOutOutages === true
  const settings = sourceSettingsOf(config, table, limits)
  const { maxEntries } = config.memory
  const around = { clock, random, emit, paid, learnt }
  const sources = await openSources(scope, configured, {
    ...around,
    bulkOf: client && ((id, takes) => bulkOfSource(client, { ...settings, source: id }, takes, config, options)),
    env,
    limits,
    maxEntries,
    folder,
    isReader,
    waitsOutOutages,
    classify,
    approve: approval,
  })
  const known = [gate(decide), feeds(local.match, local.isMissing)] as const
  const isSafeguarded = (indicator: Indicator): boolean => isIn(safeguard, indicator)
  const outer =
    sources.length === 0
      ? known
      : ([...known, joinSources(sources, { classify, isSafeguarded, hasMain: client !== undefined })] as const)
  const bulk = scope.use(client && openBulk(config, settings, client, options))
  // A gateway on a local socket always supports bulk lookups.
  if (client?.bulk.isOffered()) await bulk?.open()
  const main =
    client &&
    (await openLookup(
      lookupSettingsOf(config, limits, {
        maxEntries,
        forOutages: !waitsOutOutages,
        isGateway: client.bulk.isOffered,
      }),
      {
        ...around,
        type: indicators,
        outer,
        source: approved(approval, providerSource(client, settings, isAccused, now, emit)),
        watch: options,
        bulk,
      },
      {
        ...folder,
        isReader,
        classify,
        isWhole: (asked, finding) => meetsSettings(asked, finding, settings, isAccused, now()),
      },
    ))
  if (main && 'problem' in main) throw new ConfigurationError([{ setting: 'memory.path', message: main.problem }])
  scope.use(main)
  const takesVerdicts = main !== undefined || sources.length > 0
  if (takesVerdicts && options.verdicts) {
    const scans = settings.domain.scan !== 'off'
    const shared = scope.use(await options.verdicts(takeVerdicts({ main, sources, scans, maxEntries })))
    news.subscribe('paid', shared.paid)
  }
  // Answers that arrive during shutdown were paid for too, so they are stored and shared.
  scope.defer(async () => {
    bulk?.close()
    await Promise.all([client?.close(), ...sources.map(({ endCalls }) => endCalls())])
  })
  const admissions = [...(main ? [main.admission] : []), ...sources.map(({ admission }) => admission)]
  return {
    feeds: local,
    sources: () => sources.map(({ status }) => status()),
    saidBySources: (indicator) =>
      sources.filter(({ takes }) => takes(indicator)).map(({ id, ask, said }) => ({ id, ask, said: said(indicator) })),
    // Without a provider, an unlisted indicator is unknown, never clean.
    lookup: main ? main.lookup : stack(...outer)(() => unknownOf('not_listed')),
    ...(main && { admission: main.admission }),
    ...(admissions.length > 0 && { asked: askedOf(admissions) }),
  }
}

const sourceSettingsOf = (
  { intel }: Config,
  { maxAgeDays }: JudgementTable,
  { scanPollMs }: Limits,
): SourceSettings => ({ ...intel, domain: { ...intel.domain, maxAgeDays, scanPollMs } })

/** What a finding means here, and the news of each that is remembered. */
const createLearning = (table: JudgementTable, now: () => number, news: AppNews) => {
  const classify = (finding: Known, about: Indicator): Level => worstLevel(finding, about, table, now())
  const learnt = (asked: Indicator, finding: Finding): void => {
    if (finding.status === 'known' && classify(finding, asked) === 'malicious') news.announce('accused', asked, finding)
    news.announce('answered', asked)
  }
  return { classify, learnt }
}

const isIn = ({ names, ranges }: IndicatorList, { type, value }: Indicator): boolean => {
  const address = type === 'ip' ? readAddress(value) : undefined
  return address === undefined ? names.has(value) : ranges.has(address)
}

const approved = <Ask extends Source>(approval: (() => Promise<boolean>) | undefined, source: Ask): Ask | Source =>
  approval ? approve(approval)(source) : source

type Takers = {
  /** The memory of the provider's answers; absent without a provider. */
  readonly main: MainMemory | undefined
  readonly sources: Awaited<ReturnType<typeof openSources>>
  /** This process scans names that have no report. */
  readonly scans: boolean
  /** Maximum number of findings in each memory. */
  readonly maxEntries: number
}

type MainMemory = {
  readonly learn: LookupStack<Indicator>['learn']
  readonly memory: { readonly size: () => number; readonly get: (key: string) => unknown }
}

/** Stores answers that other processes paid for in the memory of their provider or source. */
const takeVerdicts = ({ main, sources, scans, maxEntries }: Takers): Parameters<OpenVerdicts>[0] => ({
  learn: (asked, finding, isJustNow) => {
    const id = sourceIdOf(finding)
    // Drops findings of sources that are not configured here.
    if (id !== undefined || !main)
      return sources.find((each) => each.id === id)?.learn(asked, finding, isJustNow) ?? false
    // This process scans names without a report itself.
    if (asked.type === 'domain' && scans) return false
    return main.learn(asked, finding, isJustNow)
  },
  isFull: () => (main ? main.memory.size() >= maxEntries : sources.every((each) => each.memorySize() >= maxEntries)),
  touch: (asked) => {
    if (main) main.memory.get(indicators.keyOf(asked))
    else for (const { said } of sources) said(asked)
  },
})

/** An answer is complete when the slowest of those called has answered. The state is that of the first, the main one. */
const askedOf = (
  admissions: readonly LookupStack<Indicator>['admission'][],
): { readonly estimateMs: (key: string) => number | undefined; readonly state: () => ProviderState } => {
  const [first] = admissions
  if (first && admissions.length === 1) return first
  return {
    estimateMs: (key) => {
      let longest: number | undefined
      for (const { estimateMs } of admissions) {
        const ms = estimateMs(key)
        if (ms !== undefined && ms > (longest ?? -1)) longest = ms
      }
      return longest
    },
    state: () => {
      const states = admissions.map(({ state }) => state())
      const sum = (read: (state: ProviderState) => number): number =>
        states.reduce((total, state) => total + read(state), 0)
      const main = states[0] as ProviderState
      return { ...main, waiting: sum(({ waiting }) => waiting), inFlight: sum(({ inFlight }) => inFlight) }
    },
  }
}

/** Asks once and shares the answer among all callers. */
const once = (ask: () => Promise<boolean>): (() => Promise<boolean>) => {
  let answer: Promise<boolean> | undefined
  return () => (answer ??= ask())
}

/** No bulk lookups if this process counts or confirms every call. */
const openBulk = (
  config: Config,
  settings: SourceSettings,
  { bulk }: Client,
  options: LookupOptions,
): BulkLookup<Indicator> | undefined => {
  const { perRun, perHour, perDay, isDefault } = budgetOf(config.admit)
  if (options.approve || (!isDefault && (perRun > 0 || perHour > 0 || perDay > 0))) return undefined
  return createBulkLookup({
    isOffered: bulk.isOffered,
    connect: () => bulk.connect(settings),
    isOneOfSeveral: bulk.isOneOfSeveral,
    // A scan is started and polled with single calls, and recorded here.
    takes: ({ type }) => type === 'ip' || settings.domain.scan === 'off',
    ...bulkBounds(config, options),
  })
}

/** Bulk lookups for a source that a gateway calls for us. */
const bulkOfSource = (
  client: Client,
  settings: BulkSettings,
  takes: (indicator: Indicator) => boolean,
  config: Config,
  options: LookupOptions,
): BulkLookup<Indicator> =>
  createBulkLookup({
    isOffered: () => true,
    connect: () => client.bulk.connect(settings),
    takes,
    ...bulkBounds(config, options),
  })

const bulkBounds = (
  { intel }: Config,
  {
    clock = systemClock,
    emit = ignoreTelemetry,
    limits: { admission } = ownLimits,
  }: { readonly clock?: Clock; readonly emit?: Emit; readonly limits?: Limits },
) => ({
  hidePeer: createHidePeer(intel.service.apiKey),
  maxOpen: admission.maxWaiting,
  giveUpMs: admission.callTimeoutMs,
  clock,
  emit,
})
