// A domain scan in steps: recorded on disk, started once, polled until it ends, then its report is read.
import type { Facts, Finding, Unknown } from '../domain/finding.js'
import type { Call } from '../domain/lookup.js'
import { registrableDomain } from '../domain/public-suffix.js'
import { domainMisfit, type StepScan } from './ask-domain.js'
import type { ProviderAnswer, Reply } from './client.js'
import type { StartedScan, StartedScanState, StartedScans, Visibility } from './started-scans.js'
import { transmit, findingOf, type CallContext } from './transmit.js'

type ScanSettings = { readonly visibility: Visibility; readonly pollMs: number; readonly againAfterMs: number }

/** The polling interval of a running scan: each poll is a call, and a scan takes a minute or more. */
export const scanPollMs = 15_000

const scanOperations = { public: 'domain/scan', private: 'domain/scan/private' } as const
/** The retry delay while an earlier scan of the account is running. */
const busyMs = 15_000
/** The tolerated difference between the clocks of the provider and of this machine. */
const skewMs = 600_000

type ScanContext = CallContext & {
  readonly settings: ScanSettings
  readonly store: StartedScans
  readonly onProgress?: ((percent: number) => void) | undefined
}

export const createStepScan = (
  context: CallContext,
  settings: ScanSettings,
  store: StartedScans,
  onProgress?: (percent: number) => void,
): StepScan => {
  const scan: ScanContext = { ...context, settings, store, onProgress }
  return async (name, call) => {
    const started = store.get(name, settings.visibility)
    const now = context.now()
    if (!started) return start(scan, name, call)
    if (started.state !== 'posting' && started.state !== 'running') {
      if (now - started.startedAt < settings.againAfterMs) return ended(started, now)
      store.drop(started)
      return start(scan, name, call)
    }
    if (started.nextAt !== undefined && now < started.nextAt) return pending(started.nextAt - now)
    if (started.scanId === undefined) return recover(scan, started, call)
    return poll(scan, started, started.scanId, call)
  }
}

const start = async (scan: ScanContext, name: string, call: Call): Promise<Finding> => {
  const { settings, store, client, emit } = scan
  const { visibility, pollMs } = settings
  const now = scan.now()
  const claimed: StartedScan = { name, visibility, state: 'posting', startedAt: now, nextAt: now + pollMs }
  if (!store.claim(claimed)) return pending(pollMs)
  const operation = scanOperations[visibility]
  // Returns failures as answers too, so that no layer retries the request and starts a second scan.
  const reply = await call<Reply>(() => client.call(operation, { query: name }))
  if (reply.status === 'unknown') {
    store.drop(claimed) // it was not sent
    return reply
  }
  if (reply.status === 'answer') return accepted(scan, claimed, reply)
  const { reason, detail, afterMs } = reply.failure
  emit({ event: 'provider_call_failed', operation, reason, detail, ms: scan.now() - now })
  // These failures leave it open whether the scan was accepted, so the record stays.
  if (reason === 'timeout' || reason === 'unavailable' || reason === 'bad_answer') return pending(pollMs)
  store.drop(claimed)
  return reason === 'busy' ? pending(afterMs ?? busyMs) : findingOf(reply.failure, scan.now())
}

const accepted = (
  { settings, store, now, emit, onProgress }: ScanContext,
  claimed: StartedScan,
  { body, read }: ProviderAnswer,
) => {
  const { name, visibility } = claimed
  const scanId = read.scanId(body)
  if (scanId === undefined) {
    store.drop(claimed) // an empty answer means that the account is busy
    return pending(busyMs)
  }
  store.put({ ...claimed, state: 'running', scanId, nextAt: now() + settings.pollMs })
  emit({ event: 'scan_started', name, scanId, visibility })
  onProgress?.(0)
  return pending(settings.pollMs)
}

/** After a crash between the request and recording the id, the list of the account shows whether the scan exists. */
const recover = async (scan: ScanContext, lost: StartedScan, call: Call): Promise<Finding> => {
  const reply = await transmit(scan, call, 'domain/reports/personal', { show_public: true, show_private: true })
  if (reply.status === 'unknown') return reply
  const rows = reply.read.reportRows(reply.body, scan.now())
  const row = rows.find(({ host, at = 0 }) => host === lost.name && at >= lost.startedAt - skewMs)
  const scanId = row?.scanId
  if (scanId === undefined) return end(scan, lost, 'lost')
  const found: StartedScan = { ...lost, state: 'running', scanId }
  scan.store.put(found)
  return poll(scan, found, scanId, call)
}

const poll = async (scan: ScanContext, running: StartedScan, scanId: string, call: Call): Promise<Finding> => {
  const { settings, store, now, emit, onProgress } = scan
  const { name } = running
  const reply = await transmit(scan, call, 'domain/status', { id: scanId })
  if (reply.status === 'unknown') return reply
  const percent = reply.read.scanPercent(reply.body)
  if (percent === -2) return end(scan, running, 'no_such_domain')
  if (percent !== undefined && percent < 0) return end(scan, running, 'failed')
  if (percent === undefined || percent < 100) {
    onProgress?.(percent ?? 0)
    store.put({ ...running, nextAt: now() + settings.pollMs })
    return pending(settings.pollMs)
  }
  onProgress?.(100)
  const domain = registrableDomain(name) ?? name
  const report = await transmit(scan, call, 'domain/report', { id: scanId }, domainMisfit(domain))
  if (report.status === 'unknown') return report
  store.put({ ...running, state: 'done' })
  emit({ event: 'scan_ended', name, scanId, outcome: 'done' })
  const at = now()
  const facts: Facts = {
    flags: {},
    categories: [],
    domain,
    hosts: [report.read.reportFacts(report.body, { host: name, scanId, at, issues: [] }, at)],
  }
  return { status: 'known', facts, source: 'service', at: report.at ?? at }
}

const end = ({ store, emit, now }: ScanContext, running: StartedScan, state: StartedScanState): Finding => {
  const over = { ...running, state }
  store.put(over)
  emit({ event: 'scan_ended', name: running.name, scanId: running.scanId ?? '', outcome: state })
  return ended(over, now())
}

/** The reports include a finished scan; a failed one has no result. */
const ended = ({ state }: StartedScan, at: number): Unknown => ({
  status: 'unknown',
  reason: state === 'lost' ? 'unavailable' : 'not_found',
  at,
})

const pending = (retryAfterMs: number): Unknown => ({ status: 'unknown', reason: 'pending', retryAfterMs })
