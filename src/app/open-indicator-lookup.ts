// Everything below `enrich`, from the configuration: gate, feeds, memory, admission and the provider.
import { readText } from '../config/load-config.js'
import { feedsFolder, memoryFolder } from '../config/memory-folder.js'
import type { Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { Decide } from '../domain/decision.js'
import { unknownOf, type Known } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { worstLevel } from '../domain/judge.js'
import type { Lookup } from '../domain/lookup.js'
import { loadSafeguard } from '../feeds/load-lists.js'
import type { Load } from '../feeds/load-in-thread.js'
import { openFeeds, type Feeds } from '../feeds/open-feeds.js'
import { approve } from '../lookup/approve.js'
import { createBulkLookup } from '../bulk/bulk-lookup.js'
import { type BulkLookup, type LookupStack, type LookupWatch, stack } from '../lookup/stack.js'
import { feeds } from '../lookup/feeds.js'
import { gate } from '../lookup/gate.js'
import { openLookup } from '../lookup/open-lookup.js'
import { indicators } from '../lookup/question.js'
import type { Client } from '../provider/client.js'
import { createDownload } from '../provider/download.js'
import { meetsSettings } from '../provider/meets-settings.js'
import { providerSource, type SourceSettings } from '../provider/provider-source.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import type { OpenVerdicts, Verdicts } from '../verdicts/open-verdicts.js'
import { limits as ownLimits, lookupSettingsOf, type Limits } from './limits.js'
import { tableOf } from './open-table.js'
import { openClient, type ClientOptions } from './provider-client.js'

export type IndicatorLookup = {
  readonly lookup: Lookup
  readonly feeds: Feeds
  /** The state of the API key; absent where no provider is configured. */
  readonly admission?: LookupStack<Indicator>['admission']
  readonly close: () => Promise<void>
}

export type LookupOptions = LookupWatch &
  Pick<ClientOptions, 'dispatcher'> & {
    /** Called when a feed was swapped or an entry of one became valid. */
    readonly feedsChanged?: () => void
    /** Called with every answer of the provider that is remembered and malicious in some role. */
    readonly accused?: (asked: Indicator, finding: Known) => void
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
  const known = [gate(decide), feeds(local.match, local.isMissing)] as const
  // Without a provider an unlisted indicator is unknown, never clean.
  if (!client)
    return { lookup: stack(...known)(() => unknownOf('not_listed')), feeds: local, close: () => local.close() }

  const now = (): number => clock.now()
  const table = tableOf(config)
  const domain = { ...config.intel.domain, maxAgeDays: table.maxAgeDays, scanPollMs: limits.scanPollMs }
  const settings: SourceSettings = { ...config.intel, domain }
  const source = providerSource(client, settings, now, emit)
  const bulk = openBulk(config, settings, client, options)
  // A gateway on a socket of this machine is known to take it.
  if (client.bulk.isOffered()) await bulk?.open()
  let tell: Verdicts['paid'] = () => undefined
  const opened = await openLookup(
    lookupSettingsOf(config, limits, {
      maxEntries: config.memory.maxEntries,
      forOutages: options.waitsOutOutages !== true,
    }),
    {
      type: indicators,
      outer: known,
      source: options.approve ? approve(options.approve)(source) : source,
      clock,
      random,
      emit,
      watch: options,
      bulk,
      paid: options.verdicts && ((asked, finding) => tell(asked, finding)),
      learnt: (asked, finding) => {
        if (finding.status === 'known' && worstLevel(finding, asked, table, now()) === 'malicious')
          options.accused?.(asked, finding)
      },
    },
    {
      ...memoryFolder(config, options.env),
      isReader: options.replay !== undefined,
      classify: (finding, about) => worstLevel(finding, about, table, now()),
    },
  )
  if ('problem' in opened) {
    await Promise.all([local.close(), client.close()])
    return { problems: [{ setting: 'memory.path', message: opened.problem }] }
  }
  const { lookup, admission, learn, memory } = opened
  const verdicts = await options.verdicts?.({
    learn: (asked, finding, isJustNow) =>
      meetsSettings(asked, finding, settings, now()) && learn(asked, finding, isJustNow),
    isFull: () => memory.size() >= config.memory.maxEntries,
    touch: (asked) => void memory.get(indicators.keyOf(asked)),
  })
  if (verdicts) tell = verdicts.paid
  const close = async (): Promise<void> => {
    bulk?.close()
    await Promise.all([local.close(), client.close()])
    // After the client: an answer that arrives while this process ends was paid for too.
    await verdicts?.close()
    await opened.close()
  }
  return { lookup, feeds: local, admission, close }
}

/** Where calls are counted or asked for here, each is made from here. */
const openBulk = (
  { admit }: Config,
  settings: SourceSettings,
  { bulk }: Client,
  { approve: isAsked, clock = systemClock, emit = ignoreTelemetry, limits: { admission } = ownLimits }: LookupOptions,
): BulkLookup<Indicator> | undefined => {
  if (isAsked || admit.perRun > 0 || admit.perHour > 0 || admit.perDay > 0) return undefined
  return createBulkLookup({
    isOffered: bulk.isOffered,
    connect: () => bulk.connect(settings),
    isOneOfSeveral: bulk.isOneOfSeveral,
    // A scan is started and followed one call at a time, and written down here.
    takes: ({ type }) => type === 'ip' || settings.domain.scan === 'off',
    maxOpen: admission.maxWaiting,
    giveUpMs: admission.callTimeoutMs,
    clock,
    emit,
  })
}
