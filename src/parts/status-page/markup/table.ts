// A table with a heading; a wide table scrolls by itself, also with the keyboard.
import { h, type Node } from './node.js'

export type Rows = readonly (readonly Node[])[]

export const table = (id: string, title: string, columns: readonly string[], rows: Rows, none = ''): Node =>
  h(
    'section',
    { id: `table-${id}` },
    h('h3', {}, title),
    rows.length === 0
      ? h('p', { class: 'soft' }, none)
      : h(
          'div',
          { class: 'scroll', role: 'region', tabindex: '0', 'aria-label': title },
          h(
            'table',
            {},
            h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name)))),
            h('tbody', { id }, ...rows.map((row) => h('tr', {}, ...row.map((cell) => h('td', {}, cell))))),
          ),
        ),
  )
