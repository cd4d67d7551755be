// The content of the status page as texts and numbers, rendered by the server and updated by the page's script.
import type { ConsumerHealth } from '../domain/consumer-health.js'
import type { ProviderState } from '../domain/provider-state.js'
import type { Counts } from '../telemetry/counters.js'
import { drawChart } from './chart.js'
import type { Health } from './health.js'
import type { History, Point } from './history.js'
import { headline, providerSentence, type Tone } from './sentences.js'
import { formatTime, formatCount, formatDuration, formatPercent, formatRate } from './numbers.js'
import type { RecentActivity } from './recent-activity.js'

export type PageView = {
  /** By element id. */
  readonly texts: Readonly<Record<string, string>>
  readonly tones: Readonly<Record<string, Tone>>
  readonly paths: Readonly<Record<string, string>>
  readonly tables: Readonly<Record<string, readonly (readonly string[])[]>>
}

export type ViewSources = {
  readonly counts: () => Counts
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly feedEntries?: (() => number) | undefined
  readonly health: () => Health
  readonly history: History
  readonly recent: RecentActivity
  readonly now: () => number
  readonly startedAt: number
  readonly version: string
  readonly allowed: { readonly hour: number; readonly day: number }
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
  const { history } = sources
  const now = sources.now()
  const counts = sources.counts()
  const provider = sources.provider?.()
  const consumer = sources.consumer?.()
  const partitions = Object.entries(consumer?.partitions ?? {})
  const lag = partitions.reduce((sum, [, { lag: one }]) => sum + one, 0)
  const health = headline({
    health: sources.health(),
    provider,
    consumer,
    feedEntries: sources.feedEntries?.(),
    lag,
    now,
    eventsPerSecond: history.rate('annotated'),
  })
  return {
    now,
    counts,
    provider,
    partitions,
    lag,
    health,
    asking: providerSentence(provider, now),
    deadLetters: total(counts.deadLetters),
    points: history.points(),
  }
}

const textsOf = (
  { history, allowed, version, startedAt }: ViewSources,
  { now, counts, provider, partitions, lag, health, asking, deadLetters, points }: State,
): PageView['texts'] => {
  const extremes = points.map((point) => point.extremes)
  const credits = provider ? creditsTexts(provider.spent, allowed) : { now: 'none', limit: '' }
  const malicious = sumOf(counts.annotated, 'verdict', 'malicious')
  return {
    headline: health.text,
    asking: asking.text,
    uptime: `version ${version}, up for ${formatDuration(now - startedAt)}`,
    'rate-read': formatRate(history.rate('read')),
    'note-read': `lag ${formatCount(lag)} in ${partitions.length} ${partitions.length === 1 ? 'partition' : 'partitions'}`,
    'rate-extract': formatRate(history.rate('indicators')),
    'note-extract': 'addresses and names',
    'rate-memory': formatRate(history.rate('lookups')),
    'note-memory': `${formatPercent(history.hitRatio())} hits`,
    'rate-ask': formatRate(history.rate('calls')),
    'note-ask': provider
      ? `${formatCount(provider.inFlight)} in flight, ${formatCount(provider.waiting)} queued`
      : 'no provider',
    'rate-annotate': formatRate(history.rate('annotated')),
    'note-annotate': `${formatCount(malicious)} of ${formatCount(total(counts.annotated))} malicious, ${completeness(counts)}`,
    'rate-deliver': formatRate(history.rate('delivered')),
    'note-deliver': `${formatCount(deadLetters)} dead letters, ${formatCount(total(counts.alerts))} alerts`,
    'now-events': `${formatRate(history.rate('annotated'))}/s`,
    'now-lag': formatCount(lag),
    'now-hits': formatPercent(history.hitRatio()),
    'now-calls': `${formatRate(60 * history.rate('calls'))}/min`,
    'now-credits': credits.now,
    'peak-events': `at most ${formatRate(highest(extremes.map((one) => one.eventsPerSecond)))}/s`,
    'peak-lag': `at most ${formatCount(highest([lag, ...extremes.map((one) => one.lag)]))}`,
    'peak-hits': `at least ${formatPercent(lowest(extremes.flatMap(({ hitRatio }) => hitRatio ?? [])))}`,
    'peak-calls': `at most ${formatRate(highest(extremes.map((one) => one.callsPerMinute)))}/min`,
    'peak-credits': `${credits.limit}at most ${formatRate(highest(extremes.map((one) => one.creditsPerMinute)))}/min`,
  }
}

