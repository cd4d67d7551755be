// The alerts, one row per indicator: level, indicator, reason, inside hosts, count, time and event.
import { hostOf } from '../../../domain/listed-url.js'
import { createHash } from 'node:crypto'
import { adviceFor } from '../../../alerts/advice.js'
import { clip, h, type Node } from '../markup/node.js'
import { formatCount, formatWhen } from '../markup/numbers.js'
import { commandOf } from './event-place.js'
import { levels, type AlertedIndicator, type AlertLevel } from '../state/alert-board.js'

const shownHosts = 3
/** The script folds further rows, to keep charts and health near. */
const shownRows = 12
const maxTopic = 18

/** `note`: the text without any alerts. */
export const alertNodes = (all: readonly AlertedIndicator[], now: number, note: string): readonly Node[] => {
  if (all.length === 0) return [h('p', { class: 'sums' }, note)]
  const indicators = `${formatCount(all.length)} ${all.length === 1 ? 'indicator' : 'indicators'}`
  return [
    h(
      'p',
      { class: 'sums' },
      ...[...levels].reverse().flatMap((level) => {
        const count = all.filter((one) => one.level === level).length
        return count === 0 ? [] : [h('span', { class: 'sum' }, levelLabel(level), h('b', {}, formatCount(count)))]
      }),
      h('span', {}, `${indicators}, worst first`),
    ),
    alertTable(all, now),
    all.length > shownRows && h('button', { id: 'show-all', type: 'button' }, `Show all ${indicators}`),
  ].filter((node): node is Node => node !== false)
}

