// Raises alerts for annotated events, suppresses repeats, and raises late alerts for late answers.
import type { FileProblem } from '../domain/file-problem.js'
import type { Annotation } from '../domain/annotation.js'
import { systemClock, type Clock } from '../domain/clock.js'
import type { Finding } from '../domain/finding.js'
import type { Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import { createAlert, type Alert } from './alert.js'
import { objectOf, type AnnotatedEvent } from './annotated-event.js'
import { flagsStatedBy } from './annotation-fields.js'
import { createRaiseLate, type Conclude, type Occurrence } from './raise-late.js'
import { createSuppress, type Suppression } from './suppress.js'
import { watchRules } from './watch-rules.js'

export type AlertsSettings = {
  readonly rules: readonly string[]
  readonly bundled: boolean
  readonly suppressSeconds: number
}

export type AlertsOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  /** The annotation key of the output. */
  readonly key: string
  /** Operations in use, such as `ip/malicious-info`; rules on flags that none of them states cause a warning. */
  readonly operations?: readonly string[]
  /** The time in the event's text. */
  readonly eventTime: (text: string, now: number) => number | undefined
  readonly judge: (finding: Finding, sighting: Sighting) => Verdict
  readonly conclude: Conclude
  /** Called with alerts of events that were delivered before the answer arrived. */
  readonly late: (alerts: readonly Alert[]) => void
  readonly replayId?: string
  /** How often to check the rule files for changes; 0: never. */
  readonly pollMs?: number
}

export type Alerts = {
  /**
   * The alerts of a chunk, in order. A repeated chunk raises the same alerts with the same ids.
   * Events that still wait for an answer are tracked.
   */
  readonly raise: (events: readonly AnnotatedEvent[]) => readonly Alert[]
  /** Reloads the rules; if a file is broken, the old rules stay. */
  readonly reload: () => Promise<void>
  readonly status: () => AlertsStatus
  /** Resolves when no event waits for a late answer. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

export type AlertsStatus = {
  readonly rules: number
  /** Problems of the newest files, if they were refused. */
  readonly problems: readonly FileProblem[]
  readonly raised: number
  readonly suppressed: number
  readonly waiting: number
}

const none: readonly Alert[] = []

/** Returns every problem if rules cannot be used. */
export const openAlerts = async (
  settings: AlertsSettings,
  options: AlertsOptions,
): Promise<Alerts | { readonly problems: readonly FileProblem[] }> => {
  const { emit = ignoreTelemetry, clock = systemClock, key, operations, eventTime, judge, conclude, replayId } = options
  const rules = await watchRules(
    {
      paths: settings.rules,
      bundled: settings.bundled,
      key,
      stated: operations && flagsStatedBy(operations),
    },
    { emit, clock, ...(options.pollMs !== undefined && { pollMs: options.pollMs }) },
  )
  if ('problems' in rules) return rules
  const suppress = createSuppress(settings.suppressSeconds * 1000)
  let raised = 0
  let suppressed = 0

  const timeOf = ({ event, time }: AnnotatedEvent): number => {
    const now = clock.now()
    return eventTime(event.text, now) ?? time ?? now
  }

  const rule = (
    ruleId: string,
    { annotation, time, origin }: Occurrence,
  ): Suppression & { peer: string | undefined } => {
    const peer = peerOf(annotation)
    const suppression = suppress.decide({ ruleId, value: annotation.value ?? '', peer: peer ?? '', time, origin })
    if (suppression.count === 0) suppressed++
    else raised++
    return { ...suppression, peer }
  }

  const late = createRaiseLate({
    judge,
    conclude,
    rule,
    replayId,
    raised: (alerts) => {
      emit({ event: 'alerts_raised', alerts: alerts.length, late: true, levels: alerts.map(levelOf) })
      options.late(alerts)
    },
  })

  return {
    raise: (events) => {
      const set = rules.set()
      if (set.size === 0) return none
      let alerts: Alert[] | undefined
      let untracked = 0
      for (const one of events) {
        const { annotation, origin } = one
        const matches = set.match(annotation, () => objectOf(one))
        const waits = one.judged.some((row) => row.late !== undefined)
        if (matches.length > 0) {
          const time = timeOf(one)
          for (const match of matches) {
            const { count, id, peer } = rule(match.rule.id, { annotation, time, origin })
            if (count === 0) continue
            const why = match.why()
            const about = {
              id: id(),
              rule: match.rule,
              why,
              annotation,
              origin,
              key: one.key,
              time,
              peer,
              count,
              replayId,
            }
            ;(alerts ??= []).push(createAlert(about))
          }
        }
        if (waits && !late.track(one, new Set(matches.map((match) => match.rule.id)), set, () => timeOf(one)))
          untracked++
      }
      if (untracked > 0) emit({ event: 'late_events_dropped', events: untracked })
      if (!alerts) return none
      emit({ event: 'alerts_raised', alerts: alerts.length, late: false, levels: alerts.map(levelOf) })
      return alerts
    },
    reload: rules.reload,
    status: () => ({ rules: rules.set().size, problems: rules.refused(), raised, suppressed, waiting: late.waiting() }),
    idle: late.idle,
    close: () => {
      late.close()
      return rules.close()
    },
  }
}

const levelOf = ({ threatweave }: Alert): string => threatweave.level

/** The internal address involved, so that alerts about several victims stay separate. */
const peerOf = ({ indicators, value }: Readonly<Annotation>): string | undefined =>
  indicators.find(
    (one) =>
      one.type === 'ip' &&
      one.value !== value &&
      (one.role === 'source' || one.role === 'destination') &&
      (one.reason === 'private_address' || one.reason === 'own_range'),
  )?.value
