// The status page: what it has seen of a run, and what it answers.
import type { Clock } from '../base/clock.js'
import type { Annotation } from '../domain/annotation.js'
import type { ConsumerHealth } from '../domain/consumer-health.js'
import type { AllowedCalls, ProviderState } from '../domain/provider-state.js'
import type { Counts } from '../telemetry/counters.js'
import type { Emit } from '../telemetry/event.js'
import type { ProcessKind } from '../telemetry/metrics.js'
import { createAlertLog, type RaisedAlert } from './alert-log.js'
import { createHistory, type Sample } from './history.js'
import { renderHistory, type SeenOf } from './history-page.js'
import { configRows, contentSecurityPolicy, renderPage } from './page.js'
import { createRecentActivity } from './recent-activity.js'
import { createView } from './view.js'
import type { FiredRule, ShownFeed, ShownSource } from './view-tables.js'

export type PageSources = {
  readonly counts: () => Counts
  readonly provider?: (() => ProviderState) | undefined
  readonly consumer?: (() => ConsumerHealth) | undefined
  readonly feeds?: (() => readonly ShownFeed[]) | undefined
  /** Other providers; absent where none is configured. */
  readonly sources?: (() => readonly ShownSource[]) | undefined
  /** Alert rules, most alerts first, where there are alerts. */
  readonly rules?: (() => readonly FiredRule[]) | undefined
  /** Where sightings are counted. */
  readonly seenOf?: SeenOf | undefined
  readonly health: () => { readonly ok: boolean; readonly problems: readonly string[] }
  /** How long events wait for answers at most. */
  readonly deadlineMs: number
  readonly allowed: AllowedCalls
  /** With secrets hidden. */
  readonly config: unknown
  readonly version: string
  readonly kind?: ProcessKind | undefined
}

type Answer = { readonly type: string; readonly body: string }

type OpenPage = {
  readonly contentSecurityPolicy: string
  readonly paths: Readonly<Record<string, (query: Readonly<Record<string, unknown>>) => Answer | string>>
  readonly tick: () => void
  readonly whole: () => unknown
  readonly changes: () => unknown
}

type StatusPage = {
  readonly emit: Emit
  /** Called with each malicious event. */
  readonly see: (annotation: Annotation) => void
  readonly alerted: (alert: RaisedAlert) => void
  readonly open: (sources: PageSources) => OpenPage
}

export const createStatusPage = (clock: Pick<Clock, 'now'>): StatusPage => {
  const now = (): number => clock.now()
  const startedAt = now()
  const recent = createRecentActivity(now)
  const alerts = createAlertLog(now)
  const open = (sources: PageSources): OpenPage => {
    const { kind = 'pipeline', seenOf = () => [] } = sources
    const history = createHistory(() => sampleOf(sources, now()))
    const view = createView({ ...sources, kind, history, recent, alerts, now, startedAt })
    const config = configRows(sources.config)
    return {
      contentSecurityPolicy,
      paths: {
        '/': () => ({ type: html, body: renderPage(kind, view(), config) }),
        '/history': ({ value }) => {
          const body = renderHistory(value, seenOf, alerts)
          return body === undefined ? 'write ?value= and an address or a name' : { type: html, body }
        },
      },
      tick: history.tick,
      whole: view,
      changes: view,
    }
  }
  return { emit: recent.emit, see: recent.see, alerted: alerts.note, open }
}

const html = 'text/html; charset=utf-8'

const sampleOf = ({ counts: read, provider, consumer }: PageSources, at: number): Sample => {
  const counts = read()
  const { fresh, stale, coalesced, miss } = counts.memoryLookups
  const reasons: Record<string, number> = {}
  let indicators = 0
  for (const { labels, value } of counts.indicators) {
    indicators += value
    reasons[labels.reason] = (reasons[labels.reason] ?? 0) + value
  }
  return {
    at,
    requests: counts.requests.reduce((sum, { value }) => sum + value, 0),
    read: counts.read,
    indicators,
    lookups: fresh + stale + coalesced + miss,
    hits: fresh + stale + coalesced,
    calls: counts.providerCalls.reduce((sum, { value }) => sum + value, 0),
    credits: provider?.().spent.run ?? 0,
    annotated: counts.annotated.reduce((sum, { value }) => sum + value, 0),
    delivered: counts.delivered,
    lag: Object.values(consumer?.().partitions ?? {}).reduce((sum, { lag }) => sum + lag, 0),
    reasons,
  }
}
