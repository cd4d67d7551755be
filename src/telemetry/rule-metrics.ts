// Metrics per alert rule: alerts and matched events.
import type { Define } from './define-metrics.js'

export type RuleMetrics = {
  readonly id: string
  readonly title: string
  readonly alerts: number
  readonly matches: number
}

export const defineRuleMetrics = ({ counter }: Define, rules: () => readonly RuleMetrics[]): void => {
  const each = (read: (rule: RuleMetrics) => number) => () =>
    rules().map((rule) => ({ labels: { id: rule.id, rule: rule.title }, value: read(rule) }))
  counter(
    'rule_alerts',
    'Alerts raised, by rule.',
    each(({ alerts }) => alerts),
  )
  counter(
    'rule_matches',
    'Events that matched a rule; suppressed repeats count once an update reports them.',
    each(({ matches }) => matches),
  )
}
