// What the status page says, as plain text and numbers: the server writes it into the page, and the page's script over it.
import type { ConsumerView, ProviderView } from '../telemetry/metrics.js'
import type { Counts } from '../telemetry/tally.js'
import { drawChart } from './chart.js'
import type { Health } from './health.js'
import type { History } from './history.js'
import { headline, providerWords, type Tone } from './in-words.js'
import { clockTime, count, duration, percent, rate } from './numbers.js'
import type { Recent } from './recent.js'

export type View = {
  /** By the id of the element. */
  readonly texts: Readonly<Record<string, string>>
  readonly tones: Readonly<Record<string, Tone>>
  readonly paths: Readonly<Record<string, string>>
  readonly tables: Readonly<Record<string, readonly (readonly string[])[]>>
}

export type ViewSources = {
  readonly counts: () => Counts
  readonly provider?: (() => ProviderView) | undefined
  readonly consumer?: (() => ConsumerView) | undefined
  readonly feedEntries?: (() => number) | undefined
  readonly health: () => Health
  readonly history: History
  readonly recent: Recent
  readonly now: () => number
  readonly startedAt: number
  readonly version: string
  readonly allowed: { readonly hour: number; readonly day: number }
}

export const createView = (sources: ViewSources) => (): View => {
  const { history, recent, allowed } = sources
  const now = sources.now()
  const counts = sources.counts()
  const provider = sources.provider?.()
  const consumer = sources.consumer?.()
  const partitions = Object.entries(consumer?.partitions ?? {})
  const lag = partitions.reduce((sum, [, { lag: one }]) => sum + one, 0)
  const head = headline({
    health: sources.health(),
    provider,
    consumer,
    feedEntries: sources.feedEntries?.(),
    lag,
    now,
    eventsPerSecond: history.rate('left'),
  })
  const asking = providerWords(provider, now)
  const left = counts.left.reduce((sum, { value }) => sum + value, 0)
  const malicious = sumOf(counts.left, 'verdict', 'malicious')
  const dead = counts.deadLetters.reduce((sum, { value }) => sum + value, 0)
  const alerts = counts.alerts.reduce((sum, { value }) => sum + value, 0)
  const points = history.points()
  const extremes = points.map((point) => point.extremes)
  const credits = provider ? creditsTexts(provider.spent, allowed) : { now: 'none', limit: '' }
  return {
    texts: {
      headline: head.text,
      asking: asking.text,
      uptime: `version ${sources.version}, up for ${duration(now - sources.startedAt)}`,
      'rate-read': rate(history.rate('read')),
      'note-read': `lag ${count(lag)} in ${partitions.length} ${partitions.length === 1 ? 'partition' : 'partitions'}`,
      'rate-extract': rate(history.rate('indicators')),
      'note-extract': 'addresses and names',
      'rate-memory': rate(history.rate('asks')),
      'note-memory': `${percent(history.hitRatio())} known already`,
      'rate-ask': rate(history.rate('calls')),
      'note-ask': provider
        ? `${count(provider.inFlight)} in flight, ${count(provider.waiting)} waiting`
        : 'nobody to ask',
      'rate-annotate': rate(history.rate('left')),
      'note-annotate': `${count(malicious)} of ${count(left)} malicious, ${completeness(counts)}`,
      'rate-deliver': rate(history.rate('delivered')),
      'note-deliver': `${count(dead)} dead letters, ${count(alerts)} alerts`,
      'now-events': `${rate(history.rate('left'))}/s`,
      'now-lag': count(lag),
      'now-hits': percent(history.hitRatio()),
      'now-calls': `${rate(60 * history.rate('calls'))}/min`,
      'now-credits': credits.now,
      'peak-events': `at most ${rate(highest(extremes.map((one) => one.eventsPerSecond)))}/s`,
      'peak-lag': `at most ${count(highest([lag, ...extremes.map((one) => one.lag)]))}`,
      'peak-hits': `at least ${percent(lowest(extremes.flatMap(({ hitRatio }) => hitRatio ?? [])))}`,
      'peak-calls': `at most ${rate(highest(extremes.map((one) => one.callsPerMinute)))}/min`,
      'peak-credits': `${credits.limit}at most ${rate(highest(extremes.map((one) => one.creditsPerMinute)))}/min`,
    },
    tones: {
      headline: head.tone,
      asking: asking.tone,
      'step-read': lag > 0 && history.rate('read') === 0 ? 'warn' : 'good',
      'step-ask': asking.tone,
      'step-deliver': dead > 0 ? 'warn' : 'good',
    },
    paths: {
      ...drawChart(
        'events',
        points.map(({ eventsPerSecond }) => eventsPerSecond),
      ),
      ...drawChart(
        'lag',
        points.map((point) => point.lag),
      ),
      ...drawChart(
        'hits',
        points.map(({ hitRatio }) => hitRatio),
        1,
      ),
      ...drawChart(
        'calls',
        points.map(({ callsPerMinute }) => callsPerMinute),
      ),
      ...drawChart(
        'credits',
        points.map(({ creditsPerMinute }) => creditsPerMinute),
      ),
    },
    tables: {
      findings: recent
        .findings()
        .map(({ at, value, role, score, summary, events, origin }) => [
          clockTime(at),
          value,
          role,
          score,
          summary,
          count(events),
          origin,
        ]),
      errors: recent.errors().map(({ at, level, sentence, times }) => [clockTime(at), level, sentence, count(times)]),
      verdicts: verdictRows(counts),
      reasons: reasonRows(counts, history),
      partitions: partitions
        .slice(0, 100)
        .map(([name, { lag: one, progressAt, chunkSince }]) => [
          name,
          count(one),
          `${duration(now - progressAt)} ago`,
          chunkSince === undefined ? 'idle' : `for ${duration(now - chunkSince)}`,
        ]),
    },
  }
}

