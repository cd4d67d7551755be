// Opens the status page: collects the state of a run and answers requests.
import type { Clock } from '../../base/clock.js'
import type { Page, PageSources } from '../../ops/page.js'
import { alertJson } from './content/alert-json.js'
import { indicatorPage } from './content/indicator-page.js'
import { statusDocument } from './content/status-document.js'
import { viewOf, type View } from './content/view.js'
import { contentSecurityPolicy } from './markup/document.js'
import { createAlertBoard } from './state/alert-board.js'
import { createHistory, type Sample } from './state/history.js'
import { createOldestEvent } from './state/oldest-event.js'
import { createRecentActivity } from './state/recent-activity.js'

export const createStatusPage = (clock: Pick<Clock, 'now'>): Page => {
  const now = (): number => clock.now()
  const startedAt = now()
  const recent = createRecentActivity(now)
  const board = createAlertBoard(now)
  const oldest = createOldestEvent()
  const open: Page['open'] = (sources) => {
    const { kind = 'pipeline', seenOf = () => [] } = sources
    const history = createHistory(() => sampleOf(sources, oldest.take(), now()))
    const view = (): View => viewOf(sources, { kind, history, recent, board, startedAt, now: now() })
    return {
      contentSecurityPolicy,
      paths: {
        '/': () => ({ type: html, body: statusDocument(kind, view(), sources.config) }),
        '/history': ({ value }) => {
          const body = indicatorPage(value, seenOf, board, now())
          return body === undefined
            ? { status: 400, refused: 'add ?value= with an address or a name' }
            : { type: html, body }
        },
        '/alert': ({ id }) => {
          const body = alertJson(id, board)
          return body === undefined
            ? { status: 404, refused: 'this alert is not kept here; it is on the alerts topic' }
            : { type: 'application/json; charset=utf-8', body }
        },
      },
      tick: history.tick,
      whole: view,
      changes: changesOf(view),
    }
  }
  return {
    emit: (event) => {
      recent.emit(event)
      oldest.emit(event)
    },
    see: recent.see,
    alerted: board.note,
    open,
  }
}

const html = 'text/html; charset=utf-8'

/** The regions that changed since the last call. */
const changesOf = (view: () => View) => {
  let before: Readonly<Record<string, string>> = {}
  return () => {
    const regions = Object.entries(view()).map(([id, nodes]) => ({ id, nodes, text: JSON.stringify(nodes) }))
    const changed = regions.filter(({ id, text }) => before[id] !== text)
    before = Object.fromEntries(regions.map(({ id, text }) => [id, text]))
    return changed.length === 0 ? undefined : Object.fromEntries(changed.map(({ id, nodes }) => [id, nodes]))
  }
}

const sampleOf = ({ counts: read, provider }: PageSources, oldestMs: number | undefined, at: number): Sample => {
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
    alerts: Object.fromEntries(counts.alerts.map(({ labels, value }) => [labels.level, value])),
    oldestMs,
    reasons,
  }
}
