// Opens the alerting from the configuration.
import type { Alert } from '../alerts/alert.js'
import type { AlertUpdate } from '../alerts/create-update.js'
import { openAlerts, type Alerts, type AlertsDraft } from '../alerts/open-alerts.js'
import type { RetroAlert } from '../alerts/retro-alert.js'
import { describeRuleProblem } from '../alerts/sigma/rule.js'
import type { Refused } from '../config/problem.js'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import type { Clock } from '../base/clock.js'
import { createNamedValues } from '../pipeline/extract/named-values.js'
import { openContext } from './open-context.js'
import type { ReadingFiles } from './load-files.js'
import { openFormats } from './open-formats.js'
import type { AlertOut } from '../delivery/compose.js'
import { createFiredRules } from '../ops/fired-rules.js'
import { eventsIn } from '../pipeline/pipeline.js'
import type { TaskAlerts, TaskAlertsDraft } from '../follow-up/task-alerts.js'
import { raiseByMember } from '../follow-up/revisit.js'
import type { Emit } from '../telemetry/event.js'
import type { ClientOptions } from './provider-client.js'

type AlertingOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  readonly replayId?: string
  /** Loaded if absent. */
  readonly files?: ReadingFiles
}

/** The address operations in use; they determine the flags that answers can state. */
export const askedOperations = ({ intel }: Config): readonly string[] =>
  intel.service.apiKey === ''
    ? []
    : Object.entries(intel.ip.operations).flatMap(([name, choice]) => (choice === 'never' ? [] : [`ip/${name}`]))

export const openAlerting = async (
  config: Config,
  { files, ...options }: AlertingOptions,
): Promise<Alerts | Refused> => {
  const formats = files?.formats ?? openFormats(config.extract.formats).formats
  const opened = await openAlerts(config.alerts, {
    ...options,
    key: config.output.key,
    operations: askedOperations(config),
    named: createNamedValues(formats),
  })
  if (!('problems' in opened)) return opened
  return {
    problems: opened.problems.map((problem) => ({ setting: 'alerts.rules', message: describeRuleProblem(problem) })),
  }
}

type RunAlerts = Pick<Alerts, 'names' | 'mayRaise' | 'retroMatch' | 'close'> & {
  /** How often each rule has fired. */
  readonly rules: ReturnType<typeof createFiredRules>['all']
  /** Counts and shows an alert that was raised elsewhere. */
  readonly note: (alert: Alert | AlertUpdate | RetroAlert) => void
  /** Call once per partition. */
  readonly open: () => TaskAlerts
  /** Context that has arrived for alerts that were already written. */
  readonly takeContext: () => readonly AlertOut[]
}

/** The alerting of `run`; undefined without an alerts topic. */
export const openRunAlerts = async (
  config: Config,
  {
    env,
    clock,
    emit,
    files,
    alerted,
  }: {
    /** Loaded if absent. */
    readonly files?: ReadingFiles
    readonly env: ClientOptions['env']
    readonly clock: Clock
    readonly emit: Emit
    /** Shows an alert to people. */
    readonly alerted: RunAlerts['note']
  },
): Promise<RunAlerts | undefined> => {
  if (config.kafka.alertsTopic === '') return undefined
  const { names, mayRaise, open, retroMatch, status, close } = accepted(
    await openAlerting(config, { emit, clock, ...(files && { files }) }),
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
  const draftOf = (draft: AlertsDraft): TaskAlertsDraft => {
    const origins: string[] = []
    const told = (alert: Alert): AlertOut => {
      if (!context) return noted(alert)
      const { origin, origins: all = [origin] } = alert.threatweave
      origins.push(...all)
      return noted(context.tell(alert))
    }
    return {
      ...draft,
      raise: (events, before) => draft.raise(eventsIn(events), before).map(told),
      raiseLate: raiseByMember((events) => {
        const { alerts, fired: firings } = draft.raiseLate(events)
        return { alerts: alerts.map(told), fired: firings }
      }),
      updates: (max, all) => draft.updates(max, all).map(noted),
      commit: () => {
        draft.commit()
        for (const origin of origins) context?.commit(origin)
      },
      giveUp: () => {
        draft.giveUp()
        for (const origin of origins) context?.giveUp(origin)
      },
    }
  }
  return {
    rules: fired.all,
    note,
    names,
    mayRaise,
    retroMatch,
    open: () => {
      const windows = open()
      return { ...windows, begin: (isLate) => draftOf(windows.begin(isLate)) }
    },
    takeContext: () => (context?.takeDue() ?? []).map(toRecord),
    close: async () => {
      await Promise.all([context?.close(), close()])
    },
  }
}

const toRecord = (alert: Alert | AlertUpdate): AlertOut => ({
  key: alert.threat_match_value ?? alert.rule.id,
  value: Buffer.from(JSON.stringify(alert)),
})
