// Raises late alerts: judges delivered events again when their answer arrives.
import type { Judged } from '../domain/judged.js'
import type { Annotation } from '../domain/annotation.js'
import { ownDecision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import { ownText } from '../domain/own-text.js'
import type { Action, Direction, Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { createAlert, type Alert } from './alert.js'
import { objectOf, type AnnotatedEvent } from './annotated-event.js'
import { createLate, type Waiter } from './late.js'
import type { RuleSet } from './sigma/rule-set.js'
import type { Suppression } from './suppress.js'

/** An event that matched a rule. */
export type Occurrence = {
  readonly origin: string
  readonly time: number
  readonly annotation: Readonly<Annotation>
}

/** Builds the annotation again with the late verdict. */
export type Conclude = (findings: {
  readonly extraction: { readonly action: Action; readonly truncated: boolean }
  readonly rows: readonly Judged[]
  readonly direction: Direction
  readonly origin: string
}) => Annotation

export type RaiseLate = {
  /** Returns false if a limit is reached. `fired` are the rules that already matched. */
  readonly track: (one: AnnotatedEvent, fired: Set<string>, set: RuleSet, timeOf: () => number) => boolean
  readonly waiting: () => number
  /** Resolves when no event waits for a late answer. */
  readonly idle: () => Promise<void>
  readonly close: () => void
}

/** What is needed to judge the event again. */
type Tracked = Waiter & {
  readonly annotation: Pick<Annotation, 'action' | 'direction' | 'truncated' | 'read_as' | 'format'>
  readonly event: Readonly<Record<string, unknown>>
  readonly set: RuleSet
  readonly key: Buffer | null | undefined
  readonly time: number
}

const ownSighting = ({ sighting, decision, ...row }: Judged): Judged => ({
  ...row,
  decision: ownDecision(decision),
  sighting: { ...sighting, value: ownText(sighting.value), field: ownText(sighting.field) },
})

export const createRaiseLate = (options: {
  readonly judge: (finding: Finding, sighting: Sighting) => Verdict
  readonly conclude: Conclude
  /** Decides whether the alert is raised or suppressed. */
  readonly rule: (ruleId: string, occurrence: Occurrence) => Suppression & { readonly peer: string | undefined }
  readonly replayId: string | undefined
  readonly raised: (alerts: readonly Alert[]) => void
}): RaiseLate => {
  const { judge, conclude, rule, replayId, raised } = options

  const arrived = (finding: Finding, promise: Promise<Finding>, waiters: readonly Tracked[], more: number): void => {
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
      const annotation = reannotate(waiter)
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
    if (drafts.size > 0) raised([...drafts.values()].map(createAlert))
  }
  const late = createLate(arrived)

  const reannotate = ({ annotation, rows, origin }: Tracked): Annotation => {
    const { action, direction, truncated = false, read_as, format } = annotation
    const fresh = conclude({ extraction: { action, truncated }, rows, direction, origin })
    return { ...fresh, ...(read_as && { read_as }), ...(format !== undefined && { format }) }
  }

  const track: RaiseLate['track'] = (one, fired, set, timeOf) => {
    const promises = new Set(one.judged.flatMap(({ late: promise }) => promise ?? []))
    return late.wait(promises, () => {
      const { origin, judged } = one
      const { action, direction, truncated, read_as, format } = one.annotation
      const annotation = {
        action,
        direction,
        ...(truncated && { truncated }),
        ...(read_as && { read_as }),
        ...(format !== undefined && { format }),
      }
      const event = set.digest(objectOf(one))
      const bytes = 512 + 256 * judged.length + origin.length + (one.key?.length ?? 0) + JSON.stringify(event).length
      // Copies, so that neither the event's text nor its record batch stays in memory.
      const key = one.key && Buffer.from(one.key)
      return { rows: judged.map(ownSighting), origin, fired, bytes, annotation, event, set, key, time: timeOf() }
    })
  }

  return { track, waiting: late.size, idle: late.idle, close: late.close }
}

const isBad = ({ level }: Verdict): boolean => level === 'malicious' || level === 'suspicious'
