// Renders the status page as one self-contained document that works without its script.
import { createHash } from 'node:crypto'
import { chartSize } from './chart.js'
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'
import type { PageView } from './view.js'
import { escapeHtml, visible } from './visible.js'

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const contentSecurityPolicy = [
  "default-src 'none'",
  `script-src ${hashOf(pageScript)}`,
  `style-src ${hashOf(pageStyle)}`,
  "connect-src 'self'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const steps = [
  ['read', 'Read', 'events/s'],
  ['extract', 'Extract', 'indicators/s'],
  ['memory', 'Memory', 'lookups/s'],
  ['ask', 'Provider', 'calls/s'],
  ['annotate', 'Annotate', 'events/s'],
  ['deliver', 'Deliver', 'events/s'],
] as const

const charts = [
  ['events', 'Events'],
  ['lag', 'Lag'],
  ['hits', 'Hit ratio'],
  ['calls', 'Calls'],
  ['credits', 'Credits'],
] as const

const tables = [
  [
    'findings',
    'Last malicious findings',
    ['Seen', 'Indicator', 'Role', 'Score', 'Why', 'Events', 'Event'],
    'None yet.',
  ],
  ['reasons', 'Why verdicts are unknown', ['Reason', 'Last minute', 'Since start'], 'None yet.'],
  ['errors', 'Last errors', ['Last', 'Level', 'Message', 'Count'], 'None.'],
  ['verdicts', 'Events by verdict and status', ['Verdict', 'Complete', 'Partial', 'Failed', 'Skipped'], ''],
  ['partitions', 'Partitions', ['Partition', 'Lag', 'Last delivered', 'In progress'], 'None assigned.'],
] as const

/** `config` is rows of setting and value, secrets already hidden. */
export const renderPage = (view: PageView, config: readonly (readonly [string, string])[]): string => {
  const text = (id: string): string => escapeHtml(view.texts[id] ?? '')
  const tone = (id: string): string => escapeHtml(view.tones[id] ?? 'idle')
  const path = (id: string): string => escapeHtml(view.paths[id] ?? '')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Threatweave status</title>
<link rel="icon" href="data:,">
<noscript><meta http-equiv="refresh" content="10"></noscript>
<style>${pageStyle}</style>
</head>
<body>
<header>
<h1>Threatweave</h1>
<p class="small"><span id="uptime">${text('uptime')}</span> · <span id="live">static</span></p>
</header>
<main>
<p class="headline" role="status" id="headline" data-tone="${tone('headline')}">${text('headline')}</p>
<p class="asking" id="asking" data-tone="${tone('asking')}">${text('asking')}</p>
<section aria-labelledby="title-line">
<h2 id="title-line">Pipeline</h2>
<ol class="line">
${steps
  .map(
    ([id, title, unit]) => `<li id="step-${id}" data-tone="${tone(`step-${id}`)}"><h3>${title}</h3>
<p class="rate"><span id="rate-${id}">${text(`rate-${id}`)}</span> <span class="unit">${unit}</span></p>
<p class="small" id="note-${id}">${text(`note-${id}`)}</p></li>`,
  )
  .join('\n')}
</ol>
</section>
<section aria-labelledby="title-hour">
<h2 id="title-hour">The last hour</h2>
<div class="charts">
${charts
  .map(
    ([id, title]) => `<figure>
<figcaption><span class="name">${title}</span> <span class="now" id="now-${id}">${text(`now-${id}`)}</span></figcaption>
<svg viewBox="0 0 ${chartSize.width} ${chartSize.height}" preserveAspectRatio="none" role="img" aria-label="${title} over the last hour">
<path class="area" id="area-${id}" d="${path(`area-${id}`)}"/><path class="curve" id="line-${id}" d="${path(`line-${id}`)}"/>
</svg>
<p class="small" id="peak-${id}">${text(`peak-${id}`)}</p>
</figure>`,
  )
  .join('\n')}
</div>
</section>
${tables.map(([id, title, columns, none]) => renderTable(id, title, columns, view.tables[id] ?? [], none)).join('\n')}
<section>
<details>
<summary>Effective configuration</summary>
${scrolling('Configuration', table('config', ['Setting', 'Value'], config, ''))}
</details>
</section>
</main>
<script>${pageScript}</script>
</body>
</html>
`
}

const renderTable = (
  id: string,
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string => `<section aria-labelledby="title-${id}">
<h2 id="title-${id}">${title}</h2>
${scrolling(title, table(id, columns, rows, none))}
</section>`

/** Wide tables scroll on their own, with the keyboard too. */
const scrolling = (title: string, inner: string): string =>
  `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(title)}">${inner}</div>`

const table = (
  id: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  none: string,
): string => `<table>
<thead><tr>${columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join('')}</tr></thead>
<tbody id="${id}" data-none="${escapeHtml(none)}">${rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`).join('\n')}</tbody>
</table>`

/** Nested settings as rows of dotted name and value. */
export const configRows = (config: unknown, name = ''): (readonly [string, string])[] =>
  typeof config === 'object' && config !== null && !Array.isArray(config)
    ? Object.entries(config).flatMap(([key, value]) => configRows(value, name === '' ? key : `${name}.${key}`))
    : [[visible(name), visible(typeof config === 'string' ? config : JSON.stringify(config), 2000)]]
