// Maps counters and states to Prometheus metrics.
import { type ConsumerHealth, consumerStates } from '../domain/consumer-health.js'
import { type AllowedCalls, type ProviderState, providerStates } from '../domain/provider-state.js'
import type { Count, Counts } from './counters.js'
import { defineFeedMetrics, type FeedMetrics } from './feed-metrics.js'
import { defineGeoMetrics, type GeoMetrics } from './geo-metrics.js'
import { defineSourceMetrics, type SourceMetrics } from './source-metrics.js'
import { defineRuleMetrics, type RuleMetrics } from './rule-metrics.js'
import { defineSinkMetrics, type SinkMetrics } from './sink-metrics.js'
import { createDefine, createNodeMetrics, type Define } from './define-metrics.js'

type MetricsSources = {
  readonly counts: () => Counts
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly allowed: AllowedCalls
  readonly feeds?: (() => readonly FeedMetrics[]) | undefined
  readonly geo?: (() => readonly GeoMetrics[]) | undefined
  /** Absent if none is configured. */
  readonly sources?: (() => readonly SourceMetrics[]) | undefined
  readonly rules?: (() => readonly RuleMetrics[]) | undefined
  /** Only in `notify`. */
  readonly sinks?: (() => SinkMetrics) | undefined
  /** The maximum time that events wait for lookups. */
  readonly deadlineMs?: number
  readonly version: string
  /** The job of the process: annotate events, answer lookups, or send alerts. */
  readonly kind?: ProcessKind
}

export type ProcessKind = 'pipeline' | 'server' | 'notify'

export type Metrics = { readonly contentType: string; readonly text: () => Promise<string> }

export const createMetrics = (sources: MetricsSources): Metrics => {
  const node = createNodeMetrics()
  const define = createDefine()
  const { kind = 'pipeline' } = sources
  if (kind === 'server') defineServerMetrics(define)
  if (kind === 'pipeline') definePipelineMetrics(define)
  if (kind === 'notify') defineLogMetrics(define)
  else defineLookupMetrics(define)
  if (sources.sinks) defineSinkMetrics(define, sources.sinks, Date.now)
  if (sources.provider) defineProviderMetrics(define, sources.provider, sources.allowed)
  if (sources.consumer) defineConsumerMetrics(define, sources.consumer)
  if (sources.feeds) defineFeedMetrics(define, sources.feeds, Date.now)
  if (sources.geo) defineGeoMetrics(define, sources.geo, Date.now)
  if (sources.sources) defineSourceMetrics(define, sources.sources)
  const { deadlineMs } = sources
  if (deadlineMs !== undefined && kind === 'pipeline')
    define.gauge('deadline_seconds', 'The maximum time that events wait for lookups.', () => deadlineMs / 1000)
  if (sources.rules) defineRuleMetrics(define, sources.rules)
  define.gauge('build_info', 'Always 1; the labels name the version.', () => [
    { labels: { version: sources.version, node: process.version }, value: 1 },
  ])
  const text = async (): Promise<string> => `${await node.metrics()}\n${define.text(sources.counts())}`
  return { contentType: node.contentType, text }
}

const definePipelineMetrics = ({ counter, gauge, histogram }: Define): void => {
  gauge(
    'topics_missing',
    'Topics for dead letters, alerts, corrections, state and verdicts that did not exist at the start.',
    ({ missingTopics }) => missingTopics,
  )
  counter('events_read', 'Events read from the input.', ({ read }) => read)
  counter('events', 'Events annotated, by status and verdict.', ({ annotated }) => annotated)
  counter('events_by_format', 'Events annotated, by the log format that recognised them.', ({ byFormat }) => byFormat)
  counter(
    'binary_events',
    'Events with binary values, such as Avro, which are written as base64.',
    ({ binary }) => binary,
  )
  counter(
    'values_not_read',
    'Values that could not be read in the format of their topic, by reason.',
    ({ unread }) => unread,
  )
  counter('events_delivered', 'Events acknowledged by the brokers.', ({ delivered }) => delivered)
  counter(
    'indicators',
    'Indicators found in events, by decision and by the reason of an unknown verdict.',
    ({ indicators }) => indicators,
  )
  counter(
    'deadline_misses',
    'Indicators whose lookup did not finish before the deadline.',
    ({ deadlineMisses }) => deadlineMisses,
  )
  counter(
    'wait_seconds',
    'Wall time spent waiting for lookups; concurrent waits of several partitions count once.',
    ({ waitedMs }) => waitedMs / 1000,
  )
  counter(
    'records_reduced',
    'Records too large to be written in full, by what was written.',
    (counts) => counts.reduced,
  )
  counter('dead_letters', 'Records sent to the dead-letter topic.', ({ deadLetters }) => deadLetters)
  counter('alerts', 'Alerts raised, by level.', ({ alerts }) => alerts)
  counter(
    'accused_events_without_alert',
    'Malicious or suspicious events without an alert, by reason.',
    ({ withoutAlert }) => withoutAlert,
  )
  counter('late_alerts', 'Alerts raised after their event was delivered.', ({ lateAlerts }) => lateAlerts)
  counter('events_corrected', 'Events rewritten with a late verdict.', (counts) => counts.corrected)
  counter(
    'events_not_followed_up',
    'Events written before their verdict that get neither late alert nor correction: too many are pending, or the record is gone.',
    (counts) => counts.notFollowedUp,
  )
  counter(
    'forged_headers',
    'Input records with headers that only Threatweave may write; the headers were removed.',
    (counts) => counts.forgedHeaders,
  )
  histogram(
    'pipeline_duration',
    'Time that a chunk of events spends in the pipeline, including waits for lookups.',
    ({ pipelineSeconds }) => pipelineSeconds,
  )
  histogram(
    'end_to_end_latency',
    'Age of events when the brokers acknowledge them, by the first record of each chunk.',
    ({ endToEndSeconds }) => endToEndSeconds,
  )
}

