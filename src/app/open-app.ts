// Composition root: builds reader, intelligence and pipeline from the configuration. Alerts and server are in open-alerting and open-server.
import { readFileSync } from 'node:fs'
import { intelligenceProblems } from '../config/intelligence-problems.js'
import { feedsFolder, memoryFolder } from '../config/memory-folder.js'
import type { Problem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../domain/clock.js'
import type { Decide, GateOptions } from '../domain/decision.js'
import { unknownOf } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import { judge, worstLevel } from '../domain/judge.js'
import type { Lookup } from '../domain/lookup.js'
import { messageOf } from '../domain/message-of.js'
import { openFeeds, type Feeds } from '../feeds/open-feeds.js'
import { loadGate, loadSafeguard } from '../feeds/load-lists.js'
import { createClient, type Client } from '../provider/client.js'
import { UnusableSettings } from '../provider/connect.js'
import { createDownload } from '../provider/download.js'
import { providerSource, type SourceSettings } from '../provider/provider-source.js'
import { createBulkLookup, type BulkLookup } from '../lookup/bulk/bulk-lookup.js'
import { approve } from '../lookup/approve.js'
import { feeds } from '../lookup/feeds.js'
import { createDecide, gate } from '../lookup/gate.js'
import { openLookup, type LookupStack, type LookupWatch } from '../lookup/open-lookup.js'
import { indicators } from '../lookup/question.js'
import { stack } from '../lookup/stack.js'
import { createAnnotate } from '../pipeline/annotate.js'
import { limits as ownLimits, lookupSettingsOf, type Limits } from './limits.js'
import { openFormats } from './open-formats.js'
import { openTable, tableOf } from './open-table.js'
import { decode, decodeLimits } from '../pipeline/decode.js'
import { createEnrich } from '../pipeline/enrich.js'
import { createAnnotationKey } from '../pipeline/annotate/annotation-key.js'
import { createExtract, extractLimits, type Extract } from '../pipeline/extract.js'
import { createInFlight } from '../pipeline/in-flight.js'
import { createPipeline, type Pipeline } from '../pipeline/pipeline.js'
import { createWaits, type Waits } from '../pipeline/wait.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'

export type Refused = { readonly problems: readonly Problem[] }

/** Reads events and decides what may be looked up; sends nothing. */
export type EventReader = {
  readonly decode: (bytes: Buffer) => ReturnType<typeof decode>
  readonly extract: Extract
  readonly decide: Decide
  readonly gate: GateOptions
}

/** Everything below `enrich`: feeds and the lookup layers. */
export type IndicatorLookup = {
  readonly lookup: Lookup
  readonly feeds: Feeds
  /** The state of the API key; absent where no provider is configured. */
  readonly admission?: LookupStack<Indicator>['admission']
  readonly close: () => Promise<void>
}

export type App = EventReader & IndicatorLookup & { readonly pipeline: Pipeline; readonly waits: Waits }

export type AppOptions = LookupWatch & {
  readonly emit?: Emit
  readonly clock?: Clock
  /** Other bounds than the program's own, for tests. */
  readonly limits?: Limits
  /** The caller resolves `auto`, since it knows where the events come from. */
  readonly mode: 'live' | 'complete'
  /** Events wait until the provider is back, so an outage causes no cooldown. */
  readonly waitsOutOutages?: boolean
  readonly urgency?: 'live' | 'replay'
  /** Set for a replay; `isAnnotated` if the events already carry our annotation. */
  readonly replay?: { readonly id: string; readonly isAnnotated: boolean }
  /** Whether the events are the lines of one file, in order. */
  readonly isOneSource?: boolean
  /** For proxy variables and the default memory folder. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called once before the first paid call. */
  readonly approve?: () => Promise<boolean>
  /** Called with how long events waited for answers. */
  readonly waited?: (ms: number) => void
}

export const readText = (path: string): string => readFileSync(path, 'utf8')

/** `isOneSource`: the events are the lines of one file, in order. */
export const openReader = (config: Config, isOneSource = false): EventReader | Refused => {
  const loaded = loadGate(config.gate, config.intel.domain.ask, readText)
  if ('problems' in loaded) return loaded
  const judged = openTable(config)
  if ('problems' in judged) return judged
  const opened = openFormats(config.extract.formats)
  if (opened.problems.length > 0)
    return {
      problems: opened.problems.map(({ file, line, message }) => ({
        setting: 'extract.formats',
        message,
        where: line === undefined ? file : `${file}:${line}`,
      })),
    }
  const { isAnnotationName } = createAnnotationKey(config.output.key)
  const extract = createExtract({ ...extractLimits, formats: opened.formats, isOneSource, isAnnotationName })
  return {
    decode: (bytes) => decode(bytes, decodeLimits),
    extract,
    decide: createDecide(loaded.options),
    gate: loaded.options,
  }
}

export const openIndicatorLookup = async (
  config: Config,
  decide: Decide,
  options: AppOptions,
): Promise<IndicatorLookup | Refused> => {
  const { emit = ignoreTelemetry, clock = systemClock, limits = ownLimits } = options
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
    safeguard,
    fetching: { folder: feedsFolder(config, options.env), download: createDownload(options.env) },
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
      random: Math.random,
      emit,
      watch: options,
      bulk,
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
  const { lookup, admission } = opened
  const close = async (): Promise<void> => {
    bulk?.close()
    await Promise.all([local.close(), client.close()])
    await opened.close()
  }
  return { lookup, feeds: local, admission, close }
}

/** Where calls are counted or asked for here, each is made from here. */
const openBulk = (
  { admit }: Config,
  settings: SourceSettings,
  { bulk }: Client,
  { approve: isAsked, clock = systemClock, emit = ignoreTelemetry, limits: { admission } = ownLimits }: AppOptions,
): BulkLookup<Indicator> | undefined => {
  if (isAsked || admit.perRun > 0 || admit.perHour > 0 || admit.perDay > 0) return undefined
  return createBulkLookup({
    isOffered: bulk.isOffered,
    connect: () => bulk.connect(settings),
    // A scan is started and followed one call at a time, and written down here.
    takes: ({ type }) => type === 'ip' || settings.domain.scan === 'off',
    maxOpen: admission.maxWaiting,
    giveUpMs: admission.callTimeoutMs,
    clock,
    emit,
  })
}

export const openApp = async (config: Config, options: AppOptions): Promise<App | Refused> => {
  const { clock = systemClock, mode, urgency = 'live' } = options
  const missing = intelligenceProblems(config)
  if (missing.length > 0) return { problems: missing }
  const reader = openReader(config, options.isOneSource)
  if ('problems' in reader) return reader
  const lookups = await openIndicatorLookup(config, reader.decide, options)
  if ('problems' in lookups) return lookups
  const table = tableOf(config)
  const inFlight = createInFlight(clock)
  const waits = createWaits({
    ...config.enrich,
    clock,
    estimateMs: lookups.admission && ((asked) => lookups.admission?.estimateMs(keyOf(asked))),
    provider: lookups.admission?.state,
    quietMs: inFlight.quietMs,
    idleMs: () => performance.eventLoopUtilization().idle,
    waited: options.waited,
  })
  const enrich = createEnrich({
    lookup: lookups.lookup,
    decide: reader.decide,
    judge: (finding, sighting, at) => judge(finding, sighting, table, at),
    clock,
    inFlight,
    urgency,
  })
  const pipeline = createPipeline({
    ...reader,
    enrich,
    annotate: createAnnotate({
      ...config.output,
      ownRanges: reader.gate.ownRanges,
      isAnnotatedInput: options.replay?.isAnnotated ?? false,
      replayId: options.replay?.id,
      // Exactly-once output has no repeats to drop; annotations in a topic of their own must name their event.
      hasId: config.kafka.delivery === 'at-least-once' || config.output.placement === 'topic',
    }),
    clock,
    wait: mode === 'complete' ? waits.complete : waits.live,
  })
  return { ...reader, ...lookups, pipeline, waits }
}

/** Without a key there is no client. */
export const openClient = (
  { intel: { service } }: Config,
  {
    env,
    clock = systemClock,
    urgency = 'live',
    limits = ownLimits,
  }: Pick<AppOptions, 'env' | 'clock' | 'urgency' | 'limits'>,
): Client | Refused | undefined => {
  if (service.apiKey === '') return undefined
  const problems: Problem[] = []
  let ca: string | undefined
  try {
    if (service.caFile !== '') ca = readText(service.caFile)
  } catch (error) {
    problems.push({ setting: 'intel.service.caFile', message: `cannot be read: ${messageOf(error)}` })
  }
  try {
    const client = createClient(
      { ...limits.client, ...service },
      {
        env,
        now: () => clock.now(),
        urgency,
        ...(ca === undefined ? {} : { ca }),
      },
    )
    if (problems.length === 0) return client
    void client.close()
  } catch (error) {
    if (error instanceof UnusableSettings) problems.push(...error.problems)
    else problems.push({ setting: 'intel.service', message: `cannot be used: ${messageOf(error)}` })
  }
  return { problems }
}
