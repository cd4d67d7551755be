// The latest malicious findings and errors, bounded, for the status page.
import type { Annotation } from '../domain/annotation.js'
import type { Emit, TelemetryEvent } from '../telemetry/event.js'
import { sentenceOf, severityOf } from '../telemetry/wording.js'
import { visible } from './visible.js'

export type RecentFinding = {
  readonly at: number
  readonly value: string
  readonly role: string
  readonly score: string
  readonly summary: string
  readonly origin: string
  /** Events since the indicator entered the list. */
  readonly events: number
}

export type RecentError = {
  readonly at: number
  readonly level: string
  readonly sentence: string
  readonly times: number
}

export type RecentActivity = {
  readonly see: (annotation: Annotation) => void
  readonly emit: Emit
  readonly findings: () => readonly RecentFinding[]
  readonly errors: () => readonly RecentError[]
}

const maxRows = 20

export const createRecentActivity = (now: () => number): RecentActivity => {
  const findings = new Map<string, { annotation: Annotation; at: number; events: number }>()
  const errors = new Map<string, { event: TelemetryEvent; at: number; times: number }>()
  const touch = <Row>(rows: Map<string, Row>, key: string, row: Row): void => {
    rows.delete(key)
    rows.set(key, row)
    const [oldest] = rows.keys()
    if (rows.size > maxRows && oldest !== undefined) rows.delete(oldest)
  }
  return {
    see: (annotation) => {
      const key = `${annotation.role ?? ''} ${annotation.value ?? ''}`
      touch(findings, key, { annotation, at: now(), events: (findings.get(key)?.events ?? 0) + 1 })
    },
    emit: (event) => {
      const severity = severityOf(event)
      if (severity !== 'warn' && severity !== 'error') return
      const { reason, operation } = event as { reason?: string; operation?: string }
      const key = `${event.event} ${reason ?? ''} ${operation ?? ''}`
      touch(errors, key, { event, at: now(), times: (errors.get(key)?.times ?? 0) + 1 })
    },
    findings: () =>
      [...findings.values()].reverse().map(({ annotation, at, events }) => ({
        at,
        events,
        value: visible(annotation.value ?? '', 120),
        role: visible(annotation.role ?? '', 40),
        score: annotation.score === undefined ? '' : String(annotation.score),
        summary: visible(annotation.summary),
        origin: visible(annotation.enrichment_id ?? '', 120),
      })),
    errors: () =>
      [...errors.values()].reverse().map(({ event, at, times }) => ({
        at,
        times,
        level: severityOf(event),
        sentence: visible(sentenceOf(event)),
      })),
  }
}
