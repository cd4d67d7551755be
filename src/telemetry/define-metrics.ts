// Defines metrics in prom-client, read from plain counters when they are scraped.
import { collectDefaultMetrics, Counter, Gauge, Histogram as Buckets, Registry } from 'prom-client'
import type { Count, Counts } from './counters.js'
import type { Histogram } from './histogram.js'

export type Values = number | readonly Count[]

/** Node's own metrics under prom-client's default names (`nodejs_…`, `process_…`), which existing dashboards know. */
export const createRegistry = (): Registry => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Left out: their label values come and go with the open handles, and promtool rejects gauges named `_total`.
  for (const what of ['handles', 'requests', 'resources'])
    for (const suffix of ['', '_total']) registry.removeSingleMetric(`nodejs_active_${what}${suffix}`)
  const collections = registry.getSingleMetric('nodejs_gc_duration_seconds')
  if (collections instanceof Buckets)
    for (const kind of ['major', 'minor', 'incremental', 'weakcb']) collections.zero({ kind })
  return registry
}

export type Define = {
  readonly counter: (name: string, help: string, labels: readonly string[], read: (counts: Counts) => Values) => void
  readonly gauge: (name: string, help: string, labels: readonly string[], read: (counts: Counts) => Values) => void
  readonly histogram: (name: string, help: string, read: (counts: Counts) => Histogram) => void
}

export const createDefine = (registry: Registry, counts: () => Counts): Define => ({
  counter: (name, help, labelNames, read) => {
    new Counter({
      name: `threatweave_${name}_total`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, value } of valuesOf(read(counts()))) this.inc(labels, value)
      },
    })
  },
  gauge: (name, help, labelNames, read) => {
    new Gauge({
      name: `threatweave_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, value } of valuesOf(read(counts()))) this.set(labels, value)
      },
    })
  },
  histogram: (name, help, read) => {
    const metric = new Buckets({ name: `threatweave_${name}_seconds`, help, registers: [registry] })
    const get = (): Promise<unknown> => Promise.resolve(exposed(`threatweave_${name}_seconds`, help, read(counts())))
    Object.assign(metric, { get, getForPromString: get })
  },
})

const valuesOf = (values: Values): readonly Count[] =>
  typeof values === 'number' ? [{ labels: {}, value: values }] : values

const exposed = (name: string, help: string, { bounds, counts, sum, count }: Histogram): unknown => {
  let below = 0
  const buckets = counts.map((value, place) => ({
    metricName: `${name}_bucket`,
    labels: { le: bounds[place] ?? '+Inf' },
    value: (below += value),
  }))
  const totals = [
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: count },
  ]
  return { name, help, type: 'histogram', values: [...buckets, ...totals], aggregator: 'sum' }
}
