// Context of alerts: requested once per accused indicator without delaying the alert, and sent as an update unless already known.
import { createHash } from 'node:crypto'
import { createBoundedCache } from '../base/bounded-cache.js'
import { vulnerabilitiesIn, type AlertContext } from '../domain/alert-context.js'
import type { Indicator } from '../domain/indicator.js'
import { hostOf } from '../domain/listed-url.js'
import type { Alert, AlertBody } from './alert.js'

type AskContext = (about: Indicator, vulnerabilities: readonly string[]) => Promise<AlertContext | undefined>

export type ContextUpdates = {
  /** Adds the context if it is known, and requests it otherwise. */
  readonly tell: (alert: Alert) => Alert
  /** The chunk with this event and its alerts is committed. */
  readonly commit: (origin: string) => void
  readonly giveUp: (origin: string) => void
  /** Updates about committed alerts, each returned once. */
  readonly takeDue: () => readonly ContextUpdate[]
}

type ContextUpdate = Omit<Alert, 'threatweave'> & { readonly threatweave: AlertBody & { readonly kind: 'context' } }

/** For this long, a context is not requested again, whether it was obtained or unavailable. */
const keptMs = 86_400_000
/** Alerts that wait for their context; beyond this number the oldest go without. */
const maxWaiting = 1_000

type Waiting = { readonly alert: Alert; readonly key: string; isCommitted: boolean }
type Asked = { readonly at: number; isAnswered: boolean; context?: AlertContext | undefined }

export const createContextUpdates = (ask: AskContext, now: () => number): ContextUpdates => {
  const asked = createBoundedCache<string, Asked>(maxWaiting)
  const waiting = new Map<string, Waiting>()
  let due: ContextUpdate[] = []
  let turn: Promise<unknown> = Promise.resolve()

  const settle = (key: string, context: AlertContext | undefined): void => {
    for (const [id, one] of waiting) {
      if (one.key !== key) continue
      if (context === undefined) waiting.delete(id)
      else tellIf(id, one, context)
    }
  }
  const tellIf = (id: string, { alert, isCommitted }: Waiting, context: AlertContext): void => {
    if (!isCommitted) return
    waiting.delete(id)
    due.push(contextUpdate(alert, context))
  }
  const askFor = (key: string, about: Indicator, vulnerabilities: readonly string[]): void => {
    const entry: Asked = { at: now(), isAnswered: false }
    asked.set(key, entry)
    turn = turn
      .then(() => ask(about, vulnerabilities))
      .catch(() => undefined)
      .then((context) => {
        entry.isAnswered = true
        entry.context = context
        settle(key, context)
      })
  }
  const ofOrigin = (origin: string): readonly (readonly [string, Waiting])[] =>
    waiting.size === 0
      ? []
      : [...waiting].filter(
          ([
            ,
            {
              alert: { threatweave },
            },
          ]) => (threatweave.origins ?? [threatweave.origin]).includes(origin),
        )

  return {
    tell: (alert) => {
      const { type, value, alert_id } = alert.threatweave
      if (type === undefined || value === undefined) return alert
      const vulnerabilities = vulnerabilitiesIn(alert.event.original ?? '')
      const about = { type: type === 'ip' ? type : ('domain' as const), value: hostOf(type, value) }
      const key = [about.type, about.value, ...vulnerabilities].join(' ')
      const remembered = asked.get(key)
      const known = remembered && now() - remembered.at < keptMs ? remembered : undefined
      if (known?.isAnswered === true) return known.context ? withContext(alert, known.context) : alert
      if (waiting.size >= maxWaiting) for (const oldest of [...waiting.keys()].slice(0, 1)) waiting.delete(oldest)
      waiting.set(alert_id, { alert, key, isCommitted: false })
      if (!known) askFor(key, about, vulnerabilities)
      return alert
    },
    commit: (origin) => {
      for (const [id, one] of ofOrigin(origin)) {
        one.isCommitted = true
        const context = asked.get(one.key)?.context
        if (context) tellIf(id, one, context)
      }
    },
    giveUp: (origin) => {
      for (const [id] of ofOrigin(origin)) waiting.delete(id)
    },
    takeDue: () => {
      const taken = due
      due = []
      return taken
    },
  }
}

const withContext = (alert: Alert, context: AlertContext): Alert => ({
  ...alert,
  threatweave: { ...alert.threatweave, context },
})

/** In the group of the alert; it stands for no further match. */
const contextUpdate = (alert: Alert, context: AlertContext): ContextUpdate => {
  const { original: _, ...event } = alert.event
  const id = createHash('sha256').update(`context\0${alert.threatweave.alert_id}`).digest('hex').slice(0, 32)
  return {
    ...alert,
    message: `${alert.rule.name}: context of ${alert.threatweave.value ?? 'the indicator'}`,
    event: { ...event, id },
    threatweave: { ...alert.threatweave, alert_id: id, kind: 'context', count: 0, matched: [], context },
  }
}
