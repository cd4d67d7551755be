// The last alerts, for the status page.
import { visible } from './visible.js'

/** An alert, as far as it is shown. */
export type RaisedAlert = {
  readonly '@timestamp': string
  readonly rule: { readonly id: string; readonly name: string }
  readonly threatweave: {
    readonly alert_id: string
    readonly level: string
    readonly value?: string
    readonly direction: string
    readonly action: string
    readonly peer?: string
    readonly peers?: readonly string[]
    readonly origin: string
    readonly count: number
    readonly late?: true
    readonly kind?: string
  }
}

export type AlertLog = {
  readonly note: (alert: RaisedAlert) => void
  /** Newest first. */
  readonly last: () => readonly (RaisedAlert & { readonly at: number })[]
}

const maxAlerts = 20

export const createAlertLog = (now: () => number): AlertLog => {
  const last = new Map<string, RaisedAlert & { readonly at: number }>()
  return {
    note: (alert) => {
      const { alert_id, kind } = alert.threatweave
      // A chunk that is repeated raises the same alerts again.
      last.delete(alert_id)
      // What it says is about an alert that was listed.
      if (kind !== 'update') last.set(alert_id, { ...alert, at: now() })
      const [oldest] = last.keys()
      if (last.size > maxAlerts && oldest !== undefined) last.delete(oldest)
    },
    last: () => [...last.values()].reverse(),
  }
}

/** The inside hosts that an alert names. */
export const peersOf = ({ threatweave: { peer, peers = [] } }: RaisedAlert): string =>
  visible(peer ?? peers.slice(0, 3).join(', '), 120)
