// Raises alerts for annotated events and suppresses repeats; also for events that are looked at again because an answer came late.
import type { FileProblem } from '../domain/problem.js'
import { ownText } from '../base/bounded-cache.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { AnyObject } from '../base/json-object.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import type { Alert } from './alert.js'
import { ruleEventOf, type AnnotatedEvent } from './annotated-event.js'
import { flagsStatedBy } from './annotation-fields.js'
import { createAlert, type AlertInput } from './create-alert.js'
import { createUpdate, type AlertUpdate } from './create-update.js'
import { createReadEvent, type ReadEvent, type RuleEvent } from './event-field.js'
import { createHeldMatches, type HeldMatches } from './held-matches.js'
import { peerOf } from './peer.js'
import { retroMatchOf, type RetroMatch, type RetroSeen } from './retro-rule.js'
import type { Rule } from './sigma/rule.js'
import type { RuleSet } from './sigma/rule-set.js'
import { createSuppress } from './suppress.js'
import { watchRules } from './watch-rules.js'

type AlertsSettings = {
  readonly rules: readonly string[]
  readonly bundled: boolean
  readonly suppressSeconds: number
}

type AlertsOptions = {
  readonly emit?: Emit
  readonly clock?: Clock
  /** The annotation key of the output. */
  readonly key: string
  /** Operations in use, such as `ip/malicious-info`; rules on flags that none of them states cause a warning. */
  readonly operations?: readonly string[]
  /** The time in the event's text. */
  readonly eventTime: (text: string, now: number) => number | undefined
  /** The values that have a name in the event's text. */
  readonly named: (bytes: Buffer) => AnyObject
  readonly replayId?: string
  /** Whether what is suppressed is taken by `suppressed`; otherwise the next alert counts it. */
  readonly hasUpdates?: boolean
  /** How often to check the rule files for changes; 0: never. */
  readonly pollMs?: number
}

export type Alerts = {
  /** What rules read in the text of every event, now; undefined where the annotation tells which events to look at. */
  readonly names: () => ReadonlySet<string> | undefined
  /** Whether a rule may match the event, by the little that is known without its whole annotation. */
  readonly mayRaise: (event: Pick<AnnotatedEvent, 'summary'>) => boolean
  /**
   * The alerts of a chunk, in order. A repeated chunk raises the same alerts with the same ids.
   * `fired` is called with the rules that matched an event: it or another event of its record may still wait for an answer.
   */
  readonly raise: (events: readonly AnnotatedEvent[], fired?: Fired) => readonly Alert[]
  /**
   * The alerts of events that were delivered before an answer and are annotated again, without the rules that fired before; one alert
   * per rule, indicator, peer and window, which names its events.
   */
  readonly raiseLate: (events: readonly { readonly event: AnnotatedEvent; readonly fired: readonly string[] }[]) => {
    readonly alerts: readonly Alert[]
    /** Per event the rules that have fired for it, former ones included. */
    readonly fired: readonly (readonly string[])[]
    /** Call when they are written. */
    readonly committed: () => void
    /**
     * Call when they were not: the next match of each is the alert, whichever event it is. What was suppressed for those that are not tried again
     * is the alert at once.
     */
    readonly notWritten: (isTriedAgain: boolean) => void
  }
  /** The rule that applies to an indicator that turned malicious after it was seen. */
  readonly retroMatch: (about: Omit<RetroSeen, 'partition'>) => RetroMatch | undefined
  /** Matches that raised no alert of their own; only with `hasUpdates`. */
  readonly suppressed: Pick<HeldMatches, 'commit' | 'giveUp'> & {
    readonly takeDue: (all?: boolean) => readonly AlertUpdate[]
  }
  /** Reloads the rules; if a file is broken, the old rules stay. */
  readonly reload: () => Promise<void>
  readonly status: () => AlertsStatus
  readonly close: () => Promise<void>
}

export type Fired = (event: AnnotatedEvent, ruleIds: readonly string[]) => void

type AlertsStatus = {
  readonly rules: number
  readonly loaded: readonly Pick<Rule, 'id' | 'title' | 'level'>[]
  /** Problems of the newest files, if they were refused. */
  readonly problems: readonly FileProblem[]
  readonly raised: number
  readonly suppressed: number
}

const none: readonly Alert[] = []
const noMatches: readonly Match[] = []
const noRules: readonly string[] = []

/** A late alert names at most this many events and counts the rest. */
const maxOrigins = 16

