// Counts alerts per rule since the start, for metrics and the status page.

type RaisedAlert = {
  readonly rule: { readonly id: string; readonly name: string }
  readonly threatweave: { readonly level: string; readonly count: number; readonly kind?: string }
}

type LoadedRule = { readonly id: string; readonly title: string; readonly level: string }

type FiredRule = LoadedRule & {
  readonly alerts: number
  /** Matched events, including suppressed ones. */
  readonly matches: number
  /** Epoch milliseconds of the last alert. */
  readonly at?: number
}

type FiredRules = {
  readonly note: (alert: RaisedAlert) => void
  /** Most alerts first. */
  readonly all: () => readonly FiredRule[]
}

const maxRules = 5000

/** `loaded` are the rules in use; a removed rule stays in the list if it has fired. */
export const createFiredRules = (now: () => number, loaded: () => readonly LoadedRule[]): FiredRules => {
  const fired = new Map<string, FiredRule>()
  return {
    note: ({ rule: { id, name }, threatweave: { level, count, kind } }) => {
      const before = fired.get(id)
      if (!before && fired.size === maxRules) return
      const alerts = (before?.alerts ?? 0) + (kind === 'update' ? 0 : 1)
      fired.set(id, { id, title: name, level, alerts, matches: (before?.matches ?? 0) + count, at: now() })
    },
    all: () => {
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
