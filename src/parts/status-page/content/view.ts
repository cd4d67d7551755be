// The content of the status page by region, for the first document and for live updates.
import type { ViewSources } from '../../../ops/page.js'
import type { ProcessKind } from '../../../telemetry/metrics.js'
import { h, type Node } from '../markup/node.js'
import { formatDuration } from '../markup/numbers.js'
import type { AlertBoard } from '../state/alert-board.js'
import type { History } from '../state/history.js'
import type { RecentActivity } from '../state/recent-activity.js'
import { alertNodes } from './alerts.js'
import { chartNodes } from './charts.js'
import { findingNodes } from './findings.js'
import { healthNodes } from './health.js'
import { machineNodes } from './machine.js'
import { headline, providerSentence } from './sentences.js'

/** By the id of the enclosing element. */
export type View = Readonly<Record<'state' | 'alerted' | 'charts' | 'health' | 'machine', readonly Node[]>>

type Seen = {
  readonly kind: ProcessKind
  readonly history: History
  readonly recent: RecentActivity
  readonly board: AlertBoard
  readonly startedAt: number
  readonly now: number
}

export const viewOf = (sources: ViewSources, seen: Seen): View => {
  const { kind, history, recent, board, startedAt, now } = seen
  const isServer = kind === 'server'
  const counts = sources.counts()
  const provider = sources.provider?.()
  const consumer = sources.consumer?.()
  const feeds = sources.feeds?.() ?? []
  const others = sources.sources?.()
  const partitions = Object.entries(consumer?.partitions ?? {})
  const lag = partitions.reduce((sum, [, partition]) => sum + partition.lag, 0)
  const upMs = now - startedAt
  const head = headline({
    kind,
    health: sources.health(),
    provider,
    consumer,
    missingFeeds: feeds.filter(({ state }) => state === 'missing' || state === 'refused').map(({ name }) => name),
    hasFeeds: feeds.length > 0 || others !== undefined,
    lag,
    now,
    perSecond: history.rate(isServer ? 'requests' : 'annotated'),
  })
  const asking =
    provider || !others
      ? providerSentence(provider, sources.allowed, now)
      : { tone: 'idle' as const, text: 'No main provider: sources and local feeds only.' }
  const alerted = board.all()
  const values = new Set(alerted.map(({ key }) => key))
  return {
    state: [
      h('span', { class: 'pill', 'data-tone': head.tone }, head.text),
      h('span', { class: 'soft', id: 'uptime' }, `version ${sources.version}, up for ${formatDuration(upMs)}`),
    ],
    alerted: isServer
      ? []
      : [
          ...alertNodes(
            alerted,
            now,
            sources.rules
              ? 'No alerts since the start.'
              : 'There is no alerts topic (kafka.alertsTopic), so no rule raises an alert.',
          ),
          ...findingNodes(recent.findings(), (value) => values.has(value), counts.withoutAlert),
        ],
    charts: chartNodes(kind, history.points(), upMs, now),
    health: healthNodes({
      isServer,
      headline: head,
      asking,
      provider,
      allowed: sources.allowed,
      feeds,
      sources: others,
      events: isServer
        ? undefined
        : {
            lag,
            partitions: partitions.length,
            deadLetters: counts.deadLetters.reduce((sum, { value }) => sum + value, 0),
          },
      recent,
      now,
    }),
    machine: machineNodes({
      kind,
      counts,
      history,
      provider,
      partitions,
      lag,
      feeds,
      sources: others,
      rules: sources.rules?.() ?? [],
      deadlineMs: sources.deadlineMs,
      upMs,
      now,
    }),
  }
}
