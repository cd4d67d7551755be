// The machine section: pipeline steps, latency, completeness, feeds, rules, partitions and settings.
import type { ConsumerHealth } from '../../../domain/consumer-health.js'
import type { ProviderState } from '../../../domain/provider-state.js'
import type { Counts } from '../../../telemetry/counters.js'
import type { ProcessKind } from '../../../telemetry/metrics.js'
import { h, type Node } from '../markup/node.js'
import { formatCount, formatPercent, formatRate } from '../markup/numbers.js'
import { table } from '../markup/table.js'
import type { History } from '../state/history.js'
import {
  electionRows,
  feedRows,
  partitionRows,
  pipelineLatencyRows,
  reasonRows,
  requestRows,
  ruleRows,
  serverLatencyRows,
  shareRows,
  sharingRows,
  sourceRows,
  verdictRows,
} from './machine-tables.js'
import type { FiredRule, ShownFeed, ShownSource } from '../../../ops/page.js'

type MachineSources = {
  readonly kind: ProcessKind
  readonly counts: Counts
  readonly history: History
  readonly provider: ProviderState | undefined
  readonly partitions: readonly [string, ConsumerHealth['partitions'][string]][]
  readonly lag: number
  readonly feeds: readonly ShownFeed[]
  readonly sources: readonly ShownSource[] | undefined
  readonly rules: readonly FiredRule[]
  readonly deadlineMs: number
  readonly upMs: number
  readonly now: number
}

export const machineNodes = (sources: MachineSources): readonly Node[] => {
  const { kind, counts, history, feeds, rules, deadlineMs, upMs, now, partitions } = sources
  const isServer = kind === 'server'
  const latency = isServer ? serverLatencyRows(counts) : pipelineLatencyRows(counts, deadlineMs)
  const sharing = sharingRows(counts)
  return [
    h('ol', { class: 'steps' }, ...(isServer ? serverSteps(sources) : pipelineSteps(sources))),
    table(
      'feeds',
      'Feeds',
      [
        'Feed',
        'State',
        'Addresses',
        'With port',
        'Names',
        'URLs',
        'Skipped',
        'Age',
        'Newest entry',
        'Entries seen',
        'Events',
        'Held back',
        'Alerts',
        'Alerts of it alone',
        'Next look',
        'Last error',
      ],
      feedRows(feeds, now),
      'None configured.',
    ),
    sources.sources && table('sources', 'Sources', sourceColumns, sourceRows(sources.sources, now)),
    table('latency', 'Latency since the start', ['What', 'Median (p50)', 'p99', 'Deadline'], latency),
    ...(isServer
      ? [
          table(
            'requests',
            'Requests since the start',
            ['Operation', 'Answered', 'Refused or failed'],
            requestRows(counts),
            'None yet.',
          ),
          table(
            'election',
            'Several gateways',
            ['This one', 'The one that calls', 'Takeovers', 'Questions passed on'],
            electionRows(counts),
            'This is the only gateway, or no leader is elected yet.',
          ),
        ]
      : [
          table('shares', 'How complete the answers are', ['What', 'Share', 'Of what'], shareRows(counts, upMs)),
          table(
            'reasons',
            'Why verdicts are unknown (indicators)',
            ['Reason', 'Last minute', 'Since start'],
            reasonRows(counts, history),
            'None yet.',
          ),
          table(
            'verdicts',
            'Events by verdict and status',
            ['Verdict', 'Complete', 'Partial', 'Failed', 'Skipped'],
            verdictRows(counts),
          ),
          table(
            'rules',
            'Alert rules since the start',
            ['Rule', 'Level', 'Alerts', 'Matching events', 'Last alert'],
            ruleRows(rules),
            'None: there is no alerts topic.',
          ),
          table(
            'partitions',
            'Partitions',
            ['Partition', 'Lag (events)', 'Last delivered', 'Chunk in progress'],
            partitionRows(partitions, now),
            'None assigned.',
          ),
        ]),
    sharing.length > 0 && table('sharing', 'Verdicts shared over Kafka', ['What', 'Since start', 'Details'], sharing),
  ].filter((node): node is Node => node !== undefined && node !== false)
}

const sourceColumns = [
  'Source',
  'State',
  'Asked',
  'Answers',
  'Accusing',
  'Clean',
  'Failed',
  'Queued',
  'Limits used',
  'Why not',
]

const step = (id: string, title: string, rate: number, unit: string, note: string): Node =>
  h(
    'li',
    {},
    h('h3', {}, title),
    h('p', { class: 'rate' }, h('b', { id: `rate-${id}` }, formatRate(rate)), ` ${unit}`),
    h('p', { class: 'soft', id: `note-${id}` }, note),
  )

const memoryStep = ({ history }: MachineSources): Node =>
  step('memory', 'Memory', history.rate('lookups'), 'lookups/s', `${formatPercent(history.hitRatio())} hits`)

const askStep = ({ history, provider }: MachineSources): Node =>
  step(
    'ask',
    'Provider',
    history.rate('calls'),
    'calls/s',
    provider
      ? `${formatCount(provider.inFlight)} calls in flight, ${formatCount(provider.waiting)} lookups queued`
      : 'no provider',
  )

const pipelineSteps = (sources: MachineSources): readonly Node[] => {
  const { counts, history, lag, partitions } = sources
  const malicious = total(counts.annotated.filter(({ labels }) => labels.verdict === 'malicious'))
  return [
    step(
      'read',
      'Read',
      history.rate('read'),
      'events/s',
      `lag ${formatCount(lag)} events in ${partitions.length} ${partitions.length === 1 ? 'partition' : 'partitions'}`,
    ),
    step('extract', 'Extract', history.rate('indicators'), 'indicators/s', 'addresses and names'),
    memoryStep(sources),
    askStep(sources),
    step(
      'annotate',
      'Annotate',
      history.rate('annotated'),
      'events/s',
      `${formatCount(malicious)} of ${formatCount(total(counts.annotated))} events malicious`,
    ),
    step(
      'deliver',
      'Deliver',
      history.rate('delivered'),
      'events/s',
      `${formatCount(total(counts.deadLetters))} dead letters, ${formatCount(total(counts.alerts))} alerts`,
    ),
  ]
}

const serverSteps = (sources: MachineSources): readonly Node[] => {
  const { counts, history } = sources
  const failed = total(counts.requests.filter(({ labels }) => labels.status !== '200'))
  return [
    step(
      'requests',
      'Requests',
      history.rate('requests'),
      'requests/s',
      `${formatCount(total(counts.requests))} since the start, ${formatCount(failed)} of them refused or failed`,
    ),
    memoryStep(sources),
    askStep(sources),
  ]
}

const total = (counts: readonly { readonly value: number }[]): number =>
  counts.reduce((sum, { value }) => sum + value, 0)
