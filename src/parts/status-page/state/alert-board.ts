// One entry per alerted indicator: its worst alert, inside hosts, count and times.
import { ownText } from '../../../base/bounded-cache.js'
import type { RaisedAlert } from '../../../ops/page.js'
import { alertLevels } from '../../../telemetry/labels.js'

export type AlertLevel = Exclude<(typeof alertLevels)[number], 'other'>

/** Lowest first. */
export const levels = alertLevels.filter((level): level is AlertLevel => level !== 'other')

export type AlertedIndicator = {
  readonly key: string
  readonly level: AlertLevel
  /** The newest of its worst alerts, in full. */
  readonly alert: RaisedAlert
  readonly rules: readonly string[]
  readonly hosts: readonly string[]
  /** A lower bound; more than `hosts` if some were not kept or not named in an alert. */
  readonly hostCount: number
  readonly feeds: readonly string[]
  /** Distinct values of all its alerts, in order of arrival: `outbound allowed`. */
  readonly traffic: readonly string[]
  /** `late`, `retro`, `retro_summary`. */
  readonly kinds: readonly string[]
  readonly alerts: number
  readonly events: number
  /** Epoch milliseconds, in event time. */
  readonly first: number
  readonly last: number
  readonly raisedAt: number
}

export type AlertBoard = {
  readonly note: (alert: RaisedAlert) => void
  /** Worst first, then those with the newest alert. */
  readonly all: () => readonly AlertedIndicator[]
  readonly find: (alertId: string) => AlertedIndicator | undefined
}

/** Levels have separate limits, so a flood of low alerts hides no others. */
const maxPerLevel = 40
const maxNames = 8
const maxHosts = 32
const maxIds = 64
const maxJson = 32_768

/** The alert is stored as text and parsed when the page is viewed: in a flood, most are replaced before that. */
type Entry = Omit<AlertedIndicator, 'alert'> & {
  readonly alertId: string
  readonly text: string
  readonly ids: ReadonlySet<string>
}

const shown = ({ alertId: _, text, ids: __, ...entry }: Entry): AlertedIndicator => ({
  ...entry,
  alert: JSON.parse(text) as RaisedAlert,
})

export const createAlertBoard = (now: () => number): AlertBoard => {
  /** Insertion order is the order of the last alert. */
  const byLevel = new Map<AlertLevel, Map<string, Entry>>([...levels].reverse().map((level) => [level, new Map()]))
  const find = (key: string): Entry | undefined => {
    for (const entries of byLevel.values()) {
      const entry = entries.get(key)
      if (entry) return entry
    }
    return undefined
  }
  return {
    note: (raised) => {
      const { alert_id: id, kind, late, count, direction, action } = raised.threatweave
      const { value, feed } = raised.threatweave
      const key = value === undefined ? `${kind ?? ''} ${raised.rule.id}` : ownText(value)
      const before = find(key)
      // A repeated chunk raises the same alerts again.
      if (before?.ids.has(id)) return
      const { alert, text } = keptOf(raised)
      const level = levelOf(alert)
      const time = timesOf(alert, now())
      const isWorst = kind !== 'update' && (!before || rank(level) >= rank(before.level))
      const worst = before && rank(before.level) > rank(level) ? before.level : level
      const named = new Set(hostsOf(alert))
      const hosts = [...new Set([...named, ...(before?.hosts ?? [])])]
      const entry: Entry = {
        key,
        level: worst,
        ...(before && !isWorst ? { text: before.text, alertId: before.alertId } : { text, alertId: id }),
        rules: added(before?.rules, alert.rule.name),
        hosts: hosts.slice(0, maxHosts),
        hostCount: Math.max(before?.hostCount ?? 0, hosts.length, named.size + (alert.threatweave.peers_omitted ?? 0)),
        feeds: added(before?.feeds, feed === undefined ? undefined : ownText(feed)),
        traffic: added(before?.traffic, `${direction} ${action}`),
        kinds: added(before?.kinds, kind === 'update' ? undefined : (kind ?? (late ? 'late' : undefined))),
        alerts: (before?.alerts ?? 0) + (kind === 'update' ? 0 : 1),
        events: (before?.events ?? 0) + count,
        first: Math.min(before?.first ?? Infinity, time.first),
        last: Math.max(before?.last ?? -Infinity, time.last),
        raisedAt: now(),
        ids: new Set([...(before?.ids ?? []), id].slice(-maxIds)),
      }
      if (before) byLevel.get(before.level)?.delete(key)
      const entries = byLevel.get(worst)
      entries?.set(key, entry)
      const [oldest] = entries?.keys() ?? []
      if (entries && entries.size > maxPerLevel && oldest !== undefined) entries.delete(oldest)
    },
    all: () => [...byLevel.values()].flatMap((entries) => [...entries.values()].reverse().map(shown)),
    find: (alertId) => {
      for (const entries of byLevel.values())
        for (const entry of entries.values()) if (entry.alertId === alertId) return shown(entry)
      return undefined
    },
  }
}

/** The stored part of an alert, and its text: substrings of an event would keep the whole event in memory. */
const keptOf = (raised: RaisedAlert): { readonly alert: RaisedAlert; readonly text: string } => {
  const whole = JSON.stringify(raised)
  if (whole.length <= maxJson) return { alert: raised, text: whole }
  const { threatweave } = raised
  const omitted = (threatweave.peers?.length ?? 0) + (threatweave.peers_omitted ?? 0)
  const body = { ...threatweave, context: undefined, peers: undefined, peers_omitted: omitted }
  const alert = { ...raised, threatweave: body } as unknown as RaisedAlert
  return { alert, text: JSON.stringify(alert) }
}

const rank = (level: AlertLevel): number => levels.indexOf(level)

const levelOf = ({ threatweave: { level } }: RaisedAlert): AlertLevel =>
  levels.find((one) => one === level) ?? 'informational'

const timesOf = (
  { '@timestamp': at, threatweave: { first_seen: first, last_seen: last } }: RaisedAlert,
  now: number,
): { readonly first: number; readonly last: number } => {
  const parse = (text: string): number => {
    const time = Date.parse(text)
    return Number.isNaN(time) ? now : time
  }
  return { first: parse(first ?? at), last: parse(last ?? at) }
}

const hostsOf = ({ threatweave: { peer, peers = [], sources = [], value } }: RaisedAlert): readonly string[] =>
  [...(peer === undefined ? [] : [peer]), ...peers, ...sources].filter((host) => host !== value).map(ownText)

const added = (before: readonly string[] = [], name: string | undefined): readonly string[] =>
  name === undefined || before.includes(name) || before.length === maxNames ? before : [...before, name]
