// Opens and connects the parts of the server, and listens.
import type { IsAccused } from '../provider/ask-ip.js'
import type { BulkOthers, BulkSource, SharedVerdicts } from '../bulk/accept-bulk.js'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { backgroundClock } from '../base/clock.js'
import { openParts, type Scope } from '../base/scope.js'
import type { GateOptions, IndicatorList } from '../domain/decision.js'
import type { Download } from '../domain/download.js'
import type { FeedSettings } from '../feeds/feed.js'
import { openFeeds, type Feeds } from '../feeds/open-feeds.js'
import { lockFolder } from '../lookup/memory/folder-lock.js'
import type { Emit } from '../telemetry/event.js'
import type { JsonObject } from './answer.js'
import { answerThroughGateway } from './gateway/answer-through-gateway.js'
import type { Gateway } from './gateway/gateway.js'
import type { PassOnOperation } from './gateway/pass-on-operations.js'
import { openScanOwners } from './gateway/scan-owners.js'
import { isDiskFull } from '../base/is-disk-full.js'
import { messageOf } from '../base/message-of.js'
import { createStaysInside } from './gateway/stays-inside.js'
import { createAnswerLocally } from './answer-locally.js'
import { createCallers } from './callers.js'
import { openCredits } from './credits.js'
import { readKeys, soleKey, type Key } from './keys.js'
import { feedsOf, openIntelligence, type ListedOf } from './local/intelligence.js'
import { openReports } from './local/reports.js'
import { createResolver, type Resolver } from './scan/resolver.js'
import { createScanner } from './scan/scan.js'
import { createScanQueue } from './scan/scan-queue.js'
import { openScanStore } from './scan/scan-store.js'
import { onlyPublicWeb, type MayConnect } from './scan/target.js'
import type { AnswerReader } from '../provider/answer-reader.js'
import { createServer } from './server.js'

export type ServeSettings = {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly state: string
  readonly apiKey: string
  readonly plan: { readonly inFlight: number; readonly credits: number; readonly perSecond: number }
  readonly keysFile: string
  readonly tls: { readonly certFile: string; readonly keyFile: string; readonly passphrase: string }
  readonly maxRows: number
  readonly scan: {
    readonly enabled: boolean
    readonly atOnce: number
    readonly timeoutMs: number
    readonly totalMs: number
    readonly maxBytes: number
    readonly maxRedirects: number
  }
}

/** Limits that protect this machine. They are fixed, so that an operator does not have to choose them. */
export const serverLimits = {
  // All workers share the single key, so it has no limits; plans belong to keys in serve.keysFile.
  plan: { inFlight: 100_000, credits: 0, perSecond: 0 },
  // All rows are kept in memory.
  maxRows: 500_000,
  scan: { atOnce: 2, timeoutMs: 10_000, totalMs: 45_000, maxBytes: 262_144, maxRedirects: 10 },
} as const

type ServerDependencies = {
  /** Reads answers in our own format. */
  readonly reader: AnswerReader
  readonly now: () => number
  readonly emit: Emit
  readonly version: string
  /** Feeds in addition to those in the folder. */
  readonly feeds: readonly FeedSettings[]
  /** Shared hosts that a listed URL does not make malicious. */
  readonly safeguard?: IndicatorList
  /** The configured internal ranges and names. */
  readonly gate?: GateOptions
  /** Fetches feeds that have a URL. */
  readonly download?: Download
  /** Opened before, where what follows needs its folder; absent: it is opened here. */
  readonly state?: ServerState
  /** Asked for what is not known here. */
  readonly gateway?: Gateway | undefined
  /** Shared verdicts for bulk connections; only if answers come from the provider alone. */
  readonly shared?: SharedVerdicts | undefined
  /** The other gateways, if there is a leader election. */
  readonly others?: Others | undefined
  /** Other providers, for bulk connections. */
  readonly sources?: readonly BulkSource[]
  /** Whether facts about an address are malicious or suspicious, by the judgement table. */
  readonly isAccused?: IsAccused | undefined
  /** The path of a Unix socket to listen on instead of host and port. */
  readonly socket?: string
  readonly resolver?: Resolver
  /** Where scans may connect. Not a setting, so that no configuration file can open the internal network. */
  readonly mayConnect?: MayConnect
}