const tonesOf = ({ history }: ViewSources, { lag, health, asking, deadLetters }: State): PageView['tones'] => ({
  headline: health.tone,
  asking: asking.tone,
  'step-read': lag > 0 && history.rate('read') === 0 ? 'warn' : 'good',
  'step-ask': asking.tone,
  'step-deliver': deadLetters > 0 ? 'warn' : 'good',
})

const pathsOf = ({ points }: State): PageView['paths'] => {
  const draw = (name: string, valueOf: (point: Point) => number | undefined, top?: number): Record<string, string> =>
    drawChart(name, points.map(valueOf), top)
  return {
    ...draw('events', ({ eventsPerSecond }) => eventsPerSecond),
    ...draw('lag', ({ lag }) => lag),
    ...draw('hits', ({ hitRatio }) => hitRatio, 1),
    ...draw('calls', ({ callsPerMinute }) => callsPerMinute),
    ...draw('credits', ({ creditsPerMinute }) => creditsPerMinute),
  }
}

const tablesOf = ({ history, recent }: ViewSources, { now, counts, partitions }: State): PageView['tables'] => ({
  findings: recent
    .findings()
    .map(({ at, value, role, score, summary, events, origin }) => [
      formatTime(at),
      value,
      role,
      score,
      summary,
      formatCount(events),
      origin,
    ]),
  errors: recent
    .errors()
    .map(({ at, level, sentence, times }) => [formatTime(at), level, sentence, formatCount(times)]),
  verdicts: verdictRows(counts),
  reasons: reasonRows(counts, history),
  partitions: partitions
    .slice(0, 100)
    .map(([name, { lag, progressAt, chunkSince }]) => [
      name,
      formatCount(lag),
      `${formatDuration(now - progressAt)} ago`,
      chunkSince === undefined ? 'idle' : `for ${formatDuration(now - chunkSince)}`,
    ]),
})

const total = (counts: readonly { readonly value: number }[]): number =>
  counts.reduce((sum, { value }) => sum + value, 0)

const highest = (values: readonly number[]): number => Math.max(0, ...values)
const lowest = (values: readonly number[]): number | undefined => (values.length > 0 ? Math.min(...values) : undefined)

/** Shows the hourly budget if there is one, else the daily one. */
const creditsTexts = (
  spent: ProviderState['spent'],
  allowed: ViewSources['allowed'],
): { now: string; limit: string } =>
  allowed.hour > 0
    ? { now: `${formatCount(spent.hour)} this hour`, limit: `of ${formatCount(allowed.hour)} allowed, ` }
    : {
        now: `${formatCount(spent.day)} today`,
        limit: allowed.day > 0 ? `of ${formatCount(allowed.day)} allowed, ` : '',
      }

const sumOf = <Label extends string>(
  counts: readonly { labels: Readonly<Record<Label, string>>; value: number }[],
  label: Label,
  name: string,
): number => counts.reduce((sum, { labels, value }) => (labels[label] === name ? sum + value : sum), 0)

/** The share of complete events among those with something to look up. */
const completeness = ({ annotated, indicators, waitedMs }: Counts): string => {
  const complete = sumOf(annotated, 'status', 'complete')
  const others = sumOf(annotated, 'status', 'partial') + sumOf(annotated, 'status', 'failed')
  const pending = sumOf(indicators, 'reason', 'pending') + sumOf(indicators, 'reason', 'deadline')
  const share = complete + others === 0 ? undefined : complete / (complete + others)
  return `${formatPercent(share)} complete, ${formatCount(pending)} answers pending, ${formatDuration(waitedMs)} waited`
}

const verdictRows = ({ annotated }: Counts): string[][] =>
  ['malicious', 'suspicious', 'clean', 'unknown'].map((verdict) => [
    verdict,
    ...['complete', 'partial', 'failed', 'skipped'].map((status) =>
      formatCount(annotated.find(({ labels }) => labels.verdict === verdict && labels.status === status)?.value ?? 0),
    ),
  ])

const reasonRows = ({ indicators }: Counts, history: History): string[][] => {
  const totals = new Map<string, number>()
  for (const { labels, value } of indicators)
    if (labels.reason !== 'none') totals.set(labels.reason, (totals.get(labels.reason) ?? 0) + value)
  return [...totals]
    .filter(([, total]) => total > 0)
    .map(([reason, total]) => ({ reason, total, lately: history.lastMinute(reason) }))
    .sort((a, b) => b.lately - a.lately || b.total - a.total)
    .map(({ reason, total, lately }) => [reason.replaceAll('_', ' '), formatCount(lately), formatCount(total)])
}
