// The one mapping from counters and states to metrics, in the text format that Prometheus reads.
import { collectDefaultMetrics, Counter, Gauge, Histogram as Buckets, Registry } from 'prom-client'
import type { Histogram } from './histogram.js'
import type { Count, Counts } from './tally.js'

export const providerStates = ['open', 'paused', 'breaker_open', 'stopped', 'probing'] as const
export const consumerStates = ['starting', 'running', 'draining', 'stopped', 'failed'] as const

/** The state of the API key. */
export type ProviderView = {
  readonly waiting: number
  readonly inFlight: number
  readonly state: (typeof providerStates)[number]
  readonly reason?: string
  readonly until?: number
  readonly spent: { readonly hour: number; readonly day: number; readonly run: number }
  readonly latencyMs: number
}

export type PartitionView = { readonly lag: number; readonly progressAt: number; readonly chunkSince?: number }

export type ConsumerView = {
  readonly state: (typeof consumerStates)[number]
  readonly joins: number
  readonly restarts: number
  /** When it left its group without having joined again. */
  readonly leftAt?: number
  /** When a broker last answered, where that is too long ago. */
  readonly unreachableSince?: number
  /** By `topic/partition`, of those that are ours. */
  readonly partitions: Readonly<Record<string, PartitionView>>
}

export type MetricsSources = {
  readonly counts: () => Counts
  readonly provider?: (() => ProviderView) | undefined
  readonly consumer?: (() => ConsumerView) | undefined
  /** Calls allowed in an hour and a day, 0 for no limit. */
  readonly allowed: { readonly hour: number; readonly day: number }
  readonly version: string
  /** Events on their way, or answers to callers. */
  readonly shows?: 'line' | 'answers'
}

export type Metrics = { readonly contentType: string; readonly text: () => Promise<string> }

