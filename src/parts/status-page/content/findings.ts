// Malicious indicators in delivered events that raised no alert, with the reasons.
import { noAlertWords, rankReasons } from '../../../domain/no-alert-reason.js'
import type { Counts } from '../../../telemetry/counters.js'
import { h, type Node } from '../markup/node.js'
import { formatCount, formatTime } from '../markup/numbers.js'
import { table, type Rows } from '../markup/table.js'
import type { RecentActivity } from '../state/recent-activity.js'
import { historyHref } from './alerts.js'

type Finding = ReturnType<RecentActivity['findings']>[number]

/** `isAlerted`: true for indicators with a row among the alerts. */
export const findingNodes = (
  findings: readonly Finding[],
  isAlerted: (value: string) => boolean,
  withoutAlert: Counts['withoutAlert'],
): readonly Node[] => {
  const others = findings.filter(({ value }) => !isAlerted(value))
  const reasons = reasonsOf(withoutAlert)
  const events = reasons.reduce((sum, [, count]) => sum + count, 0)
  if (others.length === 0 && events === 0) return []
  const said = [
    ...(others.length > 0
      ? [`${formatCount(others.length)} more malicious ${others.length === 1 ? 'indicator' : 'indicators'}`]
      : []),
    ...(events > 0 ? [`${formatCount(events)} malicious or suspicious events without an alert of their own`] : []),
  ]
  return [
    h(
      'details',
      { id: 'no-alert', class: 'fold' },
      h('summary', {}, `Not alerted: ${said.join(', ')}`),
      table(
        'findings',
        'Malicious indicators without an alert',
        findingColumns,
        findingRows(others),
        'None in the latest events.',
      ),
      table(
        'without',
        'Why malicious or suspicious events raised no alert',
        ['Reason', 'No rule fires because', 'Events'],
        reasons.map(([reason, count]) => [reason.replaceAll('_', ' '), noAlertWords[reason], formatCount(count)]),
        'Nothing yet.',
      ),
    ),
  ]
}

const reasonsOf = (withoutAlert: Counts['withoutAlert']) =>
  rankReasons(Object.fromEntries(withoutAlert.map(({ labels, value }) => [labels.reason, value]))).filter(
    ([, events]) => events > 0,
  )

const findingColumns = [
  'Seen (UTC)',
  'Indicator',
  'Inside host',
  'Direction',
  'Action',
  'Score',
  'Why',
  'Events',
  'Event',
]

const findingRows = (findings: readonly Finding[]): Rows =>
  findings.map((finding) => {
    const [inside = '', ...others] = finding.insideHosts
    return [
      formatTime(finding.at).slice(0, 8),
      finding.value === '' ? '' : h('a', { href: historyHref(finding.value) }, finding.value),
      others.length > 0 ? `${inside} and ${others.length} more` : inside,
      finding.direction,
      finding.action,
      finding.score,
      finding.summary,
      formatCount(finding.events),
      finding.origin,
    ]
  })
