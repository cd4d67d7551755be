// The latest malicious findings and problems, bounded, for the status page. Resolved problems are marked as over.
import type { Annotation } from '../../../domain/annotation.js'
import { insideHostsOf } from '../../../domain/inside-host.js'
import type { Emit, TelemetryEvent } from '../../../telemetry/event.js'
import { sentenceOf, severityOf } from '../../../telemetry/wording.js'
import { clip } from '../markup/node.js'

type RecentFinding = {
  readonly at: number
  readonly value: string
  readonly role: string
  /** The inside addresses in its events, most recent first. */
  readonly insideHosts: readonly string[]
  readonly direction: string
  readonly action: string
  readonly score: string
  readonly summary: string
  readonly origin: string
  /** Events since the indicator entered the list. */
  readonly events: number
}

type RecentProblem = {
  readonly at: number
  /** `over`: the problem is resolved. */
  readonly state: 'warning' | 'error' | 'over'
  readonly sentence: string
  readonly times: number
}

export type RecentActivity = {
  readonly see: (annotation: Annotation) => void
  readonly emit: Emit
  readonly findings: () => readonly RecentFinding[]
  readonly problems: () => readonly RecentProblem[]
}

const maxRows = 20
const maxInsideHosts = 16

type Name = TelemetryEvent['event']

/** The problems that an event resolves; `about` is the member that must be equal in both. */
const endings: { readonly [event in Name]?: { readonly ends: readonly Name[]; readonly about?: string } } = {
  provider_answered: { ends: ['provider_call_failed'], about: 'operation' },
  // Events of the main provider have no `source`.
  lookups_resumed: { ends: ['lookups_paused', 'provider_call_failed', 'source_call_failed'], about: 'source' },
  source_answered: { ends: ['source_call_failed'], about: 'source' },
  group_joined: { ends: ['consumer_restarted', 'start_postponed', 'brokers_unreachable', 'kafka_client_warned'] },
  brokers_reachable: { ends: ['brokers_unreachable', 'start_postponed', 'kafka_client_warned'] },
  chunk_delivered: { ends: ['producer_replaced'], about: 'topic' },
  feed_loaded: { ends: ['feed_refused', 'feed_empty', 'feed_entries_skipped'], about: 'feed' },
  geo_database_loaded: { ends: ['geo_database_refused', 'geo_lookup_failed'], about: 'file' },
  feed_fetched: { ends: ['feed_fetch_failed'], about: 'feed' },
  memory_write_resumed: { ends: ['memory_write_failed'] },
  allow_loaded: { ends: ['allow_refused'] },
  rules_loaded: { ends: ['rules_refused', 'rule_warned'] },
}

type Problem = { readonly event: TelemetryEvent; readonly at: number; readonly times: number; isOver: boolean }
type Finding = { annotation: Annotation; at: number; events: number; insideHosts: Set<string> }

export const createRecentActivity = (now: () => number): RecentActivity => {
  const findings = new Map<string, Finding>()
  const problems = new Map<string, Problem>()
  const touch = <Row>(rows: Map<string, Row>, key: string, row: Row): void => {
    rows.delete(key)
    rows.set(key, row)
    const [oldest] = rows.keys()
    if (rows.size > maxRows && oldest !== undefined) rows.delete(oldest)
  }
  const end = (event: TelemetryEvent): void => {
    const ending = endings[event.event]
    if (!ending || problems.size === 0) return
    for (const problem of problems.values())
      if (ending.ends.includes(problem.event.event) && isAboutSame(problem.event, event, ending.about))
        problem.isOver = true
  }
  return {
    see: (annotation) => {
      const key = `${annotation.role ?? ''} ${annotation.value ?? ''}`
      const { events = 0, insideHosts = new Set<string>() } = findings.get(key) ?? {}
      for (const host of insideHostsOf(annotation))
        if (insideHosts.delete(host) || insideHosts.size < maxInsideHosts) insideHosts.add(host)
      touch(findings, key, { annotation, at: now(), events: events + 1, insideHosts })
    },
    emit: (event) => {
      end(event)
      const severity = severityOf(event)
      if (severity !== 'warn' && severity !== 'error') return
      const { reason, operation, feed, source } = event as {
        [name in 'reason' | 'operation' | 'feed' | 'source']?: string
      }
      const key = `${event.event} ${reason ?? ''} ${operation ?? ''} ${feed ?? source ?? ''}`
      touch(problems, key, { event, at: now(), times: (problems.get(key)?.times ?? 0) + 1, isOver: false })
    },
    findings: () =>
      [...findings.values()].reverse().map(({ annotation, at, events, insideHosts }) => ({
        at,
        events,
        value: clip(annotation.value ?? '', 120),
        role: clip(annotation.role ?? '', 40),
        insideHosts: [...insideHosts].reverse().map((host) => clip(host, 64)),
        direction: annotation.direction,
        action: annotation.action,
        score: annotation.score === undefined ? '' : String(annotation.score),
        summary: clip(annotation.summary, 400),
        origin: clip(annotation.enrichment_id ?? '', 120),
      })),
    problems: () =>
      [...problems.values()].reverse().map(({ event, at, times, isOver }) => ({
        at,
        times,
        state: isOver ? 'over' : severityOf(event) === 'error' ? 'error' : 'warning',
        sentence: clip(sentenceOf(event), 400),
      })),
  }
}

const isAboutSame = (one: TelemetryEvent, other: TelemetryEvent, about: string | undefined): boolean =>
  about === undefined || one[about as keyof typeof one] === other[about as keyof typeof other]
