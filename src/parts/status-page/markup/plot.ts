// Draws a chart: a plot with labelled axes whose values can be read with pointer, keyboard and screen reader.
import { formatTime } from './numbers.js'
import { h, type Node } from './node.js'

/** A line per series, or stacked bars. */
export type Plot = {
  readonly id: string
  readonly title: string
  /** The newest value in words. */
  readonly now: string
  /** A remark about the whole span. */
  readonly note: string
  readonly shape: 'lines' | 'bars'
  /** The CSS class of each series. */
  readonly series: readonly string[]
  readonly legend: readonly { readonly id: string; readonly name: string }[]
  /** Oldest first; one value per series, or undefined. */
  readonly values: readonly { readonly at: number; readonly of: readonly (number | undefined)[] }[]
  /** The span of a bar. */
  readonly barMs?: number
  readonly from: number
  readonly to: number
  /** Formats a value for the axis, and in words. */
  readonly tick: (value: number) => string
  readonly words: (of: readonly (number | undefined)[]) => string
  /** The minimum upper end of the axis. */
  readonly atLeast: number
}

const width = 1000
const height = 100
/** Shorter spans have seconds on the time axis. */
const secondsBelowMs = 240_000

export const drawPlot = (plot: Plot): Node => {
  const { id, title, now, note, legend, from, to, tick } = plot
  const top = niceTop(Math.max(plot.atLeast, ...plot.values.map(({ of }) => heightOf(plot, of))))
  const points = plot.values.map(({ at, of }) => ({ x: xOf(plot, at), y: yOf(heightOf(plot, of), top), at, of }))
  const texts = points.map(({ at, of }) => `${momentOf(plot, at)}: ${plot.words(of)}`)
  return h(
    'figure',
    { id: `chart-${id}`, class: 'chart' },
    h('figcaption', {}, h('h3', {}, title), h('p', { class: 'now', 'data-now': now }, now)),
    h(
      'div',
      {
        class: 'plot',
        tabindex: '0',
        role: 'slider',
        'aria-label': `${title}, by time`,
        'aria-valuemin': '0',
        'aria-valuemax': String(Math.max(0, points.length - 1)),
        'aria-valuenow': String(Math.max(0, points.length - 1)),
        'aria-valuetext': texts.at(-1) ?? 'nothing yet',
        'data-points': points.map(({ x, y }, nth) => `${x.toFixed(0)} ${y.toFixed(1)} ${texts[nth] ?? ''}`).join('|'),
      },
      h(
        'div',
        { class: 'axis', 'aria-hidden': 'true' },
        ...[top, top / 2, 0].map((value) => h('span', {}, tick(value))),
      ),
      h(
        'svg',
        { viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: 'none', 'aria-hidden': 'true', focusable: 'false' },
        h('path', { class: 'grid', d: `M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}` }),
        ...(plot.shape === 'bars' ? bars(plot, top) : lines(plot, top)),
        h('path', { class: 'cross', d: '' }),
        h('path', { class: 'dot', d: '' }),
      ),
      h(
        'div',
        { class: 'times', 'aria-hidden': 'true' },
        ...[0, 0.25, 0.5, 0.75, 1].map((part) =>
          h('span', {}, formatTime(from + part * (to - from)).slice(0, to - from < secondsBelowMs ? 8 : 5)),
        ),
      ),
    ),
    h('p', { class: 'note' }, ...legend.map((one) => h('span', { class: `key ${one.id}` }, one.name)), note),
  )
}

const heightOf = ({ shape }: Plot, of: readonly (number | undefined)[]): number =>
  shape === 'bars'
    ? of.reduce<number>((sum, value) => sum + (value ?? 0), 0)
    : Math.max(0, ...of.map((value) => value ?? 0))

const xOf = ({ from, to }: Plot, at: number): number => width * Math.min(1, Math.max(0, (at - from) / (to - from)))
const yOf = (value: number, top: number): number => height - (height * Math.max(0, value)) / top

const momentOf = ({ barMs }: Plot, at: number): string =>
  barMs === undefined ? formatTime(at) : `${formatTime(at - barMs).slice(0, 5)} to ${formatTime(at)}`

/** A segment per run of values; a single value is a dot. */
const lines = (plot: Plot, top: number): readonly Node[] =>
  plot.series.flatMap((id, nth) => {
    const runs: { x: string; y: string }[][] = [[]]
    for (const { at, of } of plot.values) {
      const value = of[nth]
      if (value === undefined) runs.push([])
      else runs.at(-1)?.push({ x: xOf(plot, at).toFixed(1), y: yOf(value, top).toFixed(1) })
    }
    return runs.flatMap((run) => {
      const [first] = run
      const last = run.at(-1)
      if (!first || !last) return []
      if (run.length === 1) return [h('path', { class: `line alone ${id}`, d: `M${first.x} ${first.y}h0` })]
      const line = `M${run.map(({ x, y }) => `${x} ${y}`).join('L')}`
      return [
        h('path', { class: `area ${id}`, d: `${line}L${last.x} ${height}L${first.x} ${height}Z` }),
        h('path', { class: `line ${id}`, d: line }),
      ]
    })
  })

const bars = (plot: Plot, top: number): readonly Node[] => {
  const wide = (width * (plot.barMs ?? 0)) / (plot.to - plot.from)
  return plot.values.flatMap(({ at, of }) => {
    let below = 0
    return of.flatMap((value = 0, nth) => {
      if (value === 0) return []
      const y = yOf(below + value, top)
      const tall = yOf(below, top) - y
      below += value
      const bar = h('rect', {
        class: `bar ${plot.series[nth] ?? ''}`,
        x: (xOf(plot, at) - wide * 0.9).toFixed(1),
        y: y.toFixed(1),
        width: (wide * 0.8).toFixed(1),
        height: tall.toFixed(1),
      })
      return [bar]
    })
  })
}

/** 1, 2 or 5 times a power of ten, so that its half is a round number too. */
const niceTop = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value))
  return power * ([1, 2, 4, 5, 10].find((step) => step * power >= value * 0.999) ?? 10)
}
