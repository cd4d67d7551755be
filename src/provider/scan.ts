// A domain scan, one step at a time: started once, written down before anything else, asked about until it ends, then its report read.
import type { Facts, Finding, Known, Unknown } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import { registrableDomain } from '../domain/public-suffix.js'
import { isAboutDomain } from './ask-domain.js'
import type { Reply } from './call.js'
import { member, numberOf, textOf, timeOf } from './read-value.js'
import { hostOf, reportFacts } from './report-facts.js'
import type { ScanRecord, ScanState, ScanStore, Visibility } from './scan-store.js'
import { transmit, unknownOf, type Wire } from './transmit.js'

export type ScanSettings = { readonly visibility: Visibility; readonly pollMs: number; readonly againAfterMs: number }

/** Never waits: makes the calls that are due, and says `pending` until there is a result. */
export type StepScan = (name: string, call: Call) => Promise<Finding>

const startedScan = { public: 'domain/scan', private: 'domain/scan/private' } as const
/** While an earlier scan of the account runs, another one has to wait at least this long. */
const busyMs = 15_000
/** How far the clocks of the service and of this machine may be apart. */
const skewMs = 600_000

export const createStepScan =
  (wire: Wire, settings: ScanSettings, store: ScanStore, onProgress?: (percent: number) => void): StepScan =>
  async (name, call) => {
    const { visibility } = settings
    const record = store.get(name, visibility)
    const now = wire.now()
    if (!record) return post(name)
    if (record.state !== 'posting' && record.state !== 'running') {
      if (now - record.startedAt < settings.againAfterMs) return ended(record)
      store.drop(record)
      return post(name)
    }
    if (record.nextAt !== undefined && now < record.nextAt) return pending(record.nextAt - now)
    if (record.scanId === undefined) return recover(record)
    return poll(record, record.scanId)

    async function post(wanted: string): Promise<Finding> {
      const claimed: ScanRecord = {
        name: wanted,
        visibility,
        state: 'posting',
        startedAt: now,
        nextAt: now + settings.pollMs,
      }
      if (!store.claim(claimed)) return pending(settings.pollMs)
      // Returned as an answer whatever it is: nobody in between may send it again.
      const reply = await call<Reply>(() => wire.client.call(startedScan[visibility], { query: wanted }))
      if (reply.status === 'unknown') {
        store.drop(claimed) // it was not let out
        return reply
      }
      if (reply.status === 'answer') return accepted(claimed, reply.body)
      const { failure } = reply
      wire.emit({
        event: 'provider_call_failed',
        operation: startedScan[visibility],
        reason: failure.reason,
        detail: failure.detail,
        ms: wire.now() - now,
      })
      // After these it is not known whether the scan was accepted, so the claim stands.
      if (failure.reason === 'timeout' || failure.reason === 'unavailable' || failure.reason === 'bad_answer')
        return pending(settings.pollMs)
      store.drop(claimed)
      return failure.reason === 'busy' ? pending(failure.afterMs ?? busyMs) : unknownOf(failure, wire.now())
    }

    function accepted(claimed: ScanRecord, body: unknown): Finding {
      const scanId = textOf(member(member(body, 'data'), 'scan_id') ?? member(body, 'scan_id'), 64)
      if (scanId === undefined) {
        store.drop(claimed) // an empty answer says that the account is busy
        return pending(busyMs)
      }
      store.put({ ...claimed, state: 'running', scanId, nextAt: wire.now() + settings.pollMs })
      wire.emit({ event: 'scan_started', name: claimed.name, scanId, visibility })
      onProgress?.(0)
      return pending(settings.pollMs)
    }

    /** The process died between sending and writing down the id: the account's own list knows whether there is one. */
    async function recover(lost: ScanRecord): Promise<Finding> {
      const reply = await transmit(wire, call, 'domain/reports/personal', { show_public: true, show_private: true })
      if (reply.status === 'unknown') return reply
      const rows = member(member(reply.body, 'data'), 'reports')
      const row = (Array.isArray(rows) ? (rows as unknown[]) : []).find(
        (entry) =>
          hostOf(member(entry, 'url')) === lost.name &&
          (timeOf(member(entry, 'reg_dtime')) ?? 0) >= lost.startedAt - skewMs,
      )
      const scanId = textOf(member(row, 'scan_id'), 64)
      if (scanId === undefined) return end(lost, 'lost')
      const found: ScanRecord = { ...lost, state: 'running', scanId }
      store.put(found)
      return poll(found, scanId)
    }

    async function poll(running: ScanRecord, scanId: string): Promise<Finding> {
      const reply = await transmit(wire, call, 'domain/status', { id: scanId })
      if (reply.status === 'unknown') return reply
      const percent = numberOf(member(member(reply.body, 'data'), 'scan_percentage'))
      if (percent === -2) return end(running, 'no_such_domain')
      if (percent !== undefined && percent < 0) return end(running, 'failed')
      if (percent === undefined || percent < 100) {
        onProgress?.(percent ?? 0)
        store.put({ ...running, nextAt: wire.now() + settings.pollMs })
        return pending(settings.pollMs)
      }
      onProgress?.(100)
      const domain = registrableDomain(running.name) ?? running.name
      const report = await transmit(wire, call, 'domain/report', { id: scanId }, isAboutDomain(domain))
      if (report.status === 'unknown') return report
      store.put({ ...running, state: 'done' })
      wire.emit({ event: 'scan_ended', name: running.name, scanId, outcome: 'done' })
      return result(report.body, running, scanId, domain)
    }

    function end(running: ScanRecord, state: ScanState): Finding {
      store.put({ ...running, state })
      wire.emit({ event: 'scan_ended', name: running.name, scanId: running.scanId ?? '', outcome: state })
      return ended({ ...running, state })
    }

    function ended(over: ScanRecord): Unknown {
      // A finished scan is among the reports; one that failed leaves nothing to know.
      return { status: 'unknown', reason: over.state === 'lost' ? 'unavailable' : 'not_found', at: wire.now() }
    }

    function result(body: unknown, running: ScanRecord, scanId: string, domain: string): Known {
      const at = wire.now()
      const report = reportFacts(body, { host: running.name, scanId, at, issues: [] }, at)
      const facts: Facts = { flags: {}, categories: [], domain, hosts: [report] }
      return { status: 'known', facts, source: 'service', at }
    }
  }

const pending = (retryAfterMs: number): Unknown => ({ status: 'unknown', reason: 'pending', retryAfterMs })
