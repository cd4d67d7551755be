// Builds an alert from a match and its event, as a pure function.
import { isUtf8 } from 'node:buffer'
import type { Annotation } from '../domain/annotation.js'
import { replaceControls } from '../domain/control-characters.js'
import { parseAddress } from '../domain/address.js'
import { describeListing } from '../domain/describe-listing.js'
import { hostOf } from '../domain/listed-url.js'
import { endpointsOf } from '../domain/endpoints.js'
import { type Alert, type AlertBody, type Matched, alertHead, isoTime } from './alert.js'
import type { AnnotatedEvent } from './annotated-event.js'
import { threatIndicator } from '../domain/ecs-indicator.js'
import { attackOf } from './attack-tags.js'
import type { Candidate } from './candidates.js'
import { createReadEvent, type ReadEvent, type RuleEvent } from './event-field.js'
import type { Witness } from './sigma/expression.js'
import { scalarText } from './sigma/field.js'
import type { Rule } from './sigma/rule.js'

export type AlertInput = {
  readonly id: string
  readonly groupId: string
  readonly rule: Rule
  readonly why: readonly Witness[]
  readonly one: AnnotatedEvent
  /** The annotation as if the indicator of the alert had decided. */
  readonly candidate: Candidate
  /** Other indicators of the event that the rule matched, worst first. */
  readonly listed: readonly string[]
  /** The same event as rules see it. */
  readonly event: RuleEvent
  readonly time: number
  readonly peer: string | undefined
  readonly peers: readonly string[]
  readonly count: number
  /** All events of a late alert. */
  readonly origins?: readonly string[]
  readonly originsOmitted?: number
  readonly replayId?: string | undefined
}

const maxMatched = 16
const maxValue = 256
const maxPeers = 16
const maxListed = 16
const maxLine = 2048

export const createAlert = (input: AlertInput): Alert => {
  const { id, groupId, rule, one, candidate: annotation, count, origins, originsOmitted = 0, replayId } = input
  const { origin, key, extraction } = one
  const { source: from, destination: to } = endpointsOf(extraction)
  const {
    status,
    verdict,
    score,
    threat_class,
    type,
    value,
    role,
    direction,
    action,
    activity,
    password_accepted,
    source,
  } = annotation
  const {
    categories,
    country,
    as,
    owner,
    open_ports,
    vulnerabilities,
    exposes,
    feed,
    entry,
    verdict_time,
    stale,
    enrichment_id,
  } = annotation
  // Names of hosts, users and fields come from the event, so they may contain anything.
  const peer = input.peer === undefined ? undefined : harmless(input.peer)
  const peers = input.peers.map(harmless)
  const indicators = input.listed.map(harmless)
  const field = annotation.field === undefined ? undefined : harmless(annotation.field)
  const summary = harmless(annotation.summary)
  const head = alertHead(rule, id, input.time, summary)
  return {
    ...head,
    event: {
      ...head.event,
      ...(score !== undefined && { risk_score: score }),
      original: clip(one.event.text, maxLine),
    },
    ...threatOf(rule, annotation),
    ...(from && { source: from }),
    ...(to && { destination: to }),
    ...observerOf(input),
    ...relatedOf(annotation, [
      ...indicators.slice(0, maxListed),
      ...(peer === undefined ? [] : [peer, ...peers.slice(-maxPeers)]),
    ]),
    ...(field !== undefined && { threat_match_field: field }),
    ...(value !== undefined && { threat_match_value: value }),
    threatweave: {
      schema_version: 1,
      alert_id: id,
      group_id: groupId,
      level: rule.level,
      origin,
      ...keyOf(key),
      ...(enrichment_id !== undefined && { enrichment_id }),
      count,
      ...(origins && { late: true, origins }),
      ...(originsOmitted > 0 && { origins_omitted: originsOmitted }),
      ...(replayId !== undefined && { replay_id: replayId }),
      ...(peer !== undefined && { peer }),
      ...(peers.length > 0 && { peers: peers.slice(-maxPeers) }),
      ...(peers.length > maxPeers && { peers_omitted: peers.length - maxPeers }),
      status,
      verdict,
      ...(score !== undefined && { score }),
      ...(threat_class !== undefined && { threat_class }),
      ...(type !== undefined && { type }),
      ...(value !== undefined && { value }),
      ...(indicators.length > 0 && { indicators: indicators.slice(0, maxListed) }),
      ...(indicators.length > maxListed && { indicators_omitted: indicators.length - maxListed }),
      ...(field !== undefined && { field }),
      ...(role !== undefined && { role }),
      direction,
      action,
      ...(activity !== undefined && { activity }),
      ...(password_accepted !== undefined && { password_accepted }),
      summary,
      ...(categories !== undefined && { categories }),
      ...(country !== undefined && { country }),
      ...(as !== undefined && { as }),
      ...(owner !== undefined && { owner: harmless(owner) }),
      ...(open_ports !== undefined && { open_ports }),
      ...(vulnerabilities !== undefined && { vulnerabilities }),
      ...(exposes !== undefined && { exposes }),
      ...(source !== undefined && { source }),
      ...(feed !== undefined && { feed }),
      ...(entry !== undefined && { entry }),
      ...(verdict_time !== undefined && { verdict_time }),
      ...(stale !== undefined && { stale }),
      ...listedOf(one, annotation),
      matched: matchedOf(input.why),
    },
  }
}

