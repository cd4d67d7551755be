// Builds the alerts from the configuration.
import type { Alert } from '../alerts/alert.js'
import type { AlertUpdate } from '../alerts/create-update.js'
import { openAlerts, type Alerts, type Fired } from '../alerts/open-alerts.js'
import type { RetroAlert } from '../alerts/retro-alert.js'
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
import { createFiredRules } from '../ops/fired-rules.js'
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
  /** How often each rule has fired. */
  readonly rules: ReturnType<typeof createFiredRules>['all']
  /** Counts an alert that was raised elsewhere, and shows it. */
  readonly note: (alert: Alert | AlertUpdate | RetroAlert) => void
  readonly raise: (events: readonly EventOut[], fired?: Fired) => readonly AlertOut[]
  readonly raiseLate: RaiseLate<EventOut, AlertOut>
  readonly suppressed: Suppressed
}

/** The alerts of `run`; none without an alerts topic. */
export const openRunAlerts = async (
  config: Config,
  {
    env,
    clock,
    emit,
    alerted,
  }: {
    readonly env: ClientOptions['env']
    readonly clock: Clock
    readonly emit: Emit
    /** Shows an alert to people. */
    readonly alerted: RunAlerts['note']
  },
): Promise<RunAlerts | undefined> => {
  if (config.kafka.alertsTopic === '') return undefined
  const { names, mayRaise, raise, raiseLate, retroMatch, suppressed, status, close } = accepted(
    await openAlerting(config, { emit, clock, hasUpdates: true }),
  )
  const fired = createFiredRules(clock.now, () => status().loaded)
  const note: RunAlerts['note'] = (alert) => {
    fired.note(alert)
    alerted(alert)
  }
  const noted = (alert: Alert | AlertUpdate): AlertOut => {
    note(alert)
    return toRecord(alert)
  }
  const context = openContext(config, { env, clock, emit })
  const told = (alert: Alert): AlertOut => noted(context ? context.tell(alert) : alert)
  return {
    rules: fired.all,
    note,
    names,
    mayRaise,
    retroMatch,
    raise: (events, before) => raise(events, before).map(told),
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
