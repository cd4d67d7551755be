// Leaves an indicator alone for a while after a failed lookup, longer each time; a failure is never remembered as an answer.
import { createBoundedCache } from '../../base/bounded-cache.js'
import type { Reason } from '../../domain/reason.js'

export type CooldownSettings = {
  readonly firstSeconds: number
  readonly maxSeconds: number
  readonly badInputSeconds: number
  readonly maxEntries: number
  /** Whether an outage of the provider also starts a cooldown; absent: it does. */
  readonly forOutages?: boolean
}

/** Half a minute for a short problem, up to an hour for a lasting one. Input that the provider rejects is not sent again for a day. */
export const cooldownLimits: Omit<CooldownSettings, 'maxEntries' | 'forOutages'> = {
  firstSeconds: 30,
  maxSeconds: 3_600,
  badInputSeconds: 86_400,
}

export type Cooldown = {
  readonly isCooling: (key: string) => boolean
  readonly failed: (key: string, reason: Reason) => void
  readonly answered: (key: string) => void
  readonly size: () => number
}

/** Failures of this one indicator; the others concern the key, queue or budget and end with those. */
const ownFailures: ReadonlySet<Reason> = new Set<Reason>(['bad_answer', 'bad_input', 'plan'])
/** Failures that may affect the provider, and so every indicator, or only this one. */
const outages: ReadonlySet<Reason> = new Set<Reason>(['unavailable', 'timeout'])

export const createCooldown = (settings: CooldownSettings, now: () => number): Cooldown => {
  const entries = createBoundedCache<string, { readonly until: number; readonly times: number }>(
    settings.maxEntries / 2,
  )
  return {
    isCooling: (key) => {
      const entry = entries.get(key)
      return entry !== undefined && now() < entry.until
    },
    failed: (key, reason) => {
      if (!ownFailures.has(reason) && !(outages.has(reason) && settings.forOutages !== false)) return
      const times = (entries.get(key)?.times ?? 0) + 1
      const doubled = settings.firstSeconds * 2 ** Math.min(times - 1, 30)
      const seconds = reason === 'bad_input' ? settings.badInputSeconds : Math.min(doubled, settings.maxSeconds)
      entries.set(key, { until: now() + seconds * 1000, times })
    },
    answered: entries.delete,
    size: entries.size,
  }
}