const threatOf = ({ tags }: Rule, annotation: Readonly<Annotation>): Pick<Alert, 'threat'> => {
  const { type, value, source } = annotation
  const threat = {
    ...attackOf(tags),
    ...(value !== undefined && { indicator: threatIndicator(type, value, source) }),
  }
  return Object.keys(threat).length > 0 ? { threat } : {}
}

/** The device's own name comes first, because the header of its line may name a relay. */
const readNames = ['devname', 'device_name', 'dvchost', 'observer.name', 'observer.hostname'].map(createReadEvent)
const readIps = ['observer.ip'].map(createReadEvent)

const observerOf = ({ event, candidate: annotation }: AlertInput): Pick<Alert, 'observer'> => {
  const first = (reads: readonly ReadEvent[]): string | undefined => {
    for (const read of reads) {
      const value = read(event, annotation)
      if (typeof value === 'string') return value
      const text: unknown = Array.isArray(value) ? value.find((one) => typeof one === 'string') : undefined
      if (typeof text === 'string') return text
    }
    return undefined
  }
  const [name, ip] = [first(readNames), first(readIps)]
  if (name === undefined && ip === undefined) return {}
  return { observer: { ...(name !== undefined && { name: clip(name) }), ...(ip !== undefined && { ip: clip(ip) }) } }
}

const relatedOf = ({ type, value }: Readonly<Annotation>, others: readonly string[]): Pick<Alert, 'related'> => {
  const all = [...new Set([...(value === undefined ? [] : [hostOf(type, value)]), ...others.map(hostOfAny)])]
  const ip = all.filter((one) => parseAddress(one) !== undefined)
  const hosts = all.filter((one) => parseAddress(one) === undefined)
  if (all.length === 0) return {}
  return { related: { ...(ip.length > 0 && { ip }), ...(hosts.length > 0 && { hosts }) } }
}

/** Other indicators may be URLs; peers never have a path. */
const hostOfAny = (text: string): string => (text.includes('/') ? hostOf('url', text) : text)

const bounds = { feed: 64, entry: 256, categories: 8, category: 64 } as const

/** The times of the deciding feed entry, and all listings of the indicator. */
const listedOf = (
  { judged }: AnnotatedEvent,
  { type, value = '', entry }: Candidate,
): Pick<AlertBody, 'listed_since' | 'list_time' | 'listings'> => {
  const host = hostOf(type, value)
  const { listing, listings } =
    judged.find(({ sighting, verdict }) => sighting.value === host && verdict.entry === entry)?.verdict ?? {}
  const { since, copyAt } = listing ?? {}
  return {
    ...(listings && { listings: listings.map((one) => describeListing(one, bounds)) }),
    ...(since !== undefined && { listed_since: isoTime(since) }),
    ...(copyAt !== undefined && { list_time: isoTime(copyAt) }),
  }
}

const keyOf = (key: Buffer | null | undefined): Pick<AlertBody, 'key' | 'key_base64'> => {
  if (key === null || key === undefined) return {}
  const bytes = key.subarray(0, 1024)
  return isUtf8(key) ? { key: clip(bytes.toString('utf8')) } : { key_base64: bytes.toString('base64') }
}

export const matchedOf = (why: readonly Witness[]): Matched[] =>
  why.slice(0, maxMatched).map(({ field, value }) => ({
    field: field === '' ? 'any' : field,
    value:
      typeof value === 'number' || typeof value === 'boolean' || value === null
        ? value
        : clip(scalarText(value) ?? JSON.stringify(value ?? null)),
  }))

/** Replaces control characters, so that the text cannot move the cursor, or hide or reorder text, wherever it is shown. */
export const harmless = (text: string): string =>
  replaceControls(text.replace(/[\t\r\n]+/g, ' '), (run) => '\ufffd'.repeat(run.length))

const clip = (text: string, max = maxValue): string =>
  text.length > max ? `${harmless(text.slice(0, max))}…` : harmless(text)
