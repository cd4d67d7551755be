// The charts of the last hour.
import type { ProcessKind } from '../../../telemetry/metrics.js'
import { h, type Node } from '../markup/node.js'
import { formatCount, formatDuration, formatRate, formatTime } from '../markup/numbers.js'
import { drawPlot, type Plot } from '../markup/plot.js'
import { levels } from '../state/alert-board.js'
import type { Point } from '../state/history.js'

const minuteMs = 60_000
/** A young process shows a shorter span than an hour, to fill the chart. */
const spans = [2, 5, 10, 15, 30, 60].map((minutes) => minutes * minuteMs)
const maxBars = 30
/** The span of a point. */
const minBarMs = 10_000

export const chartNodes = (kind: ProcessKind, points: readonly Point[], upMs: number, now: number): readonly Node[] => {
  const span = spans.find((one) => one >= upMs) ?? 60 * minuteMs
  const to = points.at(-1)?.at ?? now
  const window = { from: to - span, to }
  const shown = points.filter(({ at }) => at > window.from)
  const isServer = kind === 'server'
  const plots = isServer
    ? [
        rateOf('requests', 'Requests', 'requests/s', shown, (point) => point.requestsPerSecond),
        lookups(shown),
        rateOf('credits', 'Credits', 'credits/min', shown, (point) => point.creditsPerMinute),
      ]
    : [
        rateOf('events', 'Events', 'events/s', shown, (point) => point.eventsPerSecond),
        alertsByLevel(shown, window, Math.max(minBarMs, span / maxBars)),
        lookups(shown),
        age(shown),
      ]
  return [
    h(
      'h2',
      {},
      span === 60 * minuteMs ? 'The last hour' : `The last ${span / minuteMs} minutes`,
      h('small', {}, ' UTC'),
    ),
    h('div', { class: isServer ? 'charts three' : 'charts' }, ...plots.map((plot) => drawPlot({ ...plot, ...window }))),
  ]
}

type Drawn = Omit<Plot, 'from' | 'to'>

const rateOf = (
  id: string,
  title: string,
  unit: string,
  points: readonly Point[],
  valueOf: (point: Point) => number,
): Drawn => {
  const words = ([value = 0]: readonly (number | undefined)[]): string => `${formatRate(value)} ${unit}`
  const values = points.map((point) => ({ at: point.at, of: [valueOf(point)] }))
  return {
    id,
    title,
    shape: 'lines',
    series: ['first'],
    legend: [],
    values,
    now: words(values.at(-1)?.of ?? [0]),
    note: highestOf(values, (value) => `${formatRate(value)} ${unit}`),
    tick: formatRate,
    words,
    atLeast: 1,
  }
}

const lookups = (points: readonly Point[]): Drawn => {
  const words = ([hits = 0, calls = 0]: readonly (number | undefined)[]): string =>
    `${formatRate(hits)}/s from memory, ${formatRate(calls)}/s asked`
  const values = points.map((point) => ({ at: point.at, of: [point.hitsPerSecond, point.callsPerSecond] }))
  return {
    id: 'lookups',
    title: 'Lookups',
    shape: 'lines',
    series: ['first', 'second'],
    legend: [
      { id: 'first', name: 'answered from memory' },
      { id: 'second', name: 'calls to the provider' },
    ],
    values,
    now: words(values.at(-1)?.of ?? []),
    note: '',
    tick: formatRate,
    words,
    atLeast: 1,
  }
}

const age = (points: readonly Point[]): Drawn => {
  const words = ([value]: readonly (number | undefined)[]): string =>
    value === undefined ? 'nothing was delivered' : formatAge(value)
  const values = points.map(({ at, oldestMs }) => ({ at, of: [oldestMs] }))
  return {
    id: 'age',
    title: 'Age of the oldest event at delivery',
    shape: 'lines',
    series: ['first'],
    legend: [],
    values,
    now: words(values.at(-1)?.of ?? [undefined]),
    note: highestOf(values, formatAge),
    tick: formatAge,
    words,
    atLeast: 100,
  }
}

const formatAge = (ms: number): string =>
  ms === 0 ? '0' : ms < 1000 ? `${Math.round(ms)} ms` : ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms)

const alertsByLevel = (
  points: readonly Point[],
  { from, to }: { readonly from: number; readonly to: number },
  barMs: number,
): Drawn => {
  const worstFirst = [...levels].reverse()
  const bars = Array.from({ length: Math.round((to - from) / barMs) }, (_, nth) => {
    const at = from + (nth + 1) * barMs
    const inside = points.filter((point) => point.at > at - barMs && point.at <= at)
    return { at, of: worstFirst.map((level) => inside.reduce((sum, point) => sum + (point.alerts[level] ?? 0), 0)) }
  })
  const totals = worstFirst.map((_, nth) => bars.reduce((sum, { of }) => sum + (of[nth] ?? 0), 0))
  const words = (of: readonly (number | undefined)[]): string => {
    const said = worstFirst.flatMap((level, nth) =>
      (of[nth] ?? 0) > 0 ? [`${formatCount(of[nth] ?? 0)} ${level}`] : [],
    )
    return said.length > 0 ? said.join(', ') : 'no alerts'
  }
  return {
    id: 'alerts',
    title: 'Alerts by level',
    shape: 'bars',
    series: worstFirst,
    legend: worstFirst.flatMap((level, nth) => ((totals[nth] ?? 0) > 0 ? [{ id: level, name: level }] : [])),
    values: bars,
    barMs,
    now: words(totals),
    note: '',
    tick: formatCount,
    words,
    atLeast: 2,
  }
}

const highestOf = (values: Drawn['values'], format: (value: number) => string): string => {
  const found = values.flatMap(({ at, of }) => (of[0] === undefined ? [] : [{ at, value: of[0] }]))
  if (found.length === 0) return ''
  const highest = found.reduce((one, other) => (other.value > one.value ? other : one))
  const mean = found.reduce((sum, { value }) => sum + value, 0) / found.length
  return `highest ${format(highest.value)} at ${formatTime(highest.at)}, mean ${format(mean)}`
}