export type Others = BulkOthers & {
  readonly passOn: PassOnOperation
  readonly status: () => JsonObject
}

export type LookupServer = ListeningServer & { readonly close: () => Promise<void> }

type ListeningServer = {
  readonly url: string
  /** The state of calls to the provider; absent without a gateway. */
  readonly provider?: Gateway['admission']
  readonly feeds: Feeds['status']
}

/** Throws if it cannot start: no key, an unreadable folder, a state folder in use, a port in use. */
export const startServer = (settings: ServeSettings, outside: ServerDependencies): Promise<LookupServer> =>
  openParts((scope) => openServerParts(scope, settings, outside))

/** What is there before anything is answered: who may ask, the certificate, and a folder that no other process uses. */
type ServerState = {
  readonly keys: readonly Key[]
  readonly tls: { readonly cert: string; readonly key: string; readonly passphrase?: string } | undefined
  /** For the answers that a gateway keeps. */
  readonly memoryFolder: string
}

/** Throws when a server with these settings cannot start. */
export const openServerState = async (scope: Scope, settings: ServeSettings, emit: Emit): Promise<ServerState> => {
  const keys = keysOf(settings)
  const tls = tlsOf(settings)
  if (settings.data !== '' && !existsSync(settings.data)) throw new Error(`there is no folder ${settings.data}`)
  mkdirSync(settings.state, { recursive: true, mode: 0o700 })
  scope.defer(await takeFolder(settings.state, emit))
  return { keys, tls, memoryFolder: join(settings.state, 'memory') }
}

/** A full disk prevents the lock file, but does not stop the server. */
const takeFolder = async (folder: string, emit: Emit): Promise<() => unknown> => {
  try {
    return (await lockFolder(folder)).release
  } catch (error) {
    if (!isDiskFull(error)) throw error
    emit({ event: 'memory_not_persisted', path: folder, message: messageOf(error) })
    return () => undefined
  }
}

