// The page about one indicator: sightings, inside hosts and alerts.
import { parseAddress } from '../../../domain/address.js'
import { parseHostname } from '../../../domain/hostname.js'
import type { SeenOf } from '../../../ops/page.js'
import { clip, h } from '../markup/node.js'
import { formatCount, formatMoment } from '../markup/numbers.js'
import { documentOf } from '../markup/document.js'
import { table } from '../markup/table.js'
import type { AlertBoard } from '../state/alert-board.js'
import { alertTable } from './alerts.js'

/** Undefined unless the value is an address or a host name, because the page shows it in a command for a shell. */
export const indicatorPage = (given: unknown, seenOf: SeenOf, board: AlertBoard, now: number): string | undefined => {
  const value = typeof given === 'string' ? (parseAddress(given) ?? parseHostname(given)) : undefined
  if (value === undefined) return undefined
  const rows = seenOf(value).map(({ partition, count, first, last, peers, otherSightings, offsets }) => [
    clip(partition, 280),
    `${formatCount(count)} events`,
    formatMoment(first),
    formatMoment(last),
    clip(
      peers.join(', ') + (otherSightings > 0 ? ` and ${formatCount(otherSightings)} sightings by others` : ''),
      2000,
    ),
    clip(offsets.map((offset) => `${partition}/${offset}`).join(', '), 2000),
  ])
  const own = board.all().filter(({ key }) => key === value)
  return documentOf(value, [
    h('header', {}, h('h1', {}, value), h('p', { class: 'soft' }, h('a', { href: './' }, 'Back to the status page'))),
    h(
      'main',
      {},
      h(
        'section',
        { 'aria-labelledby': 'title-alerts' },
        h('h2', { id: 'title-alerts' }, 'Alerts'),
        own.length === 0 ? h('p', { class: 'soft' }, 'None is kept.') : alertTable(own, now),
      ),
      h(
        'section',
        { 'aria-labelledby': 'title-seen' },
        h('h2', { id: 'title-seen' }, 'Seen'),
        table(
          'seen',
          'In the last 14 days, by this process',
          ['Partition', 'Count', 'First', 'Last', 'Inside hosts', 'First and last event of each day'],
          rows,
          'Not seen, or not counted.',
        ),
        h('p', { class: 'soft' }, `threatweave lookup ${value} shows the current verdict.`),
      ),
    ),
  ])
}
