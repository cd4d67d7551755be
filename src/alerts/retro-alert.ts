// Builds a retro alert: an indicator that was delivered as clean or unknown is malicious now, and these machines have seen it.
import { createHash } from 'node:crypto'
import type { Level } from '../domain/finding.js'
import { type Alert, type AlertBody, alertHead, isoTime } from './alert.js'
import { threatIndicator } from '../domain/ecs-indicator.js'
import { attackOf } from './attack-tags.js'
import { matchedOf } from './create-alert.js'
import type { RetroMatch, RetroSeen } from './retro-rule.js'
import type { Rule } from './sigma/rule.js'

export type RetroAlert = Omit<Alert, 'threatweave'> & { readonly threatweave: RetroBody }

type RetroBody = AlertBody & {
  readonly kind: 'retro' | 'retro_summary'
  readonly first_seen: string
  readonly last_seen: string
  readonly peers: readonly string[]
  /** Sightings by inside hosts that were not recorded. */
  readonly other_sightings?: number
  readonly indicators?: readonly string[]
  readonly indicators_omitted?: number
  /** The command that annotates the events again. */
  readonly replay: string
}

/** The indicator of an alert, and the rule that applies. */
type Hit = RetroSeen & { readonly match: Omit<RetroMatch, 'isSummarised'> }

const maxIndicators = 50
const maxPeers = 64

export const createRetroAlert = (about: Hit, now: number): RetroAlert => {
  const { indicator, verdict, seen, partition, match, geo } = about
  const { type, value } = indicator
  const group = [match.rule.id, value, verdict.level]
  const summary = `${value} is malicious now: ${verdict.because}; ${times(seen.count)} since ${isoTime(seen.first)}, when it was clean or unknown`
  const { score, threatClass, categories, source, feed, entry, at } = verdict
  const alert = compose({
    kind: 'retro',
    id: hash([...group, partition]),
    group: hash(group),
    summary,
    now,
    level: verdict.level,
    rule: match.rule,
    all: [about],
  })
  return {
    ...alert,
    event: { ...alert.event, ...(score !== undefined && { risk_score: score }) },
    threat: { ...alert.threat, indicator: threatIndicator(type, value, source) },
    related: {
      ...((type === 'ip' || seen.peers.length > 0) && { ip: [...(type === 'ip' ? [value] : []), ...seen.peers] }),
      ...(type === 'domain' && { hosts: [value] }),
    },
    threat_match_value: value,
    threatweave: {
      ...alert.threatweave,
      type,
      value,
      ...match.traffic,
      ...(score !== undefined && { score }),
      ...(threatClass !== undefined && { threat_class: threatClass }),
      ...(categories !== undefined && { categories }),
      ...geo,
      ...(source !== undefined && { source }),
      ...(feed !== undefined && { feed }),
      ...(entry !== undefined && { entry }),
      ...(at !== undefined && { verdict_time: isoTime(at) }),
      matched: matchedOf(match.why),
    },
  }
}

/** One alert for all indicators of a rule that have no alert of their own. */
export const createRetroSummary = (rule: Rule, all: readonly RetroSeen[], now: number): RetroAlert => {
  const values = [...new Set(all.map(({ indicator }) => indicator.value))]
  const sightings = all.reduce((sum, { seen }) => sum + seen.count, 0)
  // Several processes may write a summary of the same indicators, each for its own partitions.
  const partitions = [...new Set(all.map(({ partition }) => partition))]
  const id = hash([rule.id, ...values.toSorted(), ...partitions.toSorted()])
  const summary = `${values.length} ${values.length === 1 ? 'indicator is' : 'indicators are'} malicious now: ${times(sightings)}, when ${values.length === 1 ? 'it was' : 'they were'} clean or unknown`
  const alert = compose({ kind: 'retro_summary', id, group: id, summary, now, level: 'malicious', rule, all })
  const omitted = values.length - maxIndicators
  return {
    ...alert,
    threatweave: {
      ...alert.threatweave,
      indicators: values.slice(0, maxIndicators),
      ...(omitted > 0 && { indicators_omitted: omitted }),
    },
  }
}

type Parts = {
  readonly kind: RetroBody['kind']
  readonly id: string
  readonly group: string
  readonly summary: string
  readonly now: number
  readonly level: Level
  readonly rule: Rule
  readonly all: readonly RetroSeen[]
}

const compose = ({ kind, id, group, summary, now, level, rule, all }: Parts): RetroAlert => {
  const origins = all.flatMap(({ partition, seen }) => seen.offsets.map((offset) => `${partition}/${offset}`))
  const attack = attackOf(rule.tags)
  const peers = [...new Set(all.flatMap(({ seen }) => seen.peers))]
  const otherSightings = all.reduce((sum, { seen }) => sum + seen.otherSightings, 0)
  return {
    ...alertHead(rule, id, now, summary),
    ...(Object.keys(attack).length > 0 && { threat: attack }),
    threatweave: {
      schema_version: 1,
      alert_id: id,
      kind,
      group_id: group,
      level: rule.level,
      origin: origins[0] ?? '',
      count: all.reduce((sum, { seen }) => sum + seen.count, 0),
      origins: origins.slice(0, maxOrigins),
      ...(origins.length > maxOrigins && { origins_omitted: origins.length - maxOrigins }),
      first_seen: isoTime(lowest(all.map(({ seen }) => seen.first))),
      last_seen: isoTime(highest(all.map(({ seen }) => seen.last))),
      peers: peers.slice(0, maxPeers),
      ...(peers.length > maxPeers && { peers_omitted: peers.length - maxPeers }),
      ...(otherSightings > 0 && { other_sightings: otherSightings }),
      replay: replayOf(all),
      status: 'complete',
      verdict: level,
      direction: 'unknown',
      action: 'unknown',
      summary,
      matched: [],
    },
  }
}

/** The first and the last offset of each of fourteen days. */
const maxOrigins = 28

/** Covers the first partition, from the first event to the last. */
const replayOf = (all: readonly RetroSeen[]): string => {
  const partition = all[0]?.partition ?? ''
  const offsets = all.filter((one) => one.partition === partition).flatMap(({ seen }) => seen.offsets)
  const cut = partition.lastIndexOf('/')
  return `threatweave replay --topic ${partition.slice(0, cut)} --partition ${partition.slice(cut + 1)} --from ${lowest(offsets)} --to ${highest(offsets) + 1}`
}

// A summary may have more numbers than a call takes arguments.
const lowest = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.min(one, other), Infinity)
const highest = (numbers: readonly number[]): number => numbers.reduce((one, other) => Math.max(one, other), -Infinity)
const times = (count: number): string => `seen in ${count} ${count === 1 ? 'event' : 'events'}`
const hash = (parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32)
