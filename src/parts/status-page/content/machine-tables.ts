// The rows of the tables in the machine section.
import { skippedIn } from '../../../domain/skipped.js'
import type { ConsumerHealth } from '../../../domain/consumer-health.js'
import type { Counts } from '../../../telemetry/counters.js'
import { quantileOf, type Histogram } from '../../../telemetry/histogram.js'
import type { History } from '../state/history.js'
import { formatCount, formatDuration, formatLatency, formatPercent, formatTime } from '../markup/numbers.js'
import { clip } from '../markup/node.js'
import type { FiredRule, ShownFeed, ShownSource } from '../../../ops/page.js'
import type { Rows } from '../markup/table.js'

export const ruleRows = (rules: readonly FiredRule[]): Rows =>
  rules
    .slice(0, 100)
    .map(({ title, level, alerts: raised, matches, at }) => [
      clip(title, 200),
      level,
      formatCount(raised),
      formatCount(matches),
      at === undefined ? 'never' : formatTime(at),
    ])

export const feedRows = (feeds: readonly ShownFeed[], now: number): Rows =>
  feeds.map(
    ({ name, state, addresses, endpoints, names, urls, skipped, modified, newestEntry, use, problem, fetch }) => [
      clip(name, 64),
      state,
      formatCount(addresses),
      formatCount(endpoints),
      formatCount(names),
      formatCount(urls),
      formatCount(skippedIn(skipped)),
      modified === undefined ? '' : formatDuration(now - modified),
      newestEntry === undefined ? '' : formatDuration(now - newestEntry),
      use ? formatCount(use.entriesSeen) : '',
      use ? formatCount(use.events) : '',
      use ? formatCount(use.heldBack) : '',
      use ? formatCount(use.alerts) : '',
      use ? formatCount(use.onlyAlerts) : '',
      fetch ? `in ${formatDuration(fetch.nextAt - now)}` : 'when its file changes',
      clip(fetch?.error ?? problem?.message ?? (fetch?.read ? readOf(fetch.read) : ''), 400),
    ],
  )

const accusing = new Set(['malicious', 'suspicious'])
const answering = new Set([...accusing, 'clean', 'nothing', 'not_found'])

export const sourceRows = (sources: readonly ShownSource[], now: number): Rows =>
  sources.map(({ id, ask, counts, state }) => {
    const sum = (isCounted: (outcome: string) => boolean): string =>
      formatCount([...counts].reduce((all, [outcome, value]) => all + (isCounted(outcome) ? value : 0), 0))
    const { limits = [], waiting, reason, until } = state
    return [
      clip(id, 64),
      state.state === 'open' ? 'available' : state.state.replaceAll('_', ' '),
      ask,
      sum((outcome) => answering.has(outcome)),
      sum((outcome) => accusing.has(outcome)),
      sum((outcome) => outcome === 'clean'),
      sum((outcome) => !answering.has(outcome)),
      formatCount(waiting),
      limits.map(({ calls, per, used }) => `${formatCount(used)} of ${formatCount(calls)} per ${per}`).join(', '),
      reason === undefined
        ? ''
        : `${reason.replaceAll('_', ' ')}${until === undefined ? '' : `, next call in ${formatDuration(until - now)}`}`,
    ]
  })

const readOf = ({ pages, objects, cursor }: { pages: number; objects: number; cursor?: string | undefined }): string =>
  `${formatCount(objects)} objects in ${formatCount(pages)} pages${cursor === undefined ? '' : `, up to ${cursor}`}`

/** Estimated from the buckets of /metrics, so that both agree. */
const latencyRow = (title: string, histogram: Histogram, deadline: string): string[] => [
  title,
  formatLatency(quantileOf(histogram, 0.5)),
  formatLatency(quantileOf(histogram, 0.99)),
  deadline,
]

export const pipelineLatencyRows = (counts: Counts, deadlineMs: number): Rows => [
  latencyRow('Chunk of events in the pipeline, including waits', counts.pipelineSeconds, `${deadlineMs} ms`),
  latencyRow('Lookup that is not in the memory', counts.lookupSeconds, `${deadlineMs} ms`),
  latencyRow('Call to the provider', counts.providerCallSeconds, ''),
  latencyRow('From the timestamp of the record to its delivery', counts.endToEndSeconds, ''),
]

export const serverLatencyRows = (counts: Counts): Rows => [
  latencyRow('Request', counts.requestSeconds, ''),
  latencyRow('Question that is not in the memory', counts.lookupSeconds, ''),
  latencyRow('Call to the provider', counts.providerCallSeconds, ''),
]

const total = (counts: readonly { readonly value: number }[]): number =>
  counts.reduce((sum, { value }) => sum + value, 0)

