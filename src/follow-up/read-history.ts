// Reads the history of some indicators from the sightings topic and the alerts topic.
import { parseAddress } from '../domain/address.js'
import type { Indicator } from '../domain/indicator.js'
import { hostOf } from '../domain/listed-url.js'
import { isObject, parseObject } from '../base/json-object.js'
import { readCount, readCountId } from './count-record.js'
import { createReadState, type StateRecord } from './state-record.js'
import { sumOf, type SeenOnDay } from './seen.js'
import { readToEnd, withTopicReader } from '../kafka/topic-reader.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { WireRecord } from '../kafka/wire/record.js'

type SeenIndicator = {
  readonly indicator: string
  readonly count: number
  readonly first_seen: string
  readonly last_seen: string
  readonly peers: readonly string[]
  /** Sightings by inside hosts beyond the listed ones. */
  readonly other_sightings?: number
  /** Offsets of sample events, per input partition. */
  readonly origins: readonly string[]
}

type SaidAbout = {
  /** Record time of the alert, on the same clock as the sightings. */
  readonly at: string
  readonly alert_id: string
  readonly rule: string
  readonly level: string
  readonly value: string
  readonly count: number
  /** The inside hosts in the alert. */
  readonly peers: readonly string[]
}

export type History = { readonly indicators: readonly SeenIndicator[]; readonly alerts: readonly SaidAbout[] }

export const readHistory = (
  settings: KafkaSettings,
  covers: (indicator: Indicator) => boolean,
  signal: AbortSignal,
): Promise<(History & { readonly otherGroups: boolean }) | { readonly refused: string }> => {
  const { sightingsTopic = '', alertsTopic = '' } = settings
  const named = [sightingsTopic, alertsTopic].filter((topic) => topic !== '')
  return withTopicReader(settings, named, async (reader, existing) => {
    const goesOn = (): boolean => !signal.aborted
    const rows = new Map<string, { readonly partition: string; readonly seen: SeenOnDay }>()
    const read = createReadState(
      { topic: sightingsTopic, partitions: 1, groupId: settings.groupId, signingKey: settings.verdictsKey ?? '' },
      ({ kind }) => kind === 'count',
    )
    let otherGroups = false
    const take = (record: WireRecord): void => {
      const found = read(record)
      if (!found) return
      if (!('refused' in found)) takeRow(found, covers, rows)
      else if (found.refused === 'other_group') otherGroups = true
    }
    if (existing.has(sightingsTopic)) await readToEnd(reader, sightingsTopic, take, goesOn)
    const alerts: SaidAbout[] = []
    if (existing.has(alertsTopic))
      await readToEnd(reader, alertsTopic, (record) => alerts.push(...alertsIn(record, covers)), goesOn)
    return {
      otherGroups,
      indicators: summed([...rows.values()]),
      alerts: alerts.toSorted((one, other) => (one.at < other.at ? -1 : 1)),
    }
  })
}

const takeRow = (
  { topic, partition: number, id, value }: StateRecord,
  covers: (indicator: Indicator) => boolean,
  rows: Map<string, { readonly partition: string; readonly seen: SeenOnDay }>,
): void => {
  const about = readCountId(id)
  if (!about || !covers(indicatorOf(about.value))) return
  const partition = `${topic}/${number}`
  const seen = value && readCount(id, value)
  if (seen) rows.set(`${partition}/${id}`, { partition, seen })
  else rows.delete(`${partition}/${id}`)
}

const indicatorOf = (value: string): Indicator => ({ type: parseAddress(value) === undefined ? 'domain' : 'ip', value })

const summed = (
  rows: readonly { readonly partition: string; readonly seen: SeenOnDay }[],
): readonly SeenIndicator[] => {
  const byValue = new Map<string, (typeof rows)[number][]>()
  for (const row of rows) {
    const { value } = row.seen.indicator
    byValue.set(value, [...(byValue.get(value) ?? []), row])
  }
  const all = [...byValue].flatMap(([indicator, own]) => {
    const sum = sumOf(own.map(({ seen }) => seen))
    if (!sum) return []
    const origins = own.flatMap(({ partition, seen }) =>
      [...new Set([seen.firstOffset, seen.lastOffset])].map((offset) => `${partition}/${offset}`),
    )
    return [
      {
        indicator,
        count: sum.count,
        first_seen: new Date(sum.first).toISOString(),
        last_seen: new Date(sum.last).toISOString(),
        peers: sum.peers,
        ...(sum.otherSightings > 0 && { other_sightings: sum.otherSightings }),
        origins,
      },
    ]
  })
  return all.toSorted((one, other) => other.count - one.count)
}

/** Reads an alert of any kind that concerns a covered indicator. */
const alertsIn = (
  { value: bytes, timestamp }: WireRecord,
  covers: (indicator: Indicator) => boolean,
): readonly SaidAbout[] => {
  const alert = bytes && parseObject(bytes)
  const body = alert?.threatweave
  const rule = alert?.rule
  if (!alert || !isObject(body) || !isObject(rule)) return []
  const values = [body.value, ...listOf(body.indicators)]
  const value = values.find(
    (one): one is string =>
      typeof one === 'string' && covers(indicatorOf(one.includes('/') ? hostOf('url', one) : one)),
  )
  if (value === undefined) return []
  const peers = [body.peer, ...listOf(body.peers)]
  return [
    {
      at: new Date(Number(timestamp)).toISOString(),
      alert_id: textOf(body.alert_id),
      rule: `${textOf(rule.name)}${body.kind === 'update' ? ' (update)' : ''}`,
      level: textOf(body.level),
      value,
      count: typeof body.count === 'number' ? body.count : 1,
      peers: peers.filter((peer) => typeof peer === 'string'),
    },
  ]
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
