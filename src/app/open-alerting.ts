// Builds the alerts from the configuration, with the same judgement as the pipeline.
import type { Alert } from '../alerts/alert.js'
import { openAlerts, type Alerts } from '../alerts/open-alerts.js'
import { describeRuleProblem } from '../alerts/sigma/rule.js'
import type { Refused } from '../config/problem.js'
import { openTable } from './open-table.js'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import { systemClock, type Clock } from '../domain/clock.js'
import { judge } from '../domain/judge.js'
import { conclude } from '../pipeline/annotate/conclude.js'
import { eventTime } from '../pipeline/event-time.js'
import type { AlertOut } from '../kafka/alert-record.js'
import type { EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'

export type AlertingOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  /** Called with alerts of events that were delivered before their answer arrived. */
  readonly late: (alerts: readonly Alert[]) => void
  readonly replayId?: string
}

/** The operations used for addresses that state flags. */
export const askedOperations = ({ intel }: Config): readonly string[] =>
  intel.service.apiKey === '' ? [] : ['ip/malicious-info', ...(intel.ip.escalate ? ['ip/suspicious_info'] : [])]

export const openAlerting = async (config: Config, options: AlertingOptions): Promise<Alerts | Refused> => {
  const { clock = systemClock } = options
  const judged = openTable(config)
  if ('problems' in judged) return judged
  const { table } = judged
  const opened = await openAlerts(config.alerts, {
    ...options,
    clock,
    key: config.output.key,
    operations: askedOperations(config),
    eventTime,
    judge: (finding, sighting) => judge(finding, sighting, table, clock.now()),
    conclude,
  })
  if (!('problems' in opened)) return opened
  return {
    problems: opened.problems.map((problem) => ({ setting: 'alerts.rules', message: describeRuleProblem(problem) })),
  }
}

export type RunAlerts = {
  readonly raise: (events: readonly EventOut[]) => readonly AlertOut[]
  readonly close: () => Promise<void>
}

/** The alerts of `run`; none without an alerts topic. */
export const openRunAlerts = async (
  config: Config,
  emit: Emit,
  writeLate: (alerts: readonly AlertOut[]) => Promise<void>,
): Promise<RunAlerts | undefined> => {
  if (config.kafka.alertsTopic === '') return undefined
  const rules = accepted(
    await openAlerting(config, {
      emit,
      late: (alerts) => {
        writeLate(alerts.map(toRecord)).catch((error: unknown) =>
          emit({
            event: 'kafka_client_warned',
            about: 'late alerts',
            message: error instanceof Error ? error.message : 'not written',
          }),
        )
      },
    }),
  )
  return { raise: (events) => rules.raise(events).map(toRecord), close: rules.close }
}

const toRecord = (alert: Alert): AlertOut => ({
  key: alert.threat_match_value ?? alert.rule.id,
  value: Buffer.from(JSON.stringify(alert)),
})
