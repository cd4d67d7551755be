// Composition of the alerts, from the same configuration and judgement as the line's own verdicts.
import type { Alert } from '../alerts/alert.js'
import { openAlerts, type Alerts } from '../alerts/open-alerts.js'
import { describeRuleProblem } from '../alerts/sigma/rule.js'
import { tableOf, type Refused } from './open-app.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../domain/clock.js'
import { judge } from '../domain/judge.js'
import { conclude } from '../pipeline/annotate/conclude.js'
import { eventTime } from '../pipeline/event-time.js'
import type { Emit } from '../telemetry/event.js'

export type Alerting = {
  readonly emit?: Emit
  readonly clock?: Clock
  /** Called with the alerts of events that left before the answer about them came. */
  readonly late: (alerts: readonly Alert[]) => void
  readonly replayId?: string
}

/** The operations that are asked about an address, as far as they state flags. */
export const askedOperations = ({ intel }: Config): readonly string[] =>
  intel.service.apiKey === '' ? [] : ['ip/malicious-info', ...(intel.ip.escalate ? ['ip/suspicious_info'] : [])]

/** Rules over what left the line; where alerts are not wanted, no event raises any. */
export const openAlerting = async (config: Config, around: Alerting): Promise<Alerts | Refused> => {
  const { clock = systemClock } = around
  const { enabled, rules, bundled, suppressSeconds } = config.alerts
  const table = tableOf(config)
  const opened = await openAlerts(
    { rules: enabled ? rules : [], bundled: enabled && bundled, suppressSeconds },
    {
      ...around,
      clock,
      key: config.output.key,
      operations: askedOperations(config),
      eventTime,
      judge: (finding, sighting) => judge(finding, sighting, table, clock.now()),
      conclude,
    },
  )
  if (!('problems' in opened)) return opened
  return {
    problems: opened.problems.map((problem) => ({ setting: 'alerts.rules', message: describeRuleProblem(problem) })),
  }
}
