// Builds the lookup server, or the gateway, from the configuration.
import { limits as ownLimits, lookupSettingsOf } from './limits.js'
import { connectedSettingsOf } from './connected-settings.js'
import { budgetOf } from '../config/budget.js'
import { readText } from '../config/load-config.js'
import { joinGateways, type Gateways } from './join-gateways.js'
import type { AppOptions } from './open-app.js'
import { createIsAccused } from '../provider/is-accused.js'
import { createAnswerReader } from '../provider/answer-reader.js'
import { bundledProfile } from './open-profile.js'
import { openClient } from './provider-client.js'
import { loadSources } from './load-sources.js'
import { openSources, type SourceStatus } from './open-sources.js'
import { tableOf } from './open-table.js'
import { describeProblem, type Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock } from '../base/clock.js'
import { verdictsProblems, type KafkaSettings } from '../kafka/settings.js'
import { sourceIdOf, type Finding } from '../domain/finding.js'
import type { Indicator } from '../domain/indicator.js'
import { worstLevel } from '../domain/judge.js'
import { loadGate, loadSafeguard } from '../feeds/load-lists.js'
import type { Client } from '../provider/client.js'
import type { SharedVerdicts } from '../bulk/accept-bulk.js'
import { createDownload } from '../provider/download.js'
import type { LookupWatch } from '../lookup/stack.js'
import { openGateway, type Gateway } from '../server/gateway/gateway.js'
import { createSharedVerdicts } from '../server/gateway/shared-verdicts.js'
import { serverLimits, startServer, type LookupServer, type ServeSettings } from '../server/start-server.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import { verdictsOf, type Verdicts } from '../verdicts/open-verdicts.js'

export type OpenServer = LookupServer & {
  /** Other providers that it asks; absent where there are none. */
  readonly sources?: () => readonly SourceStatus[]
}

export type OpenServerOptions = Pick<AppOptions, 'env' | 'emit' | 'clock' | 'limits'> & {
  readonly watch?: LookupWatch
  /** The path of a Unix socket to listen on instead of host and port. */
  readonly socket?: string
}