export const alertTable = (all: readonly AlertedIndicator[], now: number): Node =>
  h(
    'table',
    { class: 'alerts' },
    h('caption', { class: 'unseen' }, 'Alerts by indicator'),
    h('thead', {}, h('tr', {}, ...columns.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', { id: 'alerts' }, ...all.map((one, nth) => alertRow(one, now, nth < shownRows))),
  )

const columns = ['Level', 'Indicator', 'Why', 'Who talked to it', 'Seen (UTC)', 'Event'] as const

const alertRow = (one: AlertedIndicator, now: number, isShown: boolean): Node => {
  const { alert, hosts, level } = one
  const { value, alert_id: id, origin } = alert.threatweave
  const more = moreHosts(one, shownHosts)
  const cell = (label: string, ...children: readonly (Node | false | undefined)[]): Node =>
    h('td', { 'data-label': label }, ...children)
  return h(
    'tr',
    { id: rowId(one), class: isShown ? level : `${level} more`, 'data-find': searchable(one) },
    cell('Level', levelLabel(level)),
    cell(
      'Indicator',
      value === undefined
        ? h(
            'span',
            { class: 'what' },
            clip((alert.threatweave.indicators ?? []).slice(0, 2).join(', '), 120) || 'no indicator',
          )
        : h('a', { class: 'what', href: historyHref(value) }, clip(value, 120)),
      h('span', { class: 'soft' }, placeOf(one)),
    ),
    cell(
      'Why',
      h(
        'details',
        {},
        h(
          'summary',
          {},
          h('b', {}, clip(alert.rule.name, 200)),
          h(
            'span',
            { class: 'soft line' },
            ...one.kinds.map((kind) => h('span', { class: 'tag' }, kind.replace('_', ' '))),
            one.rules.length > 1 &&
              h('span', { class: 'tag' }, `+${one.rules.length - 1} ${one.rules.length === 2 ? 'rule' : 'rules'}`),
            whyOf(one),
          ),
        ),
        ...detailsOf(one),
      ),
    ),
    cell(
      'Who',
      h('span', { class: 'host' }, hosts.length === 0 ? 'not said' : clip(hosts.slice(0, shownHosts).join(', '), 200)),
      more !== '' && h('span', { class: 'soft' }, more),
      h('span', { class: 'soft' }, trafficOf(one)),
    ),
    cell(
      'Seen',
      h('span', {}, h('b', {}, formatCount(one.events)), one.events === 1 ? ' event' : ' events'),
      h('span', { class: 'soft' }, [...new Set([one.first, one.last].map((at) => formatWhen(at, now)))].join(' – ')),
    ),
    cell(
      'Event',
      h('a', { class: 'place', href: `alert?id=${encodeURIComponent(id)}` }, shortOrigin(origin) || 'JSON'),
    ),
  )
}

/** Stable per indicator, so that an open row stays open when its worst alert changes. */
const rowId = ({ key }: AlertedIndicator): string =>
  `alert-${createHash('sha256').update(key).digest('hex').slice(0, 32)}`

/** Readable without colour: the word, and bars that grow with the level. */
const levelLabel = (level: AlertLevel): Node => {
  const rank = levels.indexOf(level)
  return h(
    'span',
    { class: `level ${level}` },
    h(
      'svg',
      { viewBox: '0 0 18 10', 'aria-hidden': 'true' },
      ...levels.map((_, nth) =>
        h('rect', {
          class: nth <= rank ? 'on' : 'off',
          x: String(nth * 4),
          y: String(8 - nth * 2),
          width: '2',
          height: String(2 + nth * 2),
        }),
      ),
    ),
    level === 'informational' ? 'info' : level,
  )
}

/** Shortens a long topic name, never the partition and offset. */
const shortOrigin = (origin: string): string => {
  const topicEnd = origin.indexOf('/')
  return clip(`${clip(origin.slice(0, Math.max(0, topicEnd)), maxTopic)}${origin.slice(Math.max(0, topicEnd))}`, 60)
}

/** For a listed URL it links to its host, which is the counted indicator. */
export const historyHref = (value: string): string =>
  `history?value=${encodeURIComponent(value.includes('/') ? hostOf('url', value) : value)}`

const placeOf = ({ alert: { threatweave } }: AlertedIndicator): string => {
  const { type, country, as, indicators = [], value } = threatweave
  if (value === undefined) return indicators.length > 2 ? `and ${formatCount(indicators.length - 2)} more` : ''
  const network = as?.name ?? (as?.number === undefined ? undefined : `AS${as.number}`)
  const where = [network, country].filter((part) => part !== undefined).join(', ')
  return clip(
    where || (type === 'ip' ? 'address' : type === 'domain' ? 'name' : type === 'url' ? 'URL' : (type ?? '')),
    80,
  )
}

/** The evidence, most specific first, or the summary without any. */
const whyOf = ({ alert: { threatweave }, feeds }: AlertedIndicator): string => {
  const { categories = [], score, source = '', summary = '' } = threatweave
  const said = [
    categories.join(', '),
    feeds.length > 0 ? `listed in ${feeds.join(', ')}` : '',
    source === 'service'
      ? 'reported by the lookup service'
      : source.startsWith('source:')
        ? `said by ${source.slice(7)}`
        : '',
    score === undefined ? '' : `score ${score}`,
  ].filter((part) => part !== '')
  return clip(said.length > 0 ? said.join(' · ') : summary, 300)
}

/** The number of hosts after the first `shown` ones. */
const moreHosts = ({ hosts, hostCount }: AlertedIndicator, shown: number): string => {
  const more = hostCount - Math.min(hosts.length, shown)
  return more === 0 ? '' : `and ${hostCount > hosts.length ? 'at least ' : ''}${formatCount(more)} more`
}

/** Direction and action, if the event has them. */
const trafficOf = ({ traffic }: AlertedIndicator): string => {
  const said = (nth: number): string =>
    [...new Set(traffic.map((one) => one.split(' ')[nth] ?? ''))].filter((word) => word !== 'unknown').join(' and ')
  return [said(0), said(1)].filter((part) => part !== '').join(', ')
}

const detailsOf = (one: AlertedIndicator): readonly Node[] => {
  const { alert, rules, alerts, hosts } = one
  const { origin, alert_id: id, indicators = [], summary = '' } = alert.threatweave
  const command = commandOf(origin)
  const line = alert.event?.original ?? ''
  const said: readonly (readonly [string, string])[] = [
    ['Do first', adviceFor(alert.threatweave)],
    ['Because', summary],
    ['Rules', rules.length > 1 ? rules.join(', ') : ''],
    ['Alerts', formatCount(alerts)],
    ['Hosts', hosts.length > shownHosts ? `${hosts.join(', ')} ${moreHosts(one, hosts.length)}`.trimEnd() : ''],
    ['Indicators', indicators.join(', ')],
  ]
  return [
    ...(line === '' ? [] : [h('pre', {}, clip(line, 1000))]),
    ...(command === undefined
      ? []
      : [
          h(
            'p',
            { class: 'command' },
            h('code', {}, command),
            h('button', { type: 'button', class: 'copy', 'data-copy': command }, 'Copy'),
          ),
        ]),
    h(
      'dl',
      {},
      ...said.flatMap(([name, text]) => (text === '' ? [] : [h('dt', {}, name), h('dd', {}, clip(text, 600))])),
      h('dt', {}, 'All of it'),
      h('dd', {}, h('a', { href: `alert?id=${encodeURIComponent(id)}` }, 'JSON')),
    ),
  ]
}

/** The text for the filter, in lower case. */
const searchable = ({ alert, rules, hosts, feeds, level, kinds, traffic }: AlertedIndicator): string => {
  const { value = '', indicators = [], users = [], categories = [], origin } = alert.threatweave
  const all = [
    value,
    ...indicators,
    ...rules,
    ...hosts,
    ...users,
    ...feeds,
    ...categories,
    level,
    ...kinds,
    ...traffic,
    origin,
  ]
  return clip(all.join(' ').toLowerCase(), 2000)
}
