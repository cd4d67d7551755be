// The content of the status page as texts and numbers, rendered by the server and updated by the page's script.
import type { ConsumerHealth } from '../domain/consumer-health.js'
import type { AllowedCalls, ProviderState } from '../domain/provider-state.js'
import type { Counts } from '../telemetry/counters.js'
import type { ProcessKind } from '../telemetry/metrics.js'
import type { AlertLog } from './alert-log.js'
import { drawChart } from './chart.js'
import type { History, Point } from './history.js'
import { headline, providerSentence, type Tone } from './sentences.js'
import { formatCount, formatDuration, formatPercent, formatRate } from './numbers.js'
import type { RecentActivity } from './recent-activity.js'
import {
  alertRows,
  feedRows,
  findingRows,
  partitionRows,
  pipelineLatencyRows,
  problemRows,
  reasonRows,
  withoutAlertRows,
  requestRows,
  ruleRows,
  serverLatencyRows,
  shareRows,
  sharingRows,
  sourceRows,
  verdictRows,
  electionRows,
  type FiredRule,
  type Rows,
  type ShownFeed,
  type ShownSource,
} from './view-tables.js'

export type PageView = {
  /** By element id. */
  readonly texts: Readonly<Record<string, string>>
  readonly tones: Readonly<Record<string, Tone>>
  readonly paths: Readonly<Record<string, string>>
  readonly tables: Readonly<Record<string, Rows>>
}

type ViewSources = {
  readonly kind: ProcessKind
  readonly counts: () => Counts
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly feeds?: (() => readonly ShownFeed[]) | undefined
  readonly sources?: (() => readonly ShownSource[]) | undefined
  readonly rules?: (() => readonly FiredRule[]) | undefined
  readonly alerts: AlertLog
  readonly deadlineMs: number
  readonly health: () => { readonly ok: boolean; readonly problems: readonly string[] }
  readonly history: History
  readonly recent: RecentActivity
  readonly now: () => number
  readonly startedAt: number
  readonly version: string
  readonly allowed: AllowedCalls
}

export const createView = (sources: ViewSources) => (): PageView => {
  const state = stateOf(sources)
  return {
    texts: textsOf(sources, state),
    tones: tonesOf(sources, state),
    paths: pathsOf(state),
    tables: tablesOf(sources, state),
  }
}

type State = ReturnType<typeof stateOf>

/** Everything that is read once per view. */
const stateOf = (sources: ViewSources) => {
  const { history, kind } = sources
  const now = sources.now()
  const counts = sources.counts()
  const provider = sources.provider?.()
  const consumer = sources.consumer?.()
  const feeds = sources.feeds?.() ?? []
  const partitions = Object.entries(consumer?.partitions ?? {})
  const lag = partitions.reduce((sum, [, { lag: one }]) => sum + one, 0)
  const health = headline({
    kind,
    health: sources.health(),
    provider,
    consumer,
    missingFeeds: feeds.filter(({ state }) => state === 'missing' || state === 'refused').map(({ name }) => name),
    hasFeeds: feeds.length > 0 || sources.sources !== undefined,
    lag,
    now,
    perSecond: history.rate(kind === 'server' ? 'requests' : 'annotated'),
  })
  return {
    now,
    counts,
    provider,
    feeds,
    partitions,
    lag,
    health,
    asking:
      provider || !sources.sources
        ? providerSentence(provider, sources.allowed, now)
        : { tone: 'idle' as const, text: 'No main provider: sources and local feeds only.' },
    deadLetters: total(counts.deadLetters),
    points: history.points(),
  }
}

