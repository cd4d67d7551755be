// Renders an alert as a few lines of text for a person at a terminal.
import { printable } from '../domain/control-characters.js'
import { adviceFor } from './advice.js'
import type { Alert, AlertBody } from './alert.js'

/** An alert of any kind, including one that was read from its topic. */
type Shown = Pick<Alert, '@timestamp' | 'rule' | 'event'> & {
  readonly threatweave: Pick<AlertBody, 'level' | 'summary' | 'origin' | 'count'> & Partial<AlertBody>
}

type Look = { readonly columns?: number | undefined; readonly isColoured?: boolean }

const cyan = 36
const colours = new Map<string, number>([
  ['medium', 33],
  ['high', 31],
  ['critical', 35],
])

/** `columns`: the width of the terminal. The log line and lists are clipped to it, sentences are wrapped. */
export const renderAlert = (alert: Shown, { columns, isColoured = false }: Look = {}): string => {
  const { rule, event, threatweave: body } = alert
  const paint = (code: number, text: string): string => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text)
  const room = Math.max(40, columns || 120) - 12
  const clip = (text: string): string => (text.length <= room ? text : `${text.slice(0, room - 1)}…`)
  const lines: [string, string][] = [
    ['because', body.summary],
    ['traffic', trafficOf(body)],
    ['country', [body.country, body.as?.name].filter((part) => part !== undefined).join(', ')],
    ['also', clip(listed(body.indicators, body.indicators_omitted))],
    ['hosts', clip(listed(body.peers, body.peers_omitted))],
    ['do', adviceFor(body)],
    ['matches', body.count > 1 ? String(body.count) : ''],
    ['event', body.origin],
    ['', clip(event.original ?? '')],
  ]
  const time = printable(alert['@timestamp'].slice(0, 19).replace('T', ' '))
  const level = paint(colours.get(body.level) ?? cyan, printable(body.level.toUpperCase()))
  const late = body.late === true ? ' (late)' : ''
  return [
    `${time} UTC  ${level}  ${paint(1, printable(rule.name))}${late}\n`,
    ...lines
      .filter(([, text]) => text !== '')
      .map(([name, text]) => `  ${name.padEnd(9)} ${wrap(printable(text), room).join(`\n${' '.repeat(12)}`)}\n`),
    '\n',
  ].join('')
}

/** Wraps between words; a word longer than a line stays whole. */
const wrap = (text: string, room: number): readonly string[] => {
  const lines: string[] = []
  let left = text
  while (left.length > room) {
    const fitting = left.lastIndexOf(' ', room)
    const space = fitting > 0 ? fitting : left.indexOf(' ', room)
    if (space < 0) break
    lines.push(left.slice(0, space))
    left = left.slice(space + 1)
  }
  return [...lines, left]
}

const listed = (values: readonly string[] = [], omitted = 0): string =>
  `${values.join(', ')}${omitted > 0 ? ` and ${omitted} more` : ''}`

/** The endpoints, in the direction of the traffic. */
const trafficOf = ({ value = '', peer, role, direction, action, activity, ...body }: Shown['threatweave']): string => {
  // A retro alert has no `peer`, only the peers that have seen the indicator.
  const other = peer ?? body.peers?.[0] ?? ''
  const ends = direction === 'inbound' || role === 'source' ? [value, other] : [other, value]
  const words = [direction, action, activity, body.password_accepted === true ? 'password accepted' : undefined]
  const shown = words.filter((word) => word !== undefined && word !== 'unknown' && word !== 'other')
  return `${ends.filter((end) => end !== '').join(' → ')}${shown.length > 0 ? ` (${shown.join(', ')})` : ''}`
}
