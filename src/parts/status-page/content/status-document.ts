// The status page as a document, with its regions in the order of their importance.
import type { ProcessKind } from '../../../telemetry/metrics.js'
import { documentOf } from '../markup/document.js'
import { clip, h, type Node } from '../markup/node.js'
import { table } from '../markup/table.js'
import type { View } from './view.js'

/** `config`: with secrets hidden. */
export const statusDocument = (kind: ProcessKind, view: View, config: unknown): string =>
  documentOf(
    kind === 'server' ? 'Gateway' : 'Status',
    [
      h(
        'header',
        {},
        h('h1', {}, kind === 'server' ? 'Threatweave gateway' : 'Threatweave'),
        h('div', { id: 'state' }, ...view.state),
        h('p', { id: 'live', class: 'soft', role: 'status' }, 'static'),
      ),
      h(
        'main',
        {},
        ...(kind === 'server'
          ? []
          : [
              h(
                'section',
                { 'aria-labelledby': 'title-alerts' },
                h('div', { class: 'heading' }, h('h2', { id: 'title-alerts' }, 'Alerts'), filterBox),
                h('div', { id: 'alerted' }, ...view.alerted),
              ),
            ]),
        h('section', { id: 'charts', 'aria-label': 'Charts' }, ...view.charts),
        h(
          'section',
          { 'aria-labelledby': 'title-health' },
          h('h2', { id: 'title-health' }, 'Health'),
          h('div', { id: 'health' }, ...view.health),
        ),
        h(
          'details',
          { class: 'fold' },
          h('summary', {}, h('h2', {}, 'The machine')),
          h('div', { id: 'machine' }, ...view.machine),
        ),
        h(
          'details',
          { class: 'fold' },
          h('summary', {}, h('h2', {}, 'Effective configuration')),
          table('config', 'Settings', ['Setting', 'Value'], configRows(config)),
        ),
      ),
    ],
    true,
  )

/** Hidden until the script, which does the filtering, shows it. */
const filterBox: Node = h(
  'div',
  { class: 'filter', hidden: '' },
  h('label', { for: 'filter' }, 'Filter'),
  h('input', {
    id: 'filter',
    type: 'search',
    placeholder: 'address, name, host or rule',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'filter-key',
  }),
  h('kbd', { id: 'filter-key', title: 'The key / leads here' }, '/'),
  h('span', { id: 'found', role: 'status', class: 'soft' }),
)

/** Nested settings as rows of dotted name and value. */
const configRows = (config: unknown, name = ''): (readonly [string, string])[] =>
  typeof config === 'object' && config !== null && !Array.isArray(config)
    ? Object.entries(config).flatMap(([key, value]) => configRows(value, name === '' ? key : `${name}.${key}`))
    : [[clip(name, 400), clip(typeof config === 'string' ? config : JSON.stringify(config), 2000)]]
