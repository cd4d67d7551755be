// Opens each source with its own memory, coalescing, queue, limits and circuit breaker, or through a gateway that has them.
import { join } from 'node:path'
import type { Clock } from '../base/clock.js'
import type { Scope } from '../base/scope.js'
import { ConfigurationError } from '../config/problem.js'
import { unknownOf, type Finding, type Known, type Level } from '../domain/finding.js'
import { keyOf, type Indicator } from '../domain/indicator.js'
import type { ProviderState } from '../domain/provider-state.js'
import { urlFor, type CallLimit } from '../domain/source-description.js'
import type { Permit } from '../lookup/admission/call-sender.js'
import { openLookup } from '../lookup/open-lookup.js'
import { approve } from '../lookup/approve.js'
import type { AskMode, JoinedSource } from '../lookup/join-sources.js'
import { indicators } from '../lookup/question.js'
import { folderBytes } from '../lookup/memory/memory.js'
import type { Source } from '../domain/lookup.js'
import type { BulkLookup, LookupSettings, LookupStack } from '../lookup/stack.js'
import { messageOf } from '../base/message-of.js'
import { createAskSource, type SourceCounts } from '../provider/ask-source.js'
import { createSourceClient, type SourceClient } from '../provider/source-client.js'
import type { Emit, TelemetryEvent } from '../telemetry/event.js'
import type { Limits } from './limits.js'
import type { ConfiguredSource } from './load-sources.js'

export type SourceStatus = {
  readonly id: string
  readonly name: string
  readonly ask: AskMode
  readonly limits: readonly CallLimit[]
  readonly counts: SourceCounts
  readonly state: ProviderState
}

type OpenSource = JoinedSource & {
  /** The current concurrency limit. */
  readonly inFlight: number
  readonly status: () => SourceStatus
  readonly admission: LookupStack<Indicator>['admission']
  readonly learn: LookupStack<Indicator>['learn']
  readonly memorySize: () => number
  /** The last answer, if it is still remembered. */
  readonly said: (indicator: Indicator) => Finding | undefined
  /** Ends the calls in flight; call it before closing the stores for their answers. */
  readonly endCalls: () => Promise<void>
}

type SourceOptions = {
  /** Maximum number of remembered findings per source. */
  readonly maxEntries: number
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
  readonly random: () => number
  readonly emit: Emit
  readonly limits: Limits
  readonly folder: { readonly path?: string; readonly isNamed: boolean }
  readonly isReader: boolean
  /** Events wait until a source is back, so an outage causes no cooldown. */
  readonly waitsOutOutages: boolean
  readonly classify: (finding: Known, indicator: Indicator) => Level
  readonly approve: (() => Promise<boolean>) | undefined
  /** Called with every remembered finding. */
  readonly learnt: (asked: Indicator, finding: Finding) => void
  /** Bulk lookups for a source that a gateway calls; undefined without a gateway. */
  readonly bulkOf?:
    ((id: string, takes: (indicator: Indicator) => boolean) => BulkLookup<Indicator> | undefined) | undefined
  /** Permission for each call, if this is one of several gateways. */
  readonly permit?: Permit | undefined
  /** Called with every answer of a source. */
  readonly paid: ((asked: Indicator, finding: Finding) => void) | undefined
}

/** Throws a ConfigurationError if a source cannot be used. */
export const openSources = async (
  scope: Scope,
  configured: readonly ConfiguredSource[],
  options: SourceOptions,
): Promise<readonly OpenSource[]> => {
  const opened: OpenSource[] = []
  for (const source of configured) opened.push(await openSource(scope, source, options))
  return opened
}

const openSource = async (
  scope: Scope,
  { description, apiKey, concurrency, ask, limits: described, isAtGateway }: ConfiguredSource,
  options: SourceOptions,
): Promise<OpenSource> => {
  const { env, clock, random, limits, learnt, paid, maxEntries } = options
  const { id, name, freshHours } = description
  const takes = (indicator: Indicator): boolean => urlFor(description, indicator) !== undefined
  const bulk = isAtGateway ? options.bulkOf?.(id, takes) : undefined
  if (isAtGateway && !bulk)
    throw refusal('intel.sources', `${id} is asked through a gateway, and intel.service names none that takes it`)
  // The gateway has the limits and the memory.
  const callLimits = isAtGateway ? [] : described
  const folder = isAtGateway ? { isNamed: false } : options.folder
  scope.use(bulk)
  await bulk?.open()
  const now = (): number => clock.now()
  const emit = namingSource(id, options.emit)
  const client = scope.use(clientOf(description, { apiKey, concurrency, env, limits: limits.client, now }))
  const { source, counts } = createAskSource(id, client, { now, emit })
  // Without an answer from the gateway, call nothing else: only the gateway counts the limits.
  const unreached: Source = () => unknownOf('unavailable')
  const own = isAtGateway ? unreached : source
  const seconds = freshHours * 3_600
  const settings: LookupSettings & { readonly memory: { readonly maxBytes: number } } = {
    admit: {
      ...limits.admission,
      perHour: 0,
      perDay: 0,
      perRun: 0,
      limits: callLimits,
      inFlight: concurrency,
      retry: limits.retry,
    },
    memory: {
      freshSeconds: { malicious: seconds, suspicious: seconds, clean: seconds, noVerdict: seconds, notFound: seconds },
      staleSeconds: 7 * seconds,
      jitter: 0.1,
      refreshAhead: 0.1,
      maxEntries,
      maxBytes: folderBytes(maxEntries),
      cooldown: { ...limits.cooldown, forOutages: !options.waitsOutOutages },
    },
  }
  const opened = await openLookup(
    settings,
    {
      type: indicators,
      outer: [],
      source: options.approve ? approve(options.approve)(own) : own,
      bulk,
      clock,
      random,
      emit,
      paid,
      learnt,
      permit: options.permit,
    },
    {
      ...(folder.path !== undefined && { path: join(folder.path, 'sources', id) }),
      isNamed: folder.isNamed,
      isReader: options.isReader,
      classify: options.classify,
    },
  )
  if ('problem' in opened) throw refusal('memory.path', opened.problem)
  const { lookup, admission, learn, memory } = scope.use(opened)
  return {
    id,
    ask,
    takes,
    inFlight: concurrency,
    lookup,
    admission,
    learn,
    memorySize: memory.size,
    said: (indicator) => memory.get(keyOf(indicator))?.finding,
    status: () => ({ id, name, ask, limits: callLimits, counts: counts(), state: admission.state() }),
    endCalls: async () => {
      bulk?.close()
      await client.close()
    },
  }
}

const clientOf = (...given: Parameters<typeof createSourceClient>): SourceClient => {
  try {
    return createSourceClient(...given)
  } catch (error) {
    throw refusal('intel.sources', `${given[0].id} cannot be used: ${messageOf(error)}`)
  }
}

const refusal = (setting: string, message: string): ConfigurationError => new ConfigurationError([{ setting, message }])

/** Adds the source's name to log events about its queue and limits. */
const namingSource =
  (source: string, emit: Emit): Emit =>
  (event: TelemetryEvent) =>
    emit(
      event.event === 'lookups_paused' || event.event === 'lookups_resumed' || event.event === 'budget_exhausted'
        ? { ...event, source }
        : event,
    )
