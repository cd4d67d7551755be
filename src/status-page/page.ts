// Renders the status page as one self-contained document that works without its script.
import { createHash } from 'node:crypto'
import { chartSize } from './chart.js'
import { pageScript } from './page-script.js'
import { pageStyle } from './page-style.js'
import type { ProcessKind } from '../telemetry/metrics.js'
import type { PageView } from './view.js'
import type { Cell, Rows } from './view-tables.js'
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

type Step = readonly [id: string, title: string, unit: string]
type Table = readonly [id: string, title: string, columns: readonly string[], none: string]
type Layout = { readonly steps: readonly Step[]; readonly charts: readonly Step[]; readonly tables: readonly Table[] }

const memory: Step = ['memory', 'Memory', 'lookups/s']
const provider: Step = ['ask', 'Provider', 'calls/s']
const shared = {
  hits: ['hits', 'Hit ratio', ''],
  calls: ['calls', 'Calls', ''],
  credits: ['credits', 'Credits', ''],
} as const satisfies Record<string, Step>
const feeds: Table = [
  'feeds',
  'Feeds',
  ['Feed', 'State', 'Addresses', 'Names', 'Skipped', 'Age', 'Next look', 'Last error'],
  'None configured.',
]
const sharing: Table = [
  'sharing',
  'Verdicts shared over Kafka',
  ['What', 'Since start', 'Details'],
  'Nothing yet, or there is no verdicts topic.',
]
/** Shown where sources are configured. */
const sources: Table = [
  'sources',
  'Sources',
  ['Source', 'State', 'Asked', 'Answers', 'Accusing', 'Clean', 'Failed', 'Queued', 'Limits used', 'Why not'],
  '',
]
const problems: Table = ['problems', 'Problems', ['Last', 'State', 'Message', 'Times'], 'None.']
const latency: Table = ['latency', 'Latency since the start', ['What', 'Median (p50)', 'p99', 'Deadline'], '']

/** What the page of each kind of process has. */
const layouts: Readonly<Record<ProcessKind, Layout>> = {
  pipeline: {
    steps: [
      ['read', 'Read', 'events/s'],
      ['extract', 'Extract', 'indicators/s'],
      memory,
      provider,
      ['annotate', 'Annotate', 'events/s'],
      ['deliver', 'Deliver', 'events/s'],
    ],
    charts: [['events', 'Events', ''], ['lag', 'Lag', ''], shared.hits, shared.calls, shared.credits],
    tables: [
      [
        'findings',
        'Last malicious findings',
        ['Seen', 'Indicator', 'Inside host', 'Direction', 'Action', 'Score', 'Why', 'Events', 'Event'],
        'None in events as they left; what was found later is among the alerts.',
      ],
      [
        'alerts',
        'Last alerts',
        ['Raised', 'Level', 'Rule', 'Indicator', 'Inside host', 'Direction', 'Action', 'Matches'],
        'None yet.',
      ],
      problems,
      feeds,
      sources,
      latency,
      ['shares', 'How complete the answers are', ['What', 'Share', 'Of what'], ''],
      ['reasons', 'Why verdicts are unknown (indicators)', ['Reason', 'Last minute', 'Since start'], 'None yet.'],
      ['verdicts', 'Events by verdict and status', ['Verdict', 'Complete', 'Partial', 'Failed', 'Skipped'], ''],
      sharing,
      [
        'rules',
        'Alert rules since the start',
        ['Rule', 'Level', 'Alerts', 'Matching events', 'Last alert'],
        'None: there is no alerts topic.',
      ],
      [
        'without',
        'Accused events without an alert since the start',
        ['Reason', 'No rule fires because', 'Events'],
        'None.',
      ],
      [
        'partitions',
        'Partitions',
        ['Partition', 'Lag (events)', 'Last delivered', 'Chunk in progress'],
        'None assigned.',
      ],
    ],
  },
  server: {
    steps: [['requests', 'Requests', 'requests/s'], memory, provider],
    charts: [['requests', 'Requests', ''], shared.hits, shared.calls, shared.credits],
    tables: [
      problems,
      feeds,
      sources,
      latency,
      sharing,
      [
        'election',
        'Several gateways',
        ['This one', 'The one that calls', 'Takeovers', 'Questions passed on'],
        'This is the only one, or none was chosen yet.',
      ],
      ['requests', 'Requests since the start', ['Operation', 'Answered', 'Refused or failed'], 'None yet.'],
    ],
  },
}

/** `config` is rows of setting and value, secrets already hidden. */
export const renderPage = (
  kind: ProcessKind,
  view: PageView,
  config: readonly (readonly [string, string])[],
): string => {
  const { steps, charts, tables } = layouts[kind]
  const text = (id: string): string => escapeHtml(view.texts[id] ?? '')
  const tone = (id: string): string => escapeHtml(view.tones[id] ?? 'idle')
  const path = (id: string): string => escapeHtml(view.paths[id] ?? '')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Threatweave ${kind === 'server' ? 'gateway' : 'status'}</title>
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
<h2 id="title-line">${kind === 'server' ? 'Gateway' : 'Pipeline'}</h2>
<ol class="line ${kind}">
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
${tables
  .filter(([id]) => id !== 'sources' || view.tables.sources !== undefined)
  .map(([id, title, columns, none]) => renderTable(id, title, columns, view.tables[id] ?? [], none))
  .join('\n')}
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

export const renderTable = (
  id: string,
  title: string,
  columns: readonly string[],
  rows: Rows,
  none: string,
): string => `<section>
<h2>${title}</h2>
${scrolling(title, table(id, columns, rows, none))}
</section>`

/** Wide tables scroll on their own, with the keyboard too. */
const scrolling = (title: string, inner: string): string =>
  `<div class="scroll" role="region" tabindex="0" aria-label="${escapeHtml(title)}">${inner}</div>`

const table = (id: string, columns: readonly string[], rows: Rows, none: string): string => `<table>
<thead><tr>${columns.map((column) => `<th scope="col">${escapeHtml(column)}</th>`).join('')}</tr></thead>
<tbody id="${id}" data-none="${escapeHtml(none)}">${rows.map((row) => `<tr>${row.map(renderCell).join('')}</tr>`).join('\n')}</tbody>
</table>`

const renderCell = (cell: Cell): string =>
  typeof cell === 'string'
    ? `<td>${escapeHtml(cell)}</td>`
    : `<td><a href="${escapeHtml(cell.href)}">${escapeHtml(cell.text)}</a></td>`

/** Nested settings as rows of dotted name and value. */
export const configRows = (config: unknown, name = ''): (readonly [string, string])[] =>
  typeof config === 'object' && config !== null && !Array.isArray(config)
    ? Object.entries(config).flatMap(([key, value]) => configRows(value, name === '' ? key : `${name}.${key}`))
    : [[visible(name), visible(typeof config === 'string' ? config : JSON.stringify(config), 2000)]]