/** Returns every problem if rules cannot be used. */
export const openAlerts = async (
  settings: AlertsSettings,
  options: AlertsOptions,
): Promise<Alerts | { readonly problems: readonly FileProblem[] }> => {
  const {
    emit = ignoreTelemetry,
    clock = systemClock,
    key,
    operations,
    eventTime,
    named,
    replayId,
    hasUpdates = false,
  } = options
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
  const suppress = createSuppress(settings.suppressSeconds * 1000, hasUpdates)
  const held = createHeldMatches(clock.now)
  let raised = 0
  let suppressed = 0

  const timeOf = ({ event, time }: AnnotatedEvent): number => {
    const now = clock.now()
    return eventTime(event.text, now) ?? time ?? now
  }

  /** The rules that match, and the alert of each; `count` is 0 where it is suppressed. */
  const matchesOf = (one: AnnotatedEvent, set: RuleSet, before = noRules, isLate = false): readonly Match[] => {
    let seen: RuleEvent | undefined
    const event = (): RuleEvent => (seen ??= ruleEventOf(one, named))
    const all = set.match(one.annotation, event)
    const matches = before.length === 0 ? all : all.filter(({ rule: { id } }) => !before.includes(id))
    if (matches.length === 0) return noMatches
    const time = timeOf(one)
    const peer = peerOf(one, event)
    return matches.map(({ rule, why }) => {
      const {
        key: group,
        id,
        groupId,
        count: matched,
        peers,
        endsAt,
        written,
        release,
      } = suppress.decide({
        ruleId: rule.id,
        value: one.annotation.value ?? '',
        peer: peer ?? '',
        time,
        origin: one.origin,
        group: rule.suppress?.groupOf?.(event(), one.annotation),
        windowMs: rule.suppress?.windowMs,
        isLate,
      })
      if (matched === 0) suppressed++
      else raised++
      const draft = (): AlertInput => ({
        id: id(),
        groupId: groupId(),
        rule,
        why: why(),
        one,
        event: event(),
        time,
        peer,
        peers,
        count: matched,
        replayId,
      })
      const hold = (): void => {
        if (!hasUpdates) return
        const { origin, summary: about } = one
        if (matched > 0) {
          held.raised({ groupId: groupId(), ruleId: rule.id, origin, release })
          return
        }
        const users = namesIn(readUsers, event(), one.annotation)
        const sources = namesIn(readSources, event(), one.annotation)
        held.hold({ groupId: groupId(), rule, origin, time, about, peer, users, sources, endsAt })
      }
      const notWritten = (isTriedAgain: boolean): void => {
        release()
        if (!hasUpdates) return
        if (isTriedAgain) held.giveUp(one.origin, [rule.id])
        else held.notWritten({ groupId: groupId(), ruleId: rule.id, origin: one.origin })
      }
      return { rule, group, count: matched, draft, hold, written, notWritten }
    })
  }

  const count = (alerts: readonly Alert[], late: boolean): readonly Alert[] => {
    if (alerts.length > 0) emit({ event: 'alerts_raised', alerts: alerts.length, late, levels: alerts.map(levelOf) })
    return alerts
  }

  return {
    names: () => rules.set().names,
    mayRaise: ({ summary }) => rules.set().mayMatch(summary),
    raise: (events, fired) => {
      const set = rules.set()
      if (set.size === 0) return none
      let alerts: Alert[] | undefined
      for (const one of events) {
        if (!set.mayMatch(one.summary)) continue
        const matches = matchesOf(one, set)
        for (const match of matches) {
          if (match.count > 0) (alerts ??= []).push(createAlert(match.draft()))
          match.hold()
        }
        if (fired && matches.length > 0)
          fired(
            one,
            matches.map(({ rule }) => rule.id),
          )
      }
      return alerts ? count(alerts, false) : none
    },
    raiseLate: (events) => {
      const set = rules.set()
      const raisers: Match[] = []
      const drafts = new Map<string, LateDraft>()
      const fired = events.map(({ event: one, fired: before }) => {
        const matches = set.size === 0 ? [] : matchesOf(one, set, before, true)
        for (const match of matches) {
          const { group, count: matched, draft, hold } = match
          const begun = drafts.get(group)
          if (begun) {
            begun.count++
            if (begun.origins.length < maxOrigins) begun.origins.push(one.origin)
            else begun.originsOmitted++
            continue
          }
          if (matched > 0) {
            drafts.set(group, { ...draft(), origins: [one.origin], originsOmitted: 0 })
            raisers.push(match)
          }
          hold()
        }
        return [...before, ...matches.map(({ rule }) => rule.id)]
      })
      const committed = (): void => {
        for (const { written } of raisers) written()
        for (const [place, { event }] of events.entries()) held.commit(event.origin, fired[place] ?? [])
      }
      const notWritten = (isTriedAgain: boolean): void => {
        for (const match of raisers) match.notWritten(isTriedAgain)
      }
      return { alerts: count([...drafts.values()].map(createAlert), true), fired, committed, notWritten }
    },
    suppressed: { commit: held.commit, giveUp: held.giveUp, takeDue: (all) => held.takeDue(all).map(createUpdate) },
    retroMatch: (about) => retroMatchOf(rules.retro(), about),
    reload: rules.reload,
    status: () => ({
      rules: rules.all().length,
      loaded: rules.all(),
      problems: rules.refused(),
      raised,
      suppressed,
    }),
    close: rules.close,
  }
}

type Match = {
  readonly rule: Rule
  /** The same for all matches of one alert. */
  readonly group: string
  readonly count: number
  readonly draft: () => AlertInput
  /** Notes that it raised the alert, or that it was suppressed. */
  readonly hold: () => void
  /** It raised the alert, and that was written. */
  readonly written: () => void
  /** It was not. */
  readonly notWritten: (isTriedAgain: boolean) => void
}

const readUsers = ['user.name', 'username'].map(createReadEvent)
const readSources = ['source.address'].map(createReadEvent)
const maxName = 256

const namesIn = (
  reads: readonly ReadEvent[],
  event: RuleEvent,
  annotation: AnnotatedEvent['annotation'],
): readonly string[] => {
  const found = reads.flatMap((read) => read(event, annotation) ?? [])
  return [...new Set(found.filter((one) => typeof one === 'string').map((one) => ownText(one.slice(0, maxName))))]
}

/** An alert that still gathers its events. */
type LateDraft = AlertInput & { count: number; readonly origins: string[]; originsOmitted: number }

const levelOf = ({ threatweave }: Alert): string => threatweave.level
