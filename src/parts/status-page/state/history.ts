// Rates over the last seconds and the last hour: one sample per second, one point every ten seconds.
import { alertLevels } from '../../../telemetry/labels.js'

export type Sample = {
  readonly at: number
  /** Requests to our own server. */
  readonly requests: number
  readonly read: number
  readonly indicators: number
  readonly lookups: number
  readonly hits: number
  readonly calls: number
  readonly credits: number
  readonly annotated: number
  readonly delivered: number
  /** Alerts by level. */
  readonly alerts: Readonly<Record<string, number>>
  /** The age of the oldest event delivered since the last sample; undefined without any. */
  readonly oldestMs: number | undefined
  /** Occurrences of each reason. */
  readonly reasons: Readonly<Record<string, number>>
}

type Counter = 'requests' | 'read' | 'indicators' | 'lookups' | 'hits' | 'calls' | 'credits' | 'annotated' | 'delivered'

/** Totals of the ten seconds before `at`. */
export type Point = {
  readonly at: number
  readonly requestsPerSecond: number
  readonly eventsPerSecond: number
  readonly hitsPerSecond: number
  readonly callsPerSecond: number
  readonly creditsPerMinute: number
  readonly alerts: Readonly<Record<string, number>>
  readonly oldestMs: number | undefined
}

export type History = {
  readonly tick: () => void
  /** Per second, over the last seconds. */
  readonly rate: (counter: Counter) => number
  readonly hitRatio: () => number | undefined
  /** Occurrences in the last minute. */
  readonly lastMinute: (reason: string) => number
  /** Oldest first. */
  readonly points: () => readonly Point[]
}

const rateSamples = 5
const keptSamples = 60
const pointMs = 10_000
const maxPoints = 360

export const createHistory = (take: () => Sample): History => {
  const first = take()
  let samples: Sample[] = [first]
  let points: Point[] = []
  let since = first
  let oldestMs: number | undefined
  const latest = (): Sample => samples.at(-1) ?? first
  const before = (): Sample => samples.at(-1 - rateSamples) ?? samples[0] ?? first
  return {
    tick: () => {
      const sample = take()
      samples = [...samples.slice(-keptSamples), sample]
      if (sample.oldestMs !== undefined) oldestMs = Math.max(oldestMs ?? 0, sample.oldestMs)
      if (sample.at - since.at < pointMs) return
      points = [...points.slice(1 - maxPoints), pointOf(since, sample, oldestMs)]
      since = sample
      oldestMs = undefined
    },
    rate: (counter) => perSecond(before(), latest(), counter),
    hitRatio: () => ratioOf(before(), latest()),
    lastMinute: (reason) => (latest().reasons[reason] ?? 0) - (samples[0]?.reasons[reason] ?? 0),
    // In the first seconds, show a preliminary point.
    points: () => (points.length === 0 && latest().at > since.at ? [pointOf(since, latest(), oldestMs)] : points),
  }
}

const perSecond = (from: Sample, to: Sample, counter: Counter): number =>
  to.at > from.at ? ((to[counter] - from[counter]) * 1000) / (to.at - from.at) : 0

const ratioOf = (from: Sample, to: Sample): number | undefined =>
  to.lookups > from.lookups ? (to.hits - from.hits) / (to.lookups - from.lookups) : undefined

const pointOf = (from: Sample, to: Sample, oldestMs: number | undefined): Point => ({
  at: to.at,
  requestsPerSecond: perSecond(from, to, 'requests'),
  eventsPerSecond: perSecond(from, to, 'annotated'),
  hitsPerSecond: perSecond(from, to, 'hits'),
  callsPerSecond: perSecond(from, to, 'calls'),
  creditsPerMinute: 60 * perSecond(from, to, 'credits'),
  alerts: Object.fromEntries(alertLevels.map((level) => [level, (to.alerts[level] ?? 0) - (from.alerts[level] ?? 0)])),
  oldestMs,
})
