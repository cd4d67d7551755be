// Everything below `enrich`, from the configuration: gate, feeds, memory, admission and the provider.
import { budgetOf } from '../config/budget.js'
import { readText } from '../config/load-config.js'
import { feedsFolder, memoryFolder } from '../config/memory-folder.js'
import type { Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { Decide } from '../domain/decision.js'
import { readAddress } from '../domain/address.js'
import { sourceIdOf, unknownOf, type Finding, type Known, type Level } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { worstLevel } from '../domain/judge.js'
import type { Lookup } from '../domain/lookup.js'
import type { ProviderState } from '../domain/provider-state.js'
import { loadSafeguard } from '../feeds/load-lists.js'
import type { Load } from '../feeds/load-in-thread.js'
import { openFeeds, type Feeds } from '../feeds/open-feeds.js'
import { approve } from '../lookup/approve.js'
import { createHidePeer } from '../bulk/hide-peer.js'
import { createBulkLookup } from '../bulk/bulk-lookup.js'
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
import type { OpenVerdicts, Verdicts } from '../verdicts/open-verdicts.js'
import { limits as ownLimits, lookupSettingsOf, type Limits } from './limits.js'
import { loadSources } from './load-sources.js'
import { openSources, type SourceStatus } from './open-sources.js'
import type { SourceSaid } from '../terminal/verdict-card.js'
import { tableOf } from './open-table.js'
import { openClient, type ClientOptions } from './provider-client.js'

export type IndicatorLookup = {
  readonly lookup: Lookup
  readonly feeds: Feeds
  /** The state of the API key; absent where no provider is configured. */
  readonly admission?: LookupStack<Indicator>['admission']
  /** When to expect an answer, and how those who are asked are doing, sources included; absent where nobody is asked. */
  readonly asked?: Pick<LookupStack<Indicator>['admission'], 'estimateMs' | 'state'>
  readonly sources: () => readonly SourceStatus[]
  /** What each source that could be asked said about it, as far as that is remembered. */
  readonly saidBySources: (indicator: Indicator) => readonly SourceSaid[]
  readonly close: () => Promise<void>
}

export type LookupOptions = LookupWatch &
  Pick<ClientOptions, 'dispatcher'> & {
    /** Called when a feed was swapped or an entry of one became valid. */
    readonly feedsChanged?: () => void
    /** Called with every answer of the provider that is remembered and malicious in some role. */
    readonly accused?: (asked: Indicator, finding: Known) => void
    /** Called with what every answer that is remembered is about. */
    readonly answered?: (asked: Indicator) => void
    readonly emit?: Emit
    readonly clock?: Clock
    readonly random?: () => number
    /** Reads and indexes a feed; absent: in a thread. */
    readonly loadFeed?: Load | undefined
    /** Other bounds than the program's own, for tests. */
    readonly limits?: Limits
    /** Events wait until the provider is back, so an outage causes no cooldown. */
    readonly waitsOutOutages?: boolean
    readonly urgency?: 'live' | 'replay'
    /** Set for a replay; `isAnnotated` if the events already carry our annotation. */
    readonly replay?: { readonly id: string; readonly isAnnotated: boolean }
    /** False: the copies of feeds with a URL are used as they are. */
    readonly fetchesFeeds?: boolean
    /** For proxy variables and the default memory folder. */
    readonly env: Readonly<Record<string, string | undefined>>
    /** Shares what is paid for with the other processes of the fleet. */
    readonly verdicts?: OpenVerdicts | undefined
    /** Called once before the first paid call. */
    readonly approve?: () => Promise<boolean>
  }

export const openIndicatorLookup = async (
  config: Config,
  decide: Decide,
  options: LookupOptions,
): Promise<IndicatorLookup | Refused> => {
  const { emit = ignoreTelemetry, clock = systemClock, random = Math.random, limits = ownLimits, loadFeed } = options
  const client = openClient(config, options)
  if (client && 'problems' in client) return client
  const safeguard = loadSafeguard(config.intel.safeguard, readText)
  if ('problems' in safeguard) {
    await client?.close()
    return safeguard
  }
  const configured = loadSources(config)
  if ('problems' in configured) {
    await client?.close()
    return configured
  }
  const local = await openFeeds(config.feeds, {
    emit,
    clock,
    random,
    ...(loadFeed && { load: loadFeed }),
    safeguard,
    changed: options.feedsChanged,
    fetching: {
      folder: feedsFolder(config, options.env),
      download: options.fetchesFeeds === false ? undefined : createDownload(options.env),
    },
  })
  const now = (): number => clock.now()
  const table = tableOf(config)
  const isAccused = createIsAccused(table, now)
  const classify = (finding: Known, about: Indicator): Level => worstLevel(finding, about, table, now())
  const learnt = (asked: Indicator, finding: Finding): void => {
    if (finding.status === 'known' && classify(finding, asked) === 'malicious') options.accused?.(asked, finding)
    options.answered?.(asked)
  }
  const approval = options.approve && once(options.approve)
  let tell: Verdicts['paid'] = () => undefined
  const paid = options.verdicts && ((asked: Indicator, finding: Finding): void => tell(asked, finding))
  const folder = memoryFolder(config, options.env)
  const domain = { ...config.intel.domain, maxAgeDays: table.maxAgeDays, scanPollMs: limits.scanPollMs }
  const settings: SourceSettings = { ...config.intel, domain }
  const sources = await openSources(configured, config.memory, {
    bulkOf:
      client &&
      ((id, takes) =>
        createBulkLookup({
          isOffered: () => true,
          connect: () => client.bulk.connect({ ...settings, source: id }),
          takes,
          ...bulkBounds(config, options),
        })),
    env: options.env,
    clock,
    random,
    emit,
    limits,
    folder,
    isReader: options.replay !== undefined,
    waitsOutOutages: options.waitsOutOutages === true,
    classify,
    approve: approval,
    learnt,
    paid,
  })
  if ('problems' in sources) {
    await Promise.all([local.close(), client?.close()])
    return sources
  }
  const known = [gate(decide), feeds(local.match, local.isMissing)] as const
  const isSafeguarded = ({ type, value }: Indicator): boolean => {
    const address = type === 'ip' ? readAddress(value) : undefined
    return address === undefined ? safeguard.names.has(value) : safeguard.ranges.has(address)
  }
  const joined =
    sources.length === 0
      ? known
      : ([...known, joinSources(sources, { classify, isSafeguarded, hasMain: client !== undefined })] as const)
  const closeSources = (): Promise<unknown> => Promise.all(sources.map(({ close }) => close()))
  const about = {
    feeds: local,
    sources: () => sources.map(({ status }) => status()),
    saidBySources: (indicator: Indicator) =>
      sources.filter(({ takes }) => takes(indicator)).map(({ id, ask, said }) => ({ id, ask, said: said(indicator) })),
  }

  /** Of a source that is not configured here nothing is kept. */
  const learnSource = (id: string, asked: Indicator, finding: Finding, isJustNow: boolean): boolean =>
    sources.find((each) => each.id === id)?.learn(asked, finding, isJustNow) ?? false

  // Without a provider an unlisted indicator is unknown, never clean.
  if (!client) {
    const verdicts =
      sources.length === 0
        ? undefined
        : await options.verdicts?.({
            learn: (asked, finding, isJustNow) => learnSource(sourceIdOf(finding) ?? '', asked, finding, isJustNow),
            isFull: () => sources.every(({ memorySize }) => memorySize() >= config.memory.maxEntries),
            touch: (indicator) => {
              for (const { said } of sources) said(indicator)
            },
          })
    if (verdicts) tell = verdicts.paid
    return {
      ...about,
      lookup: stack(...joined)(() => unknownOf('not_listed')),
      ...(sources.length > 0 && { asked: askedOf(sources.map(({ admission }) => admission)) }),
      close: async () => {
        await Promise.all([local.close(), closeSources()])
        await verdicts?.close()
      },
    }
  }

  const source = providerSource(client, settings, isAccused, now, emit)
  const bulk = openBulk(config, settings, client, options)
  // A gateway on a socket of this machine is known to take it.
  if (client.bulk.isOffered()) await bulk?.open()
  const opened = await openLookup(
    lookupSettingsOf(config, limits, {
      maxEntries: config.memory.maxEntries,
      forOutages: options.waitsOutOutages !== true,
      isGateway: client.bulk.isOffered,
    }),
    {
      type: indicators,
      outer: joined,
      source: approval ? approve(approval)(source) : source,
      clock,
      random,
      emit,
      watch: options,
      bulk,
      paid,
      learnt,
    },
    {
      ...folder,
      isReader: options.replay !== undefined,
      classify,
      isWhole: (asked, finding) => meetsSettings(asked, finding, settings, isAccused, now()),
    },
  )
  if ('problem' in opened) {
    await Promise.all([local.close(), client.close(), closeSources()])
    return { problems: [{ setting: 'memory.path', message: opened.problem }] }
  }
  const { lookup, admission, learn, memory } = opened
  const verdicts = await options.verdicts?.({
    learn: (asked, finding, isJustNow) => {
      const id = sourceIdOf(finding)
      if (id !== undefined) return learnSource(id, asked, finding, isJustNow)
      // A name that nobody has a report of is scanned from here.
      if (asked.type === 'domain' && domain.scan !== 'off') return false
      return learn(asked, finding, isJustNow)
    },
    isFull: () => memory.size() >= config.memory.maxEntries,
    touch: (asked) => void memory.get(indicators.keyOf(asked)),
  })
  if (verdicts) tell = verdicts.paid
  const close = async (): Promise<void> => {
    bulk?.close()
    await Promise.all([local.close(), client.close(), closeSources()])
    // After the client: an answer that arrives while this process ends was paid for too.
    await verdicts?.close()
    await opened.close()
  }
  return {
    ...about,
    lookup,
    admission,
    asked: askedOf([admission, ...sources.map(({ admission: own }) => own)]),
    close,
  }
}

/** An answer is there when the last of those that are asked has answered; the first of them is the one that matters most. */
const askedOf = (
  admissions: readonly LookupStack<Indicator>['admission'][],
): Pick<LookupStack<Indicator>['admission'], 'estimateMs' | 'state'> => {
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

/** Whoever asks first is asked for all. */
const once = (ask: () => Promise<boolean>): (() => Promise<boolean>) => {
  let answer: Promise<boolean> | undefined
  return () => (answer ??= ask())
}

/** Where calls are counted or asked for here, each is made from here. */
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
    // A scan is started and followed one call at a time, and written down here.
    takes: ({ type }) => type === 'ip' || settings.domain.scan === 'off',
    ...bulkBounds(config, options),
  })
}

const bulkBounds = (
  { intel }: Config,
  {
    clock = systemClock,
    emit = ignoreTelemetry,
    limits: { admission } = ownLimits,
  }: Pick<LookupOptions, 'clock' | 'emit' | 'limits'>,
) => ({
  hidePeer: createHidePeer(intel.service.apiKey),
  maxOpen: admission.maxWaiting,
  giveUpMs: admission.callTimeoutMs,
  clock,
  emit,
})