const defineServerMetrics = ({ counter, histogram }: Define): void => {
  counter('requests', 'Requests answered, by operation and status of the body.', ({ requests }) => requests)
  counter(
    'bulk_limits_reached',
    'Bulk connections and lookups refused because too many were open, and connections closed because answers were not read.',
    ({ bulkLimited }) => bulkLimited,
  )
  histogram('request_duration', 'Time to answer a request.', ({ requestSeconds }) => requestSeconds)
}

const defineLogMetrics = ({ counter }: Define): void =>
  counter('log_events', 'Log events, by name.', ({ logEvents }) => logEvents)

const defineLookupMetrics = (define: Define): void => {
  const { counter, gauge, histogram } = define
  counter('memory_lookups', 'Lookups in the memory, by result.', ({ memoryLookups }) => byName('result', memoryLookups))
  counter('memory_refreshes', 'Findings refreshed in the background.', ({ refreshes }) => refreshes)
  gauge('memory_writable', '1 while findings can be written to disk, 0 while they cannot.', ({ isMemoryWritable }) =>
    isMemoryWritable === undefined ? [] : Number(isMemoryWritable),
  )
  counter('provider_calls', 'Calls to the provider, by operation and outcome.', ({ providerCalls }) => providerCalls)
  counter(
    'verdicts_learnt',
    'Verdicts of other processes, read from the verdicts topic.',
    (counts) => counts.verdicts.learnt,
  )
  counter(
    'verdicts_appended',
    'Verdicts of this process, written to the verdicts topic.',
    (counts) => counts.verdicts.appended,
  )
  counter('verdicts_refused', 'Rejected records of the verdicts topic.', (counts) => counts.verdicts.refused)
  counter('state_records_refused', 'Rejected records of the state topic.', (counts) => counts.stateRefused)
  counter(
    'verdicts_not_shared',
    'Verdicts of this process that could not be shared on the verdicts topic.',
    (counts) => counts.verdicts.notShared,
  )
  gauge(
    'verdicts_delay_seconds',
    'Time from the lookup of the last verdict read from the topic to its arrival.',
    ({ verdicts: { delayMs } }) => (delayMs === undefined ? [] : delayMs / 1000),
  )
  gauge('gateway_calls', '1 if this gateway is the leader that calls the provider.', ({ election }) =>
    election.isCalling === undefined ? [] : Number(election.isCalling),
  )
  counter('gateway_takeovers', 'How often this gateway has begun to call.', ({ election }) => election.takeovers)
  counter('gateway_passed_on', 'Questions passed on to the gateway that calls.', ({ election }) => election.passedOn)
  defineLogMetrics(define)
  histogram('lookup_duration', 'Time of a lookup that was not in the memory.', ({ lookupSeconds }) => lookupSeconds)
  histogram(
    'provider_call_duration',
    'Time of a call to the provider.',
    ({ providerCallSeconds }) => providerCallSeconds,
  )
}

const defineProviderMetrics = (
  { counter, gauge }: Define,
  provider: () => ProviderState,
  allowed: MetricsSources['allowed'],
): void => {
  counter('credits', 'Calls charged to the budget since the start.', () => provider().spent.run)
  gauge('budget_used', 'Calls charged in the current hour and day (UTC).', () => {
    const { hour, day } = provider().spent
    return byName('window', { hour, day })
  })
  gauge('budget_limit', 'Calls allowed per hour and per day, 0 for no limit.', () => {
    const isElsewhere = allowed.isDefault === true && provider().isGateway === true
    return byName('window', isElsewhere ? { hour: 0, day: 0 } : { hour: allowed.hour, day: allowed.day })
  })
  gauge('queued_lookups', 'Lookups waiting in the queue.', () => provider().waiting)
  gauge('provider_calls_in_flight', 'Calls to the provider in flight.', () => provider().inFlight)
  gauge('provider_calls_allowed', 'Calls to the provider that may be in flight.', () => provider().allowed)
  gauge('provider_state', '1 for the current state of the provider.', () => oneOf(providerStates, provider().state))
}

const defineConsumerMetrics = ({ counter, gauge }: Define, consumer: () => ConsumerHealth): void => {
  gauge('consumer_lag', 'Records not read yet, by partition.', () =>
    Object.entries(consumer().partitions).map(([name, { lag }]) => ({ labels: placeOf(name), value: lag })),
  )
  gauge('consumer_state', '1 for the current state of the consumer.', () => oneOf(consumerStates, consumer().state))
  gauge('brokers_reachable', '1 while the brokers answer, 0 when none has answered for some seconds.', () =>
    consumer().unreachableSince === undefined ? 1 : 0,
  )
  counter('group_joins', 'Times the consumer joined its group.', () => consumer().joins)
  counter('consumer_restarts', 'Times the consumer was restarted.', () => consumer().restarts)
}

const byName = (label: string, values: Readonly<Record<string, number>>): readonly Count[] =>
  Object.entries(values).map(([name, value]) => ({ labels: { [label]: name }, value }))

const oneOf = (states: readonly string[], current: string): readonly Count[] =>
  states.map((state) => ({ labels: { state }, value: state === current ? 1 : 0 }))

const placeOf = (name: string): Record<string, string> => {
  const slash = name.lastIndexOf('/')
  return { topic: name.slice(0, slash), partition: name.slice(slash + 1) }
}
