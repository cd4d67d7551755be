// Renders plain counters as Prometheus text at each scrape; the metrics of Node come from prom-client.
import { collectDefaultMetrics, Histogram as Buckets, Registry } from 'prom-client'
import type { Count, Counts } from './counters.js'
import type { Histogram } from './histogram.js'

export type Values = number | readonly Count[]

type Read<Value> = (counts: Counts) => Value

export type Define = {
  readonly counter: (name: string, help: string, read: Read<Values>) => void
  readonly gauge: (name: string, help: string, read: Read<Values>) => void
  readonly histogram: (name: string, help: string, read: Read<Histogram>) => void
}

/** Keeps the default names of prom-client (`nodejs_…`, `process_…`), which existing dashboards use. */
export const createNodeMetrics = (): Registry => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // Removed: their label values change with the open handles, and promtool rejects gauges named `_total`.
  for (const what of ['handles', 'requests', 'resources'])
    for (const suffix of ['', '_total']) registry.removeSingleMetric(`nodejs_active_${what}${suffix}`)
  const collections = registry.getSingleMetric('nodejs_gc_duration_seconds')
  if (collections instanceof Buckets)
    for (const kind of ['major', 'minor', 'incremental', 'weakcb']) collections.zero({ kind })
  return registry
}

/** `text` writes the metrics in the order of their definition. */
export const createDefine = (): Define & { readonly text: (counts: Counts) => string } => {
  const metrics: ((counts: Counts) => string)[] = []
  const define = (name: string, help: string, type: string, lines: Read<readonly string[]>): void => {
    const head = `# HELP ${name} ${help}\n# TYPE ${name} ${type}`
    metrics.push((counts) => [head, ...lines(counts), ''].join('\n'))
  }
  const plain = (name: string, help: string, type: string, read: Read<Values>): void =>
    define(name, help, type, (counts) => valuesOf(read(counts)).map(({ labels, value }) => lineOf(name, labels, value)))
  return {
    counter: (name, help, read) => plain(`threatweave_${name}_total`, help, 'counter', read),
    gauge: (name, help, read) => plain(`threatweave_${name}`, help, 'gauge', read),
    histogram: (name, help, read) => {
      const full = `threatweave_${name}_seconds`
      define(full, help, 'histogram', (counts) => linesOf(full, read(counts)))
    },
    text: (counts) => metrics.map((write) => write(counts)).join('\n'),
  }
}

const valuesOf = (values: Values): readonly Count[] =>
  typeof values === 'number' ? [{ labels: {}, value: values }] : values

const linesOf = (name: string, { bounds, counts, sum, count }: Histogram): readonly string[] => {
  let below = 0
  const buckets = counts.map((value, place) =>
    lineOf(`${name}_bucket`, { le: String(bounds[place] ?? '+Inf') }, (below += value)),
  )
  return [...buckets, lineOf(`${name}_sum`, {}, sum), lineOf(`${name}_count`, {}, count)]
}

const lineOf = (name: string, labels: Count['labels'], value: number): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
