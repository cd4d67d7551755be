// The last alerts and how often each rule has fired since the start, for the status page and the metrics.
import { visible } from './visible.js'

/** An alert, as far as it is shown. */
type RaisedAlert = {
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

type LoadedRule = { readonly id: string; readonly title: string; readonly level: string }

type FiredRule = LoadedRule & {
  readonly alerts: number
  /** Events that matched, those without an alert of their own included. */
  readonly matches: number
  /** Epoch milliseconds of the last alert. */
  readonly at?: number
}

export type AlertLog = {
  readonly note: (alert: RaisedAlert) => void
  /** Newest first. */
  readonly last: () => readonly (RaisedAlert & { readonly at: number })[]
  readonly fired: () => readonly FiredRule[]
}

const maxAlerts = 20
const maxRules = 5000

/** `loaded` are the rules in use; a rule that was taken away stays in the list once it has fired. */
export const createAlertLog = (now: () => number, loaded: () => readonly LoadedRule[]): AlertLog => {
  const last = new Map<string, RaisedAlert & { readonly at: number }>()
  const fired = new Map<string, FiredRule>()
  return {
    note: (alert) => {
      const { alert_id, level, count, kind } = alert.threatweave
      const isUpdate = kind === 'update'
      // A chunk that is repeated raises the same alerts again.
      last.delete(alert_id)
      // What it says is about an alert that was listed.
      if (!isUpdate) last.set(alert_id, { ...alert, at: now() })
      const [oldest] = last.keys()
      if (last.size > maxAlerts && oldest !== undefined) last.delete(oldest)
      const { id, name } = alert.rule
      const before = fired.get(id)
      if (!before && fired.size === maxRules) return
      const matches = (before?.matches ?? 0) + count
      fired.set(id, { id, title: name, level, alerts: (before?.alerts ?? 0) + (isUpdate ? 0 : 1), matches, at: now() })
    },
    last: () => [...last.values()].reverse(),
    fired: () => {
      const rules = new Map<string, FiredRule>(
        loaded()
          .slice(0, maxRules)
          .map(({ id, title, level }) => [id, { id, title, level, alerts: 0, matches: 0 }]),
      )
      for (const [id, rule] of fired) rules.set(id, rule)
      return [...rules.values()].toSorted((a, b) => b.alerts - a.alerts || a.title.localeCompare(b.title))
    },
  }
}

/** The inside hosts that an alert names. */
export const peersOf = ({ threatweave: { peer, peers = [] } }: RaisedAlert): string =>
  visible(peer ?? peers.slice(0, 3).join(', '), 120)