const textsOf = (
  { history, allowed, version, startedAt }: ViewSources,
  { now, counts, provider, partitions, lag, health, asking, deadLetters, points }: State,
): PageView['texts'] => {
  const extremes = points.map((point) => point.extremes)
  const credits = provider ? creditsTexts(provider, allowed) : { now: 'none', limit: '' }
  const malicious = total(counts.annotated.filter(({ labels }) => labels.verdict === 'malicious'))
  const failed = total(counts.requests.filter(({ labels }) => labels.status !== '200'))
  return {
    headline: health.text,
    asking: asking.text,
    uptime: `version ${version}, up for ${formatDuration(now - startedAt)}`,
    'rate-requests': formatRate(history.rate('requests')),
    'note-requests': `${formatCount(total(counts.requests))} since the start, ${formatCount(failed)} of them refused or failed`,
    'rate-read': formatRate(history.rate('read')),
    'note-read': `lag ${formatCount(lag)} events in ${partitions.length} ${partitions.length === 1 ? 'partition' : 'partitions'}`,
    'rate-extract': formatRate(history.rate('indicators')),
    'note-extract': 'addresses and names',
    'rate-memory': formatRate(history.rate('lookups')),
    'note-memory': `${formatPercent(history.hitRatio())} hits`,
    'rate-ask': formatRate(history.rate('calls')),
    'note-ask': provider
      ? `${formatCount(provider.inFlight)} calls in flight, ${formatCount(provider.waiting)} lookups queued`
      : 'no provider',
    'rate-annotate': formatRate(history.rate('annotated')),
    'note-annotate': `${formatCount(malicious)} of ${formatCount(total(counts.annotated))} events malicious`,
    'rate-deliver': formatRate(history.rate('delivered')),
    'note-deliver': `${formatCount(deadLetters)} dead letters, ${formatCount(total(counts.alerts))} alerts`,
    'now-requests': `${formatRate(history.rate('requests'))}/s`,
    'now-events': `${formatRate(history.rate('annotated'))}/s`,
    'now-lag': `${formatCount(lag)} events`,
    'now-hits': formatPercent(history.hitRatio()),
    'now-calls': `${formatRate(60 * history.rate('calls'))}/min`,
    'now-credits': credits.now,
    'peak-requests': `at most ${formatRate(highest(extremes.map((one) => one.requestsPerSecond)))}/s`,
    'peak-events': `at most ${formatRate(highest(extremes.map((one) => one.eventsPerSecond)))}/s`,
    'peak-lag': `at most ${formatCount(highest([lag, ...extremes.map((one) => one.lag)]))} events`,
    'peak-hits': `at least ${formatPercent(lowest(extremes.flatMap(({ hitRatio }) => hitRatio ?? [])))}`,
    'peak-calls': `at most ${formatRate(highest(extremes.map((one) => one.callsPerMinute)))}/min`,
    'peak-credits': `${credits.limit}at most ${formatRate(highest(extremes.map((one) => one.creditsPerMinute)))}/min`,
  }
}

const tonesOf = ({ history }: ViewSources, { lag, health, asking, deadLetters }: State): PageView['tones'] => ({
  headline: health.tone,
  asking: asking.tone,
  'step-requests': 'good',
  'step-read': lag > 0 && history.rate('read') === 0 ? 'warn' : 'good',
  'step-ask': asking.tone,
  'step-deliver': deadLetters > 0 ? 'warn' : 'good',
})

const pathsOf = ({ points }: State): PageView['paths'] => {
  const draw = (name: string, valueOf: (point: Point) => number | undefined, top?: number): Record<string, string> =>
    drawChart(name, points.map(valueOf), top)
  return {
    ...draw('requests', ({ requestsPerSecond }) => requestsPerSecond),
    ...draw('events', ({ eventsPerSecond }) => eventsPerSecond),
    ...draw('lag', ({ lag }) => lag),
    ...draw('hits', ({ hitRatio }) => hitRatio, 1),
    ...draw('calls', ({ callsPerMinute }) => callsPerMinute),
    ...draw('credits', ({ creditsPerMinute }) => creditsPerMinute),
  }
}

const tablesOf = (sources: ViewSources, { now, counts, feeds, partitions }: State): PageView['tables'] => {
  const { kind, history, recent, alerts, deadlineMs, startedAt } = sources
  const both = {
    feeds: feedRows(feeds, now),
    problems: problemRows(recent),
    sharing: sharingRows(counts),
    ...(sources.sources && { sources: sourceRows(sources.sources(), now) }),
  }
  return kind === 'server'
    ? {
        ...both,
        election: electionRows(counts),
        requests: requestRows(counts),
        latency: serverLatencyRows(counts),
      }
    : {
        ...both,
        findings: findingRows(recent),
        alerts: alertRows(alerts),
        rules: ruleRows(sources.rules?.() ?? []),
        latency: pipelineLatencyRows(counts, deadlineMs),
        shares: shareRows(counts, now - startedAt),
        verdicts: verdictRows(counts),
        without: withoutAlertRows(counts),
        reasons: reasonRows(counts, history),
        partitions: partitionRows(partitions, now),
      }
}

const total = (counts: readonly { readonly value: number }[]): number =>
  counts.reduce((sum, { value }) => sum + value, 0)

const highest = (values: readonly number[]): number => Math.max(0, ...values)
const lowest = (values: readonly number[]): number | undefined => (values.length > 0 ? Math.min(...values) : undefined)

/** Shows the hourly budget if there is one, else the daily one. */
const creditsTexts = (
  { spent, isGateway = false }: ProviderState,
  { hour, day, isDefault = false }: AllowedCalls,
): { now: string; limit: string } => {
  if (hour > 0) return { now: `${formatCount(spent.hour)} this hour`, limit: `of ${formatCount(hour)} allowed, ` }
  const limit = `of ${formatCount(day)} allowed${isDefault ? ' by default' : ''}, `
  return { now: `${formatCount(spent.day)} today`, limit: day === 0 || (isDefault && isGateway) ? '' : limit }
}