const shareOf = (part: number, whole: number): string => formatPercent(whole === 0 ? undefined : part / whole)

/** The share of complete events, of pending lookups and of time spent waiting. */
export const shareRows = ({ annotated, indicators, waitedMs }: Counts, upMs: number): Rows => {
  const events = annotated.filter(({ labels }) => labels.status !== 'skipped')
  const complete = total(events.filter(({ labels }) => labels.status === 'complete'))
  const asked = indicators.filter(({ labels }) => labels.decision === 'lookup')
  const pending = total(asked.filter(({ labels: { reason } }) => reason === 'pending' || reason === 'deadline'))
  return [
    [
      'Complete',
      shareOf(complete, total(events)),
      `of ${formatCount(total(events))} events with an indicator to look up`,
    ],
    ['Pending', shareOf(pending, total(asked)), `of ${formatCount(total(asked))} indicators to be looked up`],
    ['Waited', shareOf(waitedMs, upMs), `of the time since the start, for lookups (${formatDuration(waitedMs)})`],
  ]
}

export const verdictRows = ({ annotated }: Counts): Rows =>
  ['malicious', 'suspicious', 'clean', 'unknown'].map((verdict) => [
    verdict,
    ...['complete', 'partial', 'failed', 'skipped'].map((status) =>
      formatCount(annotated.find(({ labels }) => labels.verdict === verdict && labels.status === status)?.value ?? 0),
    ),
  ])

/** Activity of the verdicts topic; no rows without any. */
export const sharingRows = ({ verdicts }: Counts): Rows => {
  const { learnt, appended, refused, notShared, delayMs } = verdicts
  const said = (counts: readonly { readonly labels: { readonly reason: string }; readonly value: number }[]): string =>
    counts
      .filter(({ value }) => value > 0)
      .map(({ labels, value }) => `${labels.reason.replace('_', ' ')}: ${formatCount(value)}`)
      .join(', ')
  const delay = delayMs === undefined ? '' : `the last one took ${formatLatency(delayMs / 1000)} to arrive`
  const rows: Rows = [
    ['Received from others', formatCount(learnt), delay],
    ['Own verdicts, shared', formatCount(appended), ''],
    ['Own verdicts, not shared', formatCount(total(notShared)), said(notShared)],
    ['Rejected records', formatCount(total(refused)), said(refused)],
  ]
  const isUsed = learnt + appended + total(refused) + total(notShared) > 0
  return isUsed || delayMs !== undefined ? rows : []
}

export const reasonRows = ({ indicators }: Counts, history: History): Rows => {
  const totals = new Map<string, number>()
  for (const { labels, value } of indicators)
    if (labels.reason !== 'none') totals.set(labels.reason, (totals.get(labels.reason) ?? 0) + value)
  return [...totals]
    .filter(([, sum]) => sum > 0)
    .map(([reason, sum]) => ({ reason, sum, lately: history.lastMinute(reason) }))
    .sort((a, b) => b.lately - a.lately || b.sum - a.sum)
    .map(({ reason, sum, lately }) => [reason.replaceAll('_', ' '), formatCount(lately), formatCount(sum)])
}

export const partitionRows = (
  partitions: readonly [string, ConsumerHealth['partitions'][string]][],
  now: number,
): Rows =>
  partitions
    .slice(0, 100)
    .map(([name, { lag, progressAt, chunkSince }]) => [
      name,
      formatCount(lag),
      `${formatDuration(now - progressAt)} ago`,
      chunkSince === undefined ? 'idle' : `for ${formatDuration(now - chunkSince)}`,
    ])

/** No rows with a single gateway, or before a leader is elected. */
export const electionRows = ({ election: { isCalling, caller, takeovers, passedOn } }: Counts): Rows =>
  isCalling === undefined
    ? []
    : [
        [
          isCalling ? 'calls the provider' : 'stands ready',
          isCalling ? 'this one' : (caller ?? 'not known'),
          formatCount(takeovers),
          formatCount(passedOn),
        ],
      ]

/** Requests and failures by operation. */
export const requestRows = ({ requests }: Counts): Rows => {
  const rows = new Map<string, { answered: number; failed: number }>()
  for (const { labels, value } of requests) {
    const row = rows.get(labels.operation) ?? { answered: 0, failed: 0 }
    row[labels.status === '200' ? 'answered' : 'failed'] += value
    rows.set(labels.operation, row)
  }
  return [...rows]
    .filter(([, { answered, failed }]) => answered + failed > 0)
    .map(([operation, { answered, failed }]) => [operation, formatCount(answered), formatCount(failed)])
}
