// The alerts of `run`: rules over what leaves the line, ready to be written beside the events.
import { openAlerting } from './open-alerting.js'
import type { Alert } from '../alerts/alert.js'
import type { Config } from '../config/schema.js'
import type { AlertOut } from '../kafka/alert-record.js'
import type { EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { accepted } from '../config/load-config.js'

export type RunAlerts = {
  readonly raise: (events: readonly EventOut[]) => readonly AlertOut[]
  readonly close: () => Promise<void>
}

/** Without a topic for them no rule is evaluated. */
export const openRunAlerts = async (
  config: Config,
  emit: Emit,
  writeLate: (alerts: readonly AlertOut[]) => Promise<void>,
): Promise<RunAlerts | undefined> => {
  if (config.kafka.alertsTopic === '' || !config.alerts.enabled) return undefined
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
