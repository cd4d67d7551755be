// The history of one indicator as a page: where and when it was seen, by whom, and which alerts it raised.
import { isUtf8 } from 'node:buffer'
import type { SeenTotals } from '../domain/sighting.js'
import type { AlertLog } from './alert-log.js'
import { formatCount, formatMoment } from './numbers.js'
import { renderTable } from './page.js'
import { pageStyle } from './page-style.js'
import { alertRows } from './view-tables.js'
import { escapeHtml, visible } from './visible.js'

/** What was counted of an indicator in one input partition. */
export type SeenIn = SeenTotals & { readonly partition: string }

export type SeenOf = (value: string) => readonly SeenIn[]

const longestValue = 253

/** Nothing where the value cannot be an indicator. */
export const renderHistory = (given: unknown, seenOf: SeenOf, alerts: AlertLog): string | undefined => {
  if (typeof given !== 'string' || given === '' || given.length > longestValue || !isUtf8(Buffer.from(given)))
    return undefined
  const rows = seenOf(given).map(({ partition, count, first, last, peers, otherSightings, offsets }) => [
    visible(partition, 280),
    `${formatCount(count)} events`,
    formatMoment(first),
    formatMoment(last),
    visible(
      peers.join(', ') + (otherSightings > 0 ? ` and ${formatCount(otherSightings)} sightings by others` : ''),
      2000,
    ),
    visible(offsets.map((offset) => `${partition}/${offset}`).join(', '), 2000),
  ])
  const own = {
    last: () => alerts.last().filter(({ threatweave }) => threatweave.value === given),
  }
  const value = escapeHtml(visible(given))
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${value} · Threatweave</title>
<link rel="icon" href="data:,">
<style>${pageStyle}</style>
</head>
<body>
<header><h1>${value}</h1><p class="small"><a href="./">Back to the status page</a></p></header>
<main>
${renderTable(
  'seen',
  'Seen in the last 14 days, by this process',
  ['Partition', 'Count', 'First', 'Last', 'Inside hosts', 'First and last event of each day'],
  rows,
  'Not seen, or not counted.',
)}
${renderTable(
  'alerts',
  'Among the last alerts',
  ['Raised', 'Level', 'Rule', 'Indicator', 'Inside host', 'Direction', 'Action', 'Matches'],
  alertRows(own),
  'None.',
)}
<p class="small">threatweave explain TOPIC/PARTITION/OFFSET shows an event; threatweave lookup ${value} what is known now.</p>
</main>
</body>
</html>
`
}
