// A chart: its place, its axes, and the values that can be read from it.
import { describe, expect, it } from 'vitest'
import { toHtml } from '../../../../src/parts/status-page/markup/node.js'
import { drawPlot, type Plot } from '../../../../src/parts/status-page/markup/plot.js'

const plot: Plot = {
  id: 'events',
  title: 'Events',
  now: '10 events/s',
  note: 'highest 10 events/s',
  shape: 'lines',
  series: ['first'],
  legend: [],
  values: [],
  from: 0,
  to: 100_000,
  tick: String,
  words: ([value = 0]) => `${value} events/s`,
  atLeast: 1,
}
const drawn = (over: Partial<Plot>): string => toHtml(drawPlot({ ...plot, ...over }))
const lineIn = (html: string): string =>
  [...html.matchAll(/class="line (?:alone )?first" d="([^"]*)"/g)].map(([, line]) => line).join(' ')
const valuesOf = (...of: readonly (number | undefined)[]): Plot['values'] =>
  of.map((value, nth) => ({ at: nth * 50_000, of: [value] }))

describe('a chart', () => {
  it('goes from edge to edge, and from its bottom to a round number at its top', () => {
    const html = drawn({ values: valuesOf(0, 5, 9) })
    expect(lineIn(html)).toBe('M0.0 100.0L500.0 50.0L1000.0 10.0')
    expect(html).toContain('<span>10</span><span>5</span><span>0</span>')
    expect(html).toContain('<span>00:00:25</span>')
  })

  it.each<[string, readonly (number | undefined)[], string]>([
    ['nothing', [], ''],
    ['only gaps', [undefined, undefined], ''],
    ['one value', [1], 'M0.0 0.0h0'],
    ['zeros', [0, 0], 'M0.0 100.0L500.0 100.0'],
    ['a gap', [1, undefined, 1], 'M0.0 0.0h0 M1000.0 0.0h0'],
  ])('of %s is drawn', (_, values, line) => {
    expect(lineIn(drawn({ values: valuesOf(...values) }))).toBe(line)
  })

  it('says each value with its time, for the pointer, the keyboard and a screen reader', () => {
    const html = drawn({ values: valuesOf(2, 4) })
    expect(html).toContain('data-points="0 50.0 00:00:00 UTC: 2 events/s|500 0.0 00:00:50 UTC: 4 events/s"')
    expect(html).toContain('role="slider" aria-label="Events, by time"')
    expect(html).toContain('aria-valuetext="00:00:50 UTC: 4 events/s"')
    expect(drawn({})).toContain('aria-valuetext="nothing yet"')
  })

  it('stands bars on each other', () => {
    const html = drawn({
      shape: 'bars',
      series: ['high', 'low'],
      barMs: 50_000,
      values: [{ at: 50_000, of: [3, 1] }],
    })
    const bars = [...html.matchAll(/class="bar (\w+)" x="[^"]+" y="([^"]+)" width="[^"]+" height="([^"]+)"/g)]
    expect(bars.map(([, level, y, height]) => [level, y, height])).toEqual([
      ['high', '25.0', '75.0'],
      ['low', '0.0', '25.0'],
    ])
  })
})