const openServerParts = async (
  scope: Scope,
  settings: ServeSettings,
  outside: ServerDependencies,
): Promise<ListeningServer> => {
  const { now, emit, gateway } = outside
  const { keys, tls } = outside.state ?? (await openServerState(scope, settings, emit))
  const credits = scope.use(openCredits(join(settings.state, 'credits.txt'), now, emit))
  const { safeguard } = outside
  const feeds = scope.use(
    await openFeeds([...outside.feeds, ...feedsOf(settings.data)], {
      emit,
      ...(safeguard && { safeguard }),
      // Only the leader fetches them.
      ...(outside.others && { startWaitMs: 0 }),
      ...(outside.download && { fetching: { folder: join(settings.state, 'feeds'), download: outside.download } }),
    }),
  )
  const listedOf: ListedOf = (indicator, paths) => {
    const known = feeds.match(indicator, now(), { paths })
    const listings = known?.facts.listings?.filter(({ level }) => level !== 'flag') ?? []
    return known && listings.length > 0 ? { listings, at: known.at } : undefined
  }
  const intelligence = openIntelligence(settings.data, listedOf, { maxRows: settings.maxRows, emit })
  const store = openScanStore(join(settings.state, 'scans'))
  const owners = openScanOwners(join(settings.state, 'provider-scans.ndjson'))
  const reports = openReports(
    intelligence.reportFiles,
    store,
    {
      of: (host, paths) => listedOf({ type: 'domain', value: host }, paths),
      below: (domain) => feeds.listedBelow(domain, now()),
    },
    owners.reportsOf,
  )
  const scanner = createScanner({
    resolver: outside.resolver ?? createResolver(settings.scan.timeoutMs),
    mayConnect: outside.mayConnect ?? onlyPublicWeb,
    limits: settings.scan,
    surroundings: {
      placeOf: intelligence.placeOf,
      registeredOn: intelligence.registeredOn,
      listingsOf: (indicator) => listedOf(indicator)?.listings ?? [],
    },
    now,
  })
  const queue = scope.use(
    settings.scan.enabled ? createScanQueue(store, scanner, { atOnce: settings.scan.atOnce, now }) : undefined,
  )
  const startedAt = now()
  const stays = createStaysInside(outside.gate)
  const answerHere = createAnswerLocally({ intelligence, reports, store, queue, now })
  const app = createServer({
    answer: gateway ? answerThroughGateway(answerHere, gateway, owners, stays, now) : answerHere,
    callers: createCallers(keys, credits, { ...backgroundClock, now }),
    status: (): JsonObject => ({
      up_seconds: Math.round((now() - startedAt) / 1000),
      keys: keys.length,
      feeds: feeds.status().map(({ name, state, addresses, names }) => ({ name, state, addresses, names })),
      banners: intelligence.banners.length,
      exploits: intelligence.exploits.length,
      scans: store.scans().length,
      upstream: gateway?.state(),
      election: outside.others?.status(),
    }),
    gateway,
    reader: outside.reader,
    shared: outside.shared,
    others: outside.others,
    passOn: outside.others?.passOn,
    sources: outside.sources?.map((source) => ({
      ...source,
      takes: (indicator) => source.takes(indicator) && !stays.indicator(indicator),
    })),
    isAccused: outside.isAccused,
    isFeedMissing: feeds.isMissing,
    version: outside.version,
    emit,
    now,
    ...(tls ? { tls } : {}),
  })
  scope.defer(() => app.close())
  const { host, port } = settings
  await app.listen({ ...(outside.socket === undefined ? { host, port } : { path: outside.socket }), backlog: 4_096 })
  return {
    url: urlOf(app.server.address(), tls !== undefined),
    feeds: feeds.status,
    ...(gateway ? { provider: gateway.admission } : {}),
  }
}

const urlOf = (address: AddressInfo | string | null, isTls: boolean): string => {
  if (typeof address === 'string' || address === null) return `unix:${address ?? ''}`
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return `${isTls ? 'https' : 'http'}://${host}:${address.port}`
}

/** Any client that reaches the port can try keys without limit. */
const shortestKey = 16
const ownHosts = new Set(['127.0.0.1', '::1', 'localhost'])

const keysOf = ({ apiKey, plan, keysFile, host }: ServeSettings): readonly Key[] => {
  if (apiKey !== '' && apiKey.length < shortestKey && !ownHosts.has(host))
    throw new Error(
      `serve.apiKey is shorter than ${shortestKey} characters and could be guessed while serve.host is ${host}`,
    )
  const { inFlight, credits, perSecond } = plan
  const keys = keysFile === '' ? [] : readKeys(keysFile, readFileSync(keysFile, 'utf8'))
  if (apiKey !== '')
    keys.push(
      soleKey(apiKey, {
        name: 'local',
        inFlight,
        ...(credits === 0 ? {} : { credits }),
        ...(perSecond === 0 ? {} : { perSecond }),
      }),
    )
  if (keys.length === 0)
    throw new Error('there is no key for clients: set THREATWEAVE_SERVE_API_KEY, or serve.keysFile for many keys')
  return keys
}

const tlsOf = ({ tls: { certFile, keyFile, passphrase } }: ServeSettings) => {
  if (certFile === '' && keyFile === '') return undefined
  if (certFile === '' || keyFile === '') throw new Error('serve.tls needs both certFile and keyFile')
  return {
    cert: readFileSync(certFile, 'utf8'),
    key: readFileSync(keyFile, 'utf8'),
    ...(passphrase === '' ? {} : { passphrase }),
  }
}
