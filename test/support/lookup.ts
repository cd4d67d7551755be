// Small lookup sources that count, delay, fail or hang, with the requests and findings used in tests.
import type { Clock } from '../../src/base/clock.js'
import { noFacts, type Facts, type Finding, type Known, type Level, type Unknown } from '../../src/domain/finding.js'
import type { Indicator } from '../../src/domain/indicator.js'
import type { Ask, Source } from '../../src/domain/lookup.js'
import type { Reason } from '../../src/domain/reason.js'
import type { AdmissionSettings } from '../../src/lookup/admission/admission.js'
import type { CooldownSettings } from '../../src/lookup/memory/cooldown.js'
import type { MemorySettings } from '../../src/lookup/memory/memory.js'
import type { RetrySettings } from '../../src/lookup/retry.js'

export const ask: Ask = { role: 'source', action: 'allowed', evidence: 'field' }
export const outbound: Ask = { role: 'destination', action: 'allowed', evidence: 'field' }

/** The nth documentation address. */
export const indicator = (n: number): Indicator => {
  const high = n > 0xffff ? `${Math.floor(n / 0x10000).toString(16)}:` : ''
  return { type: 'ip', value: `2001:db8::${high}${(n % 0x10000).toString(16)}` }
}

export const clean: Facts = { ...noFacts, flags: { is_malicious: false } }
export const malicious: Facts = { ...noFacts, flags: { is_malicious: true } }
export const known = (at: number, facts: Facts = clean): Known => ({ status: 'known', facts, source: 'service', at })
export const unknown = (reason: Reason, more: Partial<Unknown> = {}): Unknown => ({
  status: 'unknown',
  reason,
  ...more,
})

/** Classifies by one flag: true, false or missing. */
export const classify = ({ facts }: Known): Level =>
  facts.flags.is_malicious === undefined ? 'unknown' : facts.flags.is_malicious ? 'malicious' : 'clean'

export type CountingSource = Source & {
  /** Keys in the order of their calls. */
  readonly calls: string[]
  /** The maximum number of concurrent calls. */
  readonly most: () => number
}

/** Each lookup makes one call that answers after `tookMs`; `answer` may return a promise that never settles. */
export const createSource = (
  clock: Clock,
  answer: (indicator: Indicator, nth: number) => Finding | Promise<Finding> = () => known(clock.now()),
  tookMs = 10,
): CountingSource => {
  const calls: string[] = []
  let under = 0
  let most = 0
  const source: Source = (asked, _ask, call) =>
    call(async () => {
      most = Math.max(most, ++under)
      const nth = calls.push(`${asked.type}:${asked.value}`)
      await new Promise<void>((resolve) => clock.after(tookMs, resolve))
      const finding = await answer(asked, nth)
      under--
      return finding
    })
  return Object.assign(source, { calls, most: () => most })
}

const hour = 3600
export const memorySettings: MemorySettings = {
  maxEntries: 1000,
  freshSeconds: { malicious: 24 * hour, suspicious: 12 * hour, clean: 12 * hour, noVerdict: 6 * hour, notFound: hour },
  staleSeconds: 7 * 24 * hour,
  jitter: 0,
  refreshAhead: 0.1,
}
export const cooldownSettings: CooldownSettings = {
  firstSeconds: 30,
  maxSeconds: 3600,
  badInputSeconds: 86_400,
  maxEntries: 1000,
}
export const retrySettings: RetrySettings = { times: 2, firstMs: 200, maxMs: 5000 }
export const admissionSettings: AdmissionSettings = {
  inFlight: 1,
  maxWaiting: 1000,
  callTimeoutMs: 30_000,
  pauseMs: 2000,
  maxPauseMs: 60_000,
  breakerFailures: 5,
  breakerMs: 10_000,
  maxBreakerMs: 300_000,
  stopMs: 300_000,
  perHour: 0,
  perDay: 0,
  perRun: 0,
}
