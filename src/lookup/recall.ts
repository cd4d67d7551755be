// What is remembered is answered at once: fresh as it is, bad news past its life as stale, good news past its life not at all.
import type { Finding } from '../domain/finding.js'
import { keyOf, ownIndicator, type Indicator } from '../domain/indicator.js'
import type { Ask, Layer } from '../domain/lookup.js'
import type { Cooldown } from './memory/cooldown.js'
import type { Memory } from './memory/memory.js'

/** Between two attempts to refresh the same finding, however often it is asked for. */
const refreshSpacingMs = 10_000

/** `refreshed` is told beside the answer that is refreshed behind. */
export type Recalled = 'fresh' | 'stale' | 'cooling' | 'missed' | 'refreshed'

export const recall =
  (
    memory: Memory,
    cooldown: Cooldown,
    now: () => number,
    /** Told of every ask how it went. */
    recalled?: (how: Recalled) => void,
  ): Layer =>
  (inner) => {
    const refresh = (key: string, indicator: Indicator, ask: Ask): void => {
      // What comes of it is remembered further in; nobody waits for it here.
      if (cooldown.isCooling(key)) return
      recalled?.('refreshed')
      void inner(ownIndicator(indicator), barely(ask))
    }
    return (indicator, ask) => {
      const key = keyOf(indicator)
      const entry = memory.get(key)
      if (entry) {
        const time = ask.now ?? now()
        if (time < entry.servedUntil) {
          if (time >= entry.refreshAt) {
            entry.refreshAt = time + refreshSpacingMs
            refresh(key, indicator, ask)
          }
          if (time < entry.freshUntil) {
            recalled?.('fresh')
            return entry.finding
          }
          recalled?.('stale')
          return (entry.stale ??= stale(entry.finding))
        }
      }
      if (cooldown.isCooling(key)) {
        recalled?.('cooling')
        return { status: 'unknown', reason: 'cooling_down' }
      }
      recalled?.('missed')
      return inner(ownIndicator(indicator), barely(ask))
    }
  }

/** What lies further in keeps what it is given, some of it for days; the event that it was cut from must not stay with it. */
const barely = ({ role, action, evidence, urgency }: Ask): Ask =>
  urgency === undefined ? { role, action, evidence } : { role, action, evidence, urgency }

const stale = (finding: Finding): Finding => (finding.status === 'known' ? { ...finding, stale: true } : finding)
