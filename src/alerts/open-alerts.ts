// Raises alerts: rules over annotated events, held back where they repeat, and raised late where the answer came late.
import type { Annotation } from '../domain/annotation.js'
import { systemClock, type Clock } from '../domain/clock.js'
import { ownDecision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import { ownText } from '../domain/own-text.js'
import type { Action, Direction, Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { tellNobody, type Tell } from '../telemetry/event.js'
import { createAlert, type Alert } from './alert.js'
import { objectOf, type AnnotatedEvent, type JudgedRow } from './annotated-event.js'
import { flagsStatedBy } from './annotation-fields.js'
import { createLate, type Waiter } from './late.js'
import type { RuleProblem } from './sigma/rule.js'
import type { RuleSet } from './sigma/rule-set.js'
import { createSuppress, type Ruling } from './suppress.js'
import { watchRules } from './watch-rules.js'

export type AlertsSettings = {
  readonly rules: readonly string[]
  readonly bundled: boolean
  readonly suppressSeconds: number
}

export type AlertsOptions = {
  readonly tell?: Tell
  readonly clock?: Clock
  /** Where the output places annotations. */
  readonly key: string
  /** Operations that are asked, such as `ip/malicious-info`; a rule on a flag that none of them states is warned about. */
  readonly operations?: readonly string[]
  /** When an event happened, by its own text. */
  readonly eventTime: (text: string, now: number) => number | undefined
  readonly judge: (finding: Finding, sighting: Sighting) => Verdict
  /** What an event's verdicts amount to, once a late one is among them. */
  readonly conclude: (findings: {
    readonly extraction: { readonly action: Action; readonly truncated: boolean }
    readonly rows: readonly JudgedRow[]
    readonly direction: Direction
    readonly origin: string
  }) => Annotation
  /** Called with the alerts of events that left before the answer came. */
  readonly late: (alerts: readonly Alert[]) => void
  readonly replayId?: string
  /** How often the rule files are looked at; 0: never. */
  readonly pollMs?: number
}

export type Alerts = {
  /**
   * The alerts of a chunk, in order. A chunk that comes again raises the same alerts with the same ids.
   * Events that still wait for an answer are remembered.
   */
  readonly raise: (events: readonly AnnotatedEvent[]) => readonly Alert[]
  /** Reads the rules again, changed or not; a broken file keeps the old set. */
  readonly reload: () => Promise<void>
  readonly status: () => AlertsStatus
  /** Resolves when nobody waits for a late answer. */
  readonly idle: () => Promise<void>
  readonly close: () => Promise<void>
}

export type AlertsStatus = {
  readonly rules: number
  /** Of the newest files, where they were refused. */
  readonly problems: readonly RuleProblem[]
  readonly raised: number
  readonly heldBack: number
  readonly waiting: number
}

/** Only what is needed to judge the event again. */
type Kept = Waiter & {
  readonly annotation: Pick<Annotation, 'action' | 'direction' | 'truncated' | 'read_as'>
  readonly event: Readonly<Record<string, unknown>>
  readonly set: RuleSet
  readonly key: Buffer | null | undefined
  readonly time: number
}

type Occurrence = Pick<Kept, 'origin' | 'time'> & { readonly annotation: Readonly<Annotation> }

const none: readonly Alert[] = []

const ownRow = ({ sighting, decision, ...row }: JudgedRow): JudgedRow => ({
  ...row,
  decision: ownDecision(decision),
  sighting: { ...sighting, value: ownText(sighting.value), field: ownText(sighting.field) },
})

/** Refuses rules that cannot be used, naming every problem. */
export const openAlerts = async (
  settings: AlertsSettings,
  options: AlertsOptions,
): Promise<Alerts | { readonly problems: readonly RuleProblem[] }> => {
  const { tell = tellNobody, clock = systemClock, key, operations, eventTime, judge, conclude, replayId } = options
  const rules = await watchRules(
    {
      paths: settings.rules,
      bundled: settings.bundled,
      key,
      stated: operations && flagsStatedBy(operations),
    },
    { tell, clock, ...(options.pollMs !== undefined && { pollMs: options.pollMs }) },
  )
  if ('problems' in rules) return rules
  const suppress = createSuppress(settings.suppressSeconds * 1000)
  let raised = 0
  let heldBack = 0

  const timeOf = ({ event, time }: AnnotatedEvent): number => {
    const now = clock.now()
    return eventTime(event.text, now) ?? time ?? now
  }

  const rule = (ruleId: string, { annotation, time, origin }: Occurrence): Ruling & { peer: string | undefined } => {
    const peer = peerOf(annotation)
    const ruling = suppress.decide({ ruleId, value: annotation.value ?? '', peer: peer ?? '', time, origin })
    if (ruling.count === 0) heldBack++
    else raised++
    return { ...ruling, peer }
  }

  const arrived = (finding: Finding, promise: Promise<Finding>, waiters: readonly Kept[], more: number): void => {
    if (finding.status === 'unknown') return
    type Draft = Parameters<typeof createAlert>[0] & { origins: string[]; count: number }
    const drafts = new Map<string, Draft>()
    for (const waiter of waiters) {
      const { origin, key: recordKey, time, set, event, fired } = waiter
      const isAwaited = waiter.rows.map((row) => row.late === promise)
      waiter.rows = waiter.rows.map((row, place) =>
        isAwaited[place] === true
          ? { sighting: row.sighting, decision: row.decision, verdict: judge(finding, row.sighting) }
          : row,
      )
      if (!waiter.rows.some((row, place) => isAwaited[place] === true && isBad(row.verdict))) continue
      const annotation = reconsidered(waiter)
      for (const match of set.match(annotation, () => event)) {
        if (fired.has(match.rule.id)) continue
        fired.add(match.rule.id)
        const { count, key: group, id, peer } = rule(match.rule.id, { annotation, time, origin })
        const draft = drafts.get(group)
        if (draft) {
          draft.origins.push(origin)
          draft.count++
        } else if (count > 0)
          drafts.set(group, {
            id: id(),
            rule: match.rule,
            why: match.why(),
            annotation,
            origin,
            key: recordKey,
            time,
            peer,
            count,
            origins: [origin],
            originsOmitted: more,
            replayId,
          })
      }
    }
    if (drafts.size === 0) return
    const alerts = [...drafts.values()].map(createAlert)
    tell({ event: 'alerts_raised', alerts: alerts.length, late: true, levels: alerts.map(levelOf) })
    options.late(alerts)
  }
  const late = createLate(arrived)

  const reconsidered = ({ annotation, rows, origin }: Kept): Annotation => {
    const { action, direction, truncated = false, read_as } = annotation
    const fresh = conclude({ extraction: { action, truncated }, rows, direction, origin })
    return read_as === undefined ? fresh : { ...fresh, read_as }
  }

  const remember = (one: AnnotatedEvent, fired: Set<string>, set: RuleSet): boolean => {
    const promises = new Set(one.judged.flatMap(({ late: promise }) => promise ?? []))
    return late.wait(promises, () => {
      const { origin, judged } = one
      const { action, direction, truncated, read_as } = one.annotation
      const annotation = { action, direction, ...(truncated && { truncated }), ...(read_as && { read_as }) }
      const event = set.digest(objectOf(one))
      const bytes = 512 + 256 * judged.length + origin.length + (one.key?.length ?? 0) + JSON.stringify(event).length
      // Neither the text of the event nor the batch that its key came in may stay because of what is kept of them.
      const key = one.key && Buffer.from(one.key)
      return { rows: judged.map(ownRow), origin, fired, bytes, annotation, event, set, key, time: timeOf(one) }
    })
  }

  return {
    raise: (events) => {
      const set = rules.set()
      if (set.size === 0) return none
      let alerts: Alert[] | undefined
      let forgotten = 0
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
        if (waits && !remember(one, new Set(matches.map((match) => match.rule.id)), set)) forgotten++
      }
      if (forgotten > 0) tell({ event: 'late_events_forgotten', events: forgotten })
      if (!alerts) return none
      tell({ event: 'alerts_raised', alerts: alerts.length, late: false, levels: alerts.map(levelOf) })
      return alerts
    },
    reload: rules.reload,
    status: () => ({ rules: rules.set().size, problems: rules.refused(), raised, heldBack, waiting: late.size() }),
    idle: late.idle,
    close: () => {
      late.close()
      return rules.close()
    },
  }
}

const levelOf = ({ threatweave }: Alert): string => threatweave.level

const isBad = ({ level }: Verdict): boolean => level === 'malicious' || level === 'suspicious'

/** The inside address that has to do with it, by which alerts about many victims are told apart. */
const peerOf = ({ indicators, value }: Readonly<Annotation>): string | undefined =>
  indicators.find(
    (one) =>
      one.type === 'ip' &&
      one.value !== value &&
      (one.role === 'source' || one.role === 'destination') &&
      (one.reason === 'private_address' || one.reason === 'own_range'),
  )?.value
