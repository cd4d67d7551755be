// Builds the alerts from the configuration.
import type { Alert } from '../alerts/alert.js'
import type { AlertUpdate } from '../alerts/create-update.js'
import { openAlerts, type Alerts, type Fired } from '../alerts/open-alerts.js'
import { describeRuleProblem } from '../alerts/sigma/rule.js'
import type { Refused } from '../config/problem.js'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import type { Clock } from '../base/clock.js'
import { eventTime } from '../pipeline/event-time.js'
import { createNamedValues } from '../pipeline/extract/named-values.js'
import { openContext } from './open-context.js'
import { openFormats } from './open-formats.js'
import type { AlertOut } from '../delivery/compose.js'
import { createAlertLog, type AlertLog } from '../ops/alert-log.js'
import type { EventOut } from '../pipeline/pipeline.js'
import type { Suppressed } from '../follow-up/alert-updates.js'
import { type RaiseLate, raiseByMember } from '../follow-up/revisit.js'
import type { Emit } from '../telemetry/event.js'
import type { ClientOptions } from './provider-client.js'

type AlertingOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  readonly replayId?: string
  readonly hasUpdates?: boolean
}

/** The operations used for addresses that state flags. */
export const askedOperations = ({ intel }: Config): readonly string[] =>
  intel.service.apiKey === ''
    ? []
    : Object.entries(intel.ip.operations).flatMap(([name, choice]) => (choice === 'never' ? [] : [`ip/${name}`]))

export const openAlerting = async (config: Config, options: AlertingOptions): Promise<Alerts | Refused> => {
  const opened = await openAlerts(config.alerts, {
    ...options,
    key: config.output.key,
    operations: askedOperations(config),
    eventTime,
    named: createNamedValues(openFormats(config.extract.formats).formats),
  })
  if (!('problems' in opened)) return opened
  return {
    problems: opened.problems.map((problem) => ({ setting: 'alerts.rules', message: describeRuleProblem(problem) })),
  }
}

type RunAlerts = Pick<Alerts, 'names' | 'mayRaise' | 'retroMatch' | 'close'> & {
  /** What the status page shows of them. */
  readonly log: AlertLog
  readonly raise: (events: readonly EventOut[], fired?: Fired) => readonly AlertOut[]
  readonly raiseLate: RaiseLate<EventOut, AlertOut>
  readonly suppressed: Suppressed
}

/** The alerts of `run`; none without an alerts topic. */
export const openRunAlerts = async (
  config: Config,
  { env, clock, emit }: { readonly env: ClientOptions['env']; readonly clock: Clock; readonly emit: Emit },
): Promise<RunAlerts | undefined> => {
  if (config.kafka.alertsTopic === '') return undefined
  const { names, mayRaise, raise, raiseLate, retroMatch, suppressed, status, close } = accepted(
    await openAlerting(config, { emit, clock, hasUpdates: true }),
  )
  const log = createAlertLog(clock.now, () => status().loaded)
  const noted = (alert: Alert | AlertUpdate): AlertOut => {
    log.note(alert)
    return toRecord(alert)
  }
  const context = openContext(config, { env, clock, emit })
  const told = (alert: Alert): AlertOut => noted(context ? context.tell(alert) : alert)
  return {
    log,
    names,
    mayRaise,
    retroMatch,
    raise: (events, fired) => raise(events, fired).map(told),
    raiseLate: raiseByMember((events) => {
      const raised = raiseLate(events)
      const committed = (): void => {
        raised.committed()
        for (const { event } of events) context?.commit(event.origin)
      }
      return { ...raised, alerts: raised.alerts.map(told), committed }
    }),
    suppressed: {
      commit: (origin, firings) => {
        suppressed.commit(origin, firings)
        context?.commit(origin)
      },
      giveUp: (origin, firings) => {
        suppressed.giveUp(origin, firings)
        context?.giveUp(origin)
      },
      takeDue: (all) => [...suppressed.takeDue(all).map(noted), ...(context?.takeDue() ?? []).map(toRecord)],
    },
    close: async () => {
      await Promise.all([context?.close(), close()])
    },
  }
}

const toRecord = (alert: Pick<Alert | AlertUpdate, 'threat_match_value' | 'rule'>): AlertOut => ({
  key: alert.threat_match_value ?? alert.rule.id,
  value: Buffer.from(JSON.stringify(alert)),
})