/** The client of a gateway: like the pipeline's, but for `serve.upstream`. */
export const openUpstream = (
  config: Config,
  options: Pick<OpenServerOptions, 'env' | 'clock' | 'limits'>,
): Client | Refused => {
  const { serve, intel } = config
  // The gateway of workers asks where they would have asked, which may be several gateways.
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

/** A gateway keeps whole answers, which are larger than the facts in them. */
const findingsPerAnswer = 5

/** A gateway if `serve.upstream` is set. Throws if it cannot start. */
export const openServer = async (
  config: Config,
  { env, emit = ignoreTelemetry, clock = systemClock, limits = ownLimits, watch, socket }: OpenServerOptions,
  version: string,
): Promise<OpenServer> => {
  const { serve, intel, memory } = config
  const gateway = (folder: string, gateways: Gateways | undefined): Promise<Gateway> => {
    const client = openUpstream(config, { env, clock, limits })
    if ('problems' in client) throw new Error(client.problems.map(describeProblem).join('\n'))
    // Several gateways have one budget, which is counted where all can read it.
    const counted: Config = gateways
      ? { ...config, admit: { ...config.admit, perHour: 0, perDay: 'unlimited' } }
      : config
    const settings = lookupSettingsOf(counted, limits, {
      maxEntries: Math.ceil(memory.maxEntries / findingsPerAnswer),
      forOutages: config.enrich.mode !== 'complete',
      isGateway: client.bulk.isOffered,
    })
    return openGateway(
      { ...settings, admit: { ...settings.admit, fleetBudget: budgetOf(config.admit) } },
      {
        client,
        table: tableOf(config),
        clock,
        random: Math.random,
        folder,
        emit,
        ...(watch ? { watch } : {}),
        permit: gateways?.election.permit,
      },
    )
  }
  const safeguard = loadSafeguard(intel.safeguard, readText)
  if ('problems' in safeguard) throw new Error(safeguard.problems.map(describeProblem).join('\n'))
  const gate = loadGate(config.gate, config.intel.domain.ask, readText)
  if ('problems' in gate) throw new Error(gate.problems.map(describeProblem).join('\n'))
  const configured = loadSources(config)
  if ('problems' in configured) throw new Error(configured.problems.map(describeProblem).join('\n'))
  const kafka = connectedSettingsOf(config, { env, emit })
  const sharing = serve.upstream === '' ? undefined : await openSharing(config, kafka, { clock, limits, emit })
  const download = createDownload(env)
  let gateways: Gateways | undefined
  let status: () => readonly SourceStatus[] = () => []
  const openBulkSources = async (folder: string) => {
    const table = tableOf(config)
    const sources = await openSources(configured, memory, {
      env,
      clock,
      random: Math.random,
      emit,
      limits,
      folder: { path: folder, isNamed: true },
      isReader: false,
      waitsOutOutages: config.enrich.mode === 'complete',
      classify: (finding, about) => worstLevel(finding, about, table, clock.now()),
      approve: undefined,
      learnt: () => undefined,
      paid: sharing?.tell,
      permit: gateways?.election.permitUncounted,
    })
    if ('problems' in sources) throw new Error(sources.problems.map(describeProblem).join('\n'))
    status = () => sources.map((source) => source.status())
    sharing?.learnSource((id, asked, finding) => sources.find((each) => each.id === id)?.learn(asked, finding, false))
    return { sources, close: () => Promise.all(sources.map(({ close }) => close())) }
  }
  const start = (): Promise<LookupServer> => {
    // Not before what others have paid for is known: who is chosen calls.
    gateways = serve.upstream === '' ? undefined : joinGateways(config, kafka, { clock, limits, emit })
    return startServer(serveSettingsOf(config), {
      reader: createAnswerReader(bundledProfile()),
      isAccused: createIsAccused(tableOf(config), () => clock.now()),
      now: () => clock.now(),
      emit,
      version,
      feeds: config.feeds,
      safeguard,
      gate: gate.options,
      download: gateways ? gateways.whenCalling(download) : download,
      ...(serve.upstream === '' ? {} : { openGateway: (folder) => gateway(folder, gateways) }),
      ...(configured.length > 0 && { openSources: openBulkSources }),
      shared: sharing?.shared,
      others: gateways?.others,
      ...(socket === undefined ? {} : { socket }),
    })
  }
  try {
    const server = await start()
    return {
      ...server,
      ...(configured.length > 0 && { sources: () => status() }),
      close: async () => {
        // Before its connections end: the next one calls as soon as this one says that it does not.
        await gateways?.close()
        await server.close()
        await sharing?.close()
      },
    }
  } catch (error) {
    await gateways?.close()
    await sharing?.close()
    throw error
  }
}

type Sharing = {
  readonly shared: SharedVerdicts
  readonly tell: (asked: Indicator, finding: Finding) => void
  /** What is on the topic of a source goes there from now on. */
  readonly learnSource: (learn: LearnSource) => void
  readonly close: () => Promise<void>
}
type LearnSource = (id: string, asked: Indicator, finding: Finding) => boolean | undefined

/** What a gateway says is shared where it says what the provider says, and nothing of its own. */
const openSharing = async (
  config: Config,
  kafka: KafkaSettings,
  { clock, limits, emit }: Required<Pick<OpenServerOptions, 'clock' | 'limits' | 'emit'>>,
): Promise<Sharing | undefined> => {
  const now = (): number => clock.now()
  const problems = verdictsProblems(kafka)
  if (problems.length > 0) throw new Error(problems.map(describeProblem).join('\n'))
  const open = verdictsOf(kafka, { now, emit })
  if (!open) return undefined
  if (config.serve.data !== '' || config.feeds.length > 0) {
    emit({ event: 'verdicts_not_used', message: 'this gateway has intelligence of its own (serve.data or feeds)' })
    return undefined
  }
  const { maxEntries } = config.memory
  let tell: Verdicts['paid'] = () => undefined
  const shared = createSharedVerdicts(lookupSettingsOf(config, limits, { maxEntries, forOutages: true }).memory, {
    table: tableOf(config),
    now,
    paid: (indicator, finding) => tell(indicator, finding),
  })
  // What comes before the sources are open is kept for them.
  let early: Parameters<LearnSource>[] | undefined = []
  let learnSource: LearnSource = (...given) => {
    if ((early?.length ?? maxEntries) < maxEntries) early?.push(given)
    return false
  }
  const { paid, close } = await open({
    ...shared,
    learn: (asked, finding, isJustNow) => {
      const id = sourceIdOf(finding)
      return id === undefined ? shared.learn(asked, finding, isJustNow) : (learnSource(id, asked, finding) ?? false)
    },
  })
  tell = paid
  return {
    shared,
    tell: (asked, finding) => tell(asked, finding),
    learnSource: (learn) => {
      learnSource = learn
      for (const given of early ?? []) learn(...given)
      early = undefined
    },
    close,
  }
}

/** The settings of the server with the bounds that are none. */
export const serveSettingsOf = ({ serve }: Pick<Config, 'serve'>): ServeSettings => ({
  ...serve,
  ...serverLimits,
  scan: { ...serverLimits.scan, ...serve.scan },
})