const highest = (values: readonly number[]): number => Math.max(0, ...values)
const lowest = (values: readonly number[]): number | undefined => (values.length > 0 ? Math.min(...values) : undefined)

/** Of the budget that is set, the shorter one first. */
const creditsTexts = (spent: ProviderView['spent'], allowed: ViewSources['allowed']): { now: string; limit: string } =>
  allowed.hour > 0
    ? { now: `${count(spent.hour)} this hour`, limit: `of ${count(allowed.hour)} allowed, ` }
    : { now: `${count(spent.day)} today`, limit: allowed.day > 0 ? `of ${count(allowed.day)} allowed, ` : '' }

const sumOf = <Label extends string>(
  counts: readonly { labels: Readonly<Record<Label, string>>; value: number }[],
  label: Label,
  name: string,
): number => counts.reduce((sum, { labels, value }) => (labels[label] === name ? sum + value : sum), 0)

/** Of the events that had anything to ask about. */
const completeness = ({ left, indicators, waitedMs }: Counts): string => {
  const complete = sumOf(left, 'status', 'complete')
  const others = sumOf(left, 'status', 'partial') + sumOf(left, 'status', 'failed')
  const pending = sumOf(indicators, 'reason', 'pending') + sumOf(indicators, 'reason', 'deadline')
  const share = complete + others === 0 ? undefined : complete / (complete + others)
  return `${percent(share)} complete, ${count(pending)} answers pending, waited ${duration(waitedMs)}`
}

const verdictRows = ({ left }: Counts): string[][] =>
  ['malicious', 'suspicious', 'clean', 'unknown'].map((verdict) => [
    verdict,
    ...['complete', 'partial', 'failed', 'skipped'].map((status) =>
      count(left.find(({ labels }) => labels.verdict === verdict && labels.status === status)?.value ?? 0),
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
    .map(({ reason, total, lately }) => [reason.replaceAll('_', ' '), count(lately), count(total)])
}
