// The last seconds and the last hour, as rates: one sample a second, and one point every half minute.

export type Sample = {
  readonly at: number
  readonly read: number
  readonly indicators: number
  readonly asks: number
  readonly hits: number
  readonly calls: number
  readonly credits: number
  readonly left: number
  readonly delivered: number
  readonly lag: number
  /** How often each reason was given. */
  readonly reasons: Readonly<Record<string, number>>
}

type Counter = 'read' | 'indicators' | 'asks' | 'hits' | 'calls' | 'credits' | 'left' | 'delivered'

export type Point = {
  readonly eventsPerSecond: number
  readonly lag: number
  /** Between 0 and 1; nothing where the memory was not asked. */
  readonly hitRatio: number | undefined
  readonly callsPerMinute: number
  readonly creditsPerMinute: number
}

export type History = {
  readonly tick: () => void
  /** A second, over the last seconds. */
  readonly rate: (counter: Counter) => number
  readonly hitRatio: () => number | undefined
  /** Since a minute ago. */
  readonly lastMinute: (reason: string) => number
  readonly points: () => readonly Point[]
}

const rateSamples = 5
const keptSamples = 60
const pointMs = 30_000
const maxPoints = 120

export const createHistory = (take: () => Sample): History => {
  const first = take()
  let samples: Sample[] = [first]
  let points: Point[] = []
  let since = first
  const latest = (): Sample => samples.at(-1) ?? first
  const before = (): Sample => samples.at(-1 - rateSamples) ?? samples[0] ?? first
  return {
    tick: () => {
      const sample = take()
      samples = [...samples.slice(-keptSamples), sample]
      if (sample.at - since.at < pointMs) return
      points = [...points.slice(1 - maxPoints), pointOf(since, sample)]
      since = sample
    },
    rate: (counter) => perSecond(before(), latest(), counter),
    hitRatio: () => ratioOf(before(), latest()),
    lastMinute: (reason) => (latest().reasons[reason] ?? 0) - (samples[0]?.reasons[reason] ?? 0),
    points: () => (latest().at > since.at ? [...points, pointOf(since, latest())] : points),
  }
}

const perSecond = (from: Sample, to: Sample, counter: Counter): number =>
  to.at > from.at ? ((to[counter] - from[counter]) * 1000) / (to.at - from.at) : 0

const ratioOf = (from: Sample, to: Sample): number | undefined =>
  to.asks > from.asks ? (to.hits - from.hits) / (to.asks - from.asks) : undefined

const pointOf = (from: Sample, to: Sample): Point => ({
  eventsPerSecond: perSecond(from, to, 'left'),
  lag: to.lag,
  hitRatio: ratioOf(from, to),
  callsPerMinute: 60 * perSecond(from, to, 'calls'),
  creditsPerMinute: 60 * perSecond(from, to, 'credits'),
})