export const createMetrics = (sources: MetricsSources): Metrics => {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'threatweave_' })
  // Their labels come and go with what the process has open, and their totals are named as counters are.
  for (const what of ['handles', 'requests', 'resources'])
    for (const end of ['', '_total']) registry.removeSingleMetric(`threatweave_nodejs_active_${what}${end}`)
  const collections = registry.getSingleMetric('threatweave_nodejs_gc_duration_seconds')
  if (collections instanceof Buckets)
    for (const kind of ['major', 'minor', 'incremental', 'weakcb']) collections.zero({ kind })
  let counts = sources.counts()
  const counter = (
    name: string,
    help: string,
    labelNames: readonly string[],
    read: (counts: Counts) => Values,
  ): void => {
    new Counter({
      name: `threatweave_${name}_total`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, value } of valuesOf(read(counts))) this.inc(labels, value)
      },
    })
  }
  const gauge = (name: string, help: string, labelNames: readonly string[], read: () => Values): void => {
    new Gauge({
      name: `threatweave_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset()
        for (const { labels, value } of valuesOf(read())) this.set(labels, value)
      },
    })
  }
  const histogram = (name: string, help: string, read: (counts: Counts) => Histogram): void => {
    const metric = new Buckets({ name: `threatweave_${name}_seconds`, help, registers: [registry] })
    const get = (): Promise<unknown> => Promise.resolve(exposed(`threatweave_${name}_seconds`, help, read(counts)))
    Object.assign(metric, { get, getForPromString: get })
  }

  const { provider, consumer, allowed, shows = 'line' } = sources
  if (shows === 'line') {
    counter('events_read', 'Events that entered the line.', [], ({ read }) => read)
    counter('events', 'Events that left the line, by status and verdict.', ['status', 'verdict'], ({ left }) => left)
    counter(
      'events_by_format',
      'Events that left the line, by the log format that recognised them.',
      ['format'],
      ({ byFormat }) => byFormat,
    )
    counter('events_delivered', 'Events acknowledged by the brokers.', [], ({ delivered }) => delivered)
    counter(
      'indicators',
      'Indicators seen, by what was decided about them and why their verdict is unknown.',
      ['decision', 'reason'],
      ({ indicators }) => indicators,
    )
    counter('deadline_misses', 'Indicators waited for until the deadline.', [], ({ deadlineMisses }) => deadlineMisses)
    counter(
      'waited_seconds',
      'Time in which events waited for answers; partitions that wait at the same time count once.',
      [],
      ({ waitedMs }) => waitedMs / 1000,
    )
    counter('records_reduced', 'Records that could not be written whole.', ['to'], ({ reduced }) => reduced)
    counter('dead_letters', 'Records that went to the dead letters.', ['reason'], ({ deadLetters }) => deadLetters)
    counter('alerts', 'Alerts raised, by level.', ['level'], ({ alerts }) => alerts)
    counter('late_alerts', 'Alerts raised after their event had left.', [], ({ lateAlerts }) => lateAlerts)
    histogram('line', 'Time of a chunk in the line, waiting for answers included.', ({ lineSeconds }) => lineSeconds)
    histogram(
      'end_to_end',
      'Age of events when acknowledged, taken from the first record of each chunk.',
      ({ endToEndSeconds }) => endToEndSeconds,
    )
  } else {
    counter(
      'answers',
      'Answers to callers, by operation and status.',
      ['operation', 'status'],
      ({ answers }) => answers,
    )
    histogram('answer', 'Time of an answer to a caller.', ({ answerSeconds }) => answerSeconds)
  }
  counter('memory_asks', 'Asks of the memory, by how they went.', ['kind'], ({ recalls }) => byName('kind', recalls))
  counter('memory_refreshes', 'Findings asked for again behind an answer.', [], ({ refreshes }) => refreshes)
  gauge('memory_kept', 'One while what is paid for can be written to disk, zero while it cannot.', [], () =>
    counts.isMemoryKept === undefined ? [] : Number(counts.isMemoryKept),
  )
  counter('calls', 'Calls to the provider, by operation and outcome.', ['operation', 'code'], ({ calls }) => calls)
  counter('notices', 'What the program said about itself, by event.', ['event'], ({ notices }) => notices)
  histogram('lookup', 'Time of a lookup that the memory missed.', ({ lookupSeconds }) => lookupSeconds)
  histogram('call', 'Time of a call to the provider.', ({ callSeconds }) => callSeconds)

  if (provider) {
    counter('credits', 'Calls sent and charged to the budget since the start.', [], () => provider().spent.run)
    gauge('credits_spent', 'Calls charged in the current hour and day (UTC).', ['window'], () => {
      const { hour, day } = provider().spent
      return byName('window', { hour, day })
    })
    gauge('credits_allowed', 'Calls allowed in an hour and a day, 0 for no limit.', ['window'], () =>
      byName('window', allowed),
    )
    gauge('waiting', 'Lookups that wait for their turn.', [], () => provider().waiting)
    gauge('in_flight', 'Calls under way.', [], () => provider().inFlight)
    gauge('provider_state', 'One for the state that the way to the provider is in.', ['state'], () =>
      oneOf(providerStates, provider().state),
    )
  }
  if (consumer) {
    gauge('lag', 'Records still to read, by partition.', ['topic', 'partition'], () =>
      Object.entries(consumer().partitions).map(([name, { lag }]) => ({ labels: placeOf(name), value: lag })),
    )
    gauge('consumer_state', 'One for the state that the consumer is in.', ['state'], () =>
      oneOf(consumerStates, consumer().state),
    )
    gauge('brokers_reachable', 'One while the brokers answer, zero while none has for some seconds.', [], () =>
      consumer().unreachableSince === undefined ? 1 : 0,
    )
    counter('group_joins', 'Times the consumer joined its group.', [], () => consumer().joins)
    counter('consumer_restarts', 'Times the consumer was started again.', [], () => consumer().restarts)
  }
  gauge('build_info', 'One, labelled with what runs.', ['version', 'node'], () => [
    { labels: { version: sources.version, node: process.version }, value: 1 },
  ])
  const text = (): Promise<string> => {
    counts = sources.counts()
    return registry.metrics()
  }
  return { contentType: registry.contentType, text }
}

type Values = number | readonly Count[]

const valuesOf = (values: Values): readonly Count[] =>
  typeof values === 'number' ? [{ labels: {}, value: values }] : values

const byName = (label: string, values: Readonly<Record<string, number>>): readonly Count[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))

const oneOf = (states: readonly string[], current: string): readonly Count[] =>
  states.map((state) => ({ labels: { state }, value: state === current ? 1 : 0 }))

const placeOf = (name: string): Record<string, string> => {
  const slash = name.lastIndexOf('/')
  return { topic: name.slice(0, slash), partition: name.slice(slash + 1) }
}

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
