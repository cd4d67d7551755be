// The history of a value as tables.
import { printable } from '../../domain/control-characters.js'
import type { History } from '../../follow-up/read-history.js'
import { renderTable } from '../../terminal/table.js'

const maxPeers = 8

export const renderHistory = ({ value, indicators, alerts }: History & { readonly value: string }): string => {
  if (indicators.length === 0 && alerts.length === 0) return `${printable(value)} was not seen in the last 14 days.\n`
  const seen = renderTable(
    [
      { title: 'indicator', max: 80 },
      { title: 'events', align: 'right' },
      { title: 'first seen' },
      { title: 'last seen' },
      { title: 'by', max: 120 },
    ],
    indicators.map(({ indicator, count, first_seen, last_seen, peers, other_sightings = 0 }) => [
      indicator,
      String(count),
      timeOf(first_seen),
      timeOf(last_seen),
      listOf(peers, other_sightings),
    ]),
  )
  if (alerts.length === 0) return `${seen}\nNo alert names it.\n`
  return `${seen}\n${renderTable(
    [
      { title: 'alert at' },
      { title: 'level' },
      { title: 'rule', max: 60 },
      { title: 'about', max: 80 },
      { title: 'events', align: 'right' },
      { title: 'names', max: 120 },
    ],
    alerts.map(({ at, level, rule, value: about, count, peers }) => [
      timeOf(at),
      level,
      rule,
      about,
      String(count),
      listOf(peers, 0),
    ]),
  )}`
}

const timeOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

const listOf = (peers: readonly string[], otherSightings: number): string => {
  const more = peers.length - maxPeers
  return [
    ...peers.slice(0, maxPeers),
    ...(more > 0 ? [`${more} more`] : []),
    ...(otherSightings > 0 ? [`${otherSightings} sightings by others`] : []),
  ].join(', ')
}
