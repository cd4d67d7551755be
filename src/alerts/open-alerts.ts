// Raises alerts for annotated events and suppresses repeats; also for events that are looked at again because an answer came late.
import type { FileProblem } from '../domain/problem.js'
import type { ByReason } from '../domain/no-alert-reason.js'
import { isTemporary } from '../domain/reason.js'
import type { Judged } from '../domain/verdict.js'
import { ownText } from '../base/bounded-cache.js'
import { systemClock, type Clock } from '../base/clock.js'
import type { AnyObject } from '../base/json-object.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'
import type { Alert } from './alert.js'
import { ruleEventOf, type AnnotatedEvent } from './annotated-event.js'
import { flagsStatedBy } from './annotation-fields.js'
import { candidatesOf } from './candidates.js'
import { chooseMatches, firingOf, isOutdone } from './choose-matches.js'
import { createCountWithoutAlert } from './count-without-alert.js'
import { createAlert, type AlertInput } from './create-alert.js'
import { createUpdate, type AlertUpdate } from './create-update.js'
import { createReadEvent, type ReadEvent, type RuleEvent } from './event-field.js'
import { createHeldMatches, type HeldMatches } from './held-matches.js'
import { peerOf } from './peer.js'
import { retroMatchOf, type RetroMatch, type RetroSeen } from './retro-rule.js'
import type { Rule } from './sigma/rule.js'
import type { RuleMatch, RuleSet } from './sigma/rule-set.js'
import { createSuppress, type Suppress } from './suppress.js'
import { watchRules } from './watch-rules.js'
import { isAccusing, isSpared, whyNoAlert } from './why-no-alert.js'

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
  readonly mayRaise: (event: Pick<AnnotatedEvent, 'summary' | 'others'>) => boolean
  /**
   * The alerts of a chunk, in order. A repeated chunk raises the same alerts with the same ids.
   * `fired` is called with what matched an event, each rule with its indicator: it or another event of its record may still wait for an answer.
   */
  readonly raise: (events: readonly AnnotatedEvent[], fired?: Fired) => readonly Alert[]
  /**
   * The alerts of events that were delivered before an answer and are annotated again, without what fired before: a rule with its indicator,
   * or in older notes a rule for all of them. One alert per rule, indicator, peer and window, which names its events.
   */
  readonly raiseLate: (events: readonly { readonly event: AnnotatedEvent; readonly fired: readonly string[] }[]) => {
    readonly alerts: readonly Alert[]
    /** Per event what has fired for it, before included. */
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

export type Fired = (event: AnnotatedEvent, firings: readonly string[]) => void

type AlertsStatus = {
  readonly rules: number
  readonly loaded: readonly Pick<Rule, 'id' | 'title' | 'level'>[]
  /** Problems of the newest files, if they were refused. */
  readonly problems: readonly FileProblem[]
  readonly raised: number
  readonly suppressed: number
  /** Accused events that raised none. */
  readonly withoutAlert: ByReason
}

const none: readonly Alert[] = []
const nothing: EventMatches = { matches: [], firings: [] }
const noFirings: readonly string[] = []

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
  const withoutAlert = createCountWithoutAlert(emit)
  let raised = 0
  let suppressed = 0

  const timeOf = ({ event, time }: AnnotatedEvent): number => {
    const now = clock.now()
    return eventTime(event.text, now) ?? time ?? now
  }

  /** What each rule that matches tells, about the indicators for which it has not fired `before`; `count` is 0 where that is suppressed. */
  const matchesOf = (one: AnnotatedEvent, set: RuleSet, before = noFirings, isLate = false): EventMatches => {
    let seen: RuleEvent | undefined
    const event = (): RuleEvent => (seen ??= ruleEventOf(one, named))
    const chosen = chooseMatches(set.match(candidatesOf(one.annotation, one.others), event))
    const firedBefore = new Set(before)
    const isNew = (match: RuleMatch): boolean =>
      !firedBefore.has(match.rule.id) && !firedBefore.has(firingOf(match)) && !isOutdone(match, firedBefore, set.rules)
    const matched = before.length === 0 ? chosen : chosen.filter(isNew)
    if (matched.length === 0) return nothing
    const time = timeOf(one)
    const decide = (match: RuleMatch): Decided => {
      const { rule, candidate } = match
      const peer = peerOf({ annotation: candidate, extraction: one.extraction }, event)
      const suppression = suppress.decide({
        ruleId: rule.id,
        value: candidate.value ?? '',
        peer: peer ?? '',
        time,
        origin: one.origin,
        group: rule.suppress?.groupOf?.(event(), candidate),
        windowMs: rule.suppress?.windowMs,
        isLate,
      })
      return { ...match, peer, ...suppression }
    }
    const told = (ofRule: readonly RuleMatch[]): Match => {
      const decided = ofRule.map(decide)
      // An indicator that is suppressed is no reason to keep silent about another one.
      const unsuppressed = decided.filter((each) => each.count > 0)
      const lead = (unsuppressed[0] ?? decided[0]) as Decided
      const { rule, candidate, why, peer, peers, isNewPeer, endsAt, count: matches } = lead
      const groupId = lead.groupId()
      for (const listed of unsuppressed.slice(1)) listed.listIn(groupId)
      if (matches === 0) suppressed++
      else raised++
      const firing = firingOf(lead)
      const release = (): void => {
        for (const each of unsuppressed) each.release()
      }
      const draft = (): AlertInput => ({
        id: lead.id(),
        groupId,
        rule,
        why: why(),
        one,
        candidate,
        listed: decided.flatMap((each) => (each === lead ? [] : (each.candidate.value ?? []))),
        event: event(),
        time,
        peer,
        peers,
        count: matches,
        replayId,
      })
      const hold = (): void => {
        if (!hasUpdates) return
        const { origin } = one
        if (matches > 0) {
          held.raised({ groupId, firing, origin, release })
          return
        }
        const users = namesIn(readUsers, event(), candidate)
        const sources = namesIn(readSources, event(), candidate)
        const { indicators: _, ...about } = candidate
        held.hold({ groupId, firing, rule, origin, time, about, peer, isNewPeer, users, sources, endsAt })
      }
      const notWritten = (isTriedAgain: boolean): void => {
        release()
        if (!hasUpdates) return
        if (isTriedAgain) held.giveUp(one.origin, [firing])
        else held.notWritten({ groupId, firing, origin: one.origin })
      }
      const written = (): void => {
        for (const each of unsuppressed) each.written()
      }
      return {
        groupId,
        groupIds: () => decided.map((each) => each.groupId()),
        count: matches,
        peer,
        draft,
        hold,
        written,
        notWritten,
      }
    }
    const byRule = new Map<string, RuleMatch[]>()
    for (const match of matched) {
      const ofRule = byRule.get(match.rule.id)
      if (ofRule) ofRule.push(match)
      else byRule.set(match.rule.id, [match])
    }
    return { matches: [...byRule.values()].map(told), firings: matched.map(firingOf) }
  }

  /** An event that waits for an answer is looked at again. */
  const seeSilent = (one: AnnotatedEvent, set: RuleSet, isMatched: boolean, isLate = false): void => {
    const isAccused = isAccusing(one.summary)
    if (!(isAccused || one.judged.some(isSpared)) || one.judged.some(isLate ? isRepeated : isAwaited)) return
    if (isMatched) {
      if (isAccused) withoutAlert.see('suppressed')
      return
    }
    const { annotation, others, judged } = one
    const why = whyNoAlert(candidatesOf(annotation, others), judged, set, () => ruleEventOf(one, named))
    if (why) withoutAlert.see(why.reason)
  }

  const count = (alerts: readonly Alert[], late: boolean): readonly Alert[] => {
    if (alerts.length > 0) emit({ event: 'alerts_raised', alerts: alerts.length, late, levels: alerts.map(levelOf) })
    return alerts
  }

  return {
    names: () => rules.set().names,
    mayRaise: (event) => mayMatch(rules.set(), event),
    raise: (events, fired) => {
      const set = rules.set()
      let alerts: Alert[] | undefined
      for (const one of events) {
        const { matches, firings } = mayMatch(set, one) ? matchesOf(one, set) : nothing
        for (const match of matches) {
          if (match.count > 0) (alerts ??= []).push(createAlert(match.draft()))
          match.hold()
        }
        if (fired && firings.length > 0) fired(one, firings)
        if (matches.every(isSuppressed)) seeSilent(one, set, matches.length > 0)
      }
      withoutAlert.report()
      return alerts ? count(alerts, false) : none
    },
    raiseLate: (events) => {
      const set = rules.set()
      const raisers: Match[] = []
      const drafts = new Map<string, LateDraft>()
      const fired = events.map(({ event: one, fired: before }) => {
        const { matches, firings } = set.size === 0 ? nothing : matchesOf(one, set, before, true)
        let isTold = before.length > 0
        for (const match of matches) {
          const { groupId, groupIds, count: matched, peer, draft, hold } = match
          const begun = matched > 0 ? drafts.get(groupId) : groupIds().flatMap((id) => drafts.get(id) ?? [])[0]
          isTold ||= begun !== undefined || matched > 0
          if (begun) {
            begun.count++
            if (begun.origins.length < maxOrigins) begun.origins.push(one.origin)
            else begun.originsOmitted++
            addPeer(begun, peer)
            continue
          }
          if (matched > 0) {
            const { peers, ...input } = draft()
            drafts.set(groupId, { ...input, peers: [...peers], origins: [one.origin], originsOmitted: 0 })
            raisers.push(match)
          }
          hold()
        }
        if (!isTold) seeSilent(one, set, matches.length > 0, true)
        return [...before, ...firings]
      })
      withoutAlert.report()
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
      withoutAlert: withoutAlert.totals(),
    }),
    close: rules.close,
  }
}

type EventMatches = {
  /** One per rule. */
  readonly matches: readonly Match[]
  /** What fired: each rule with each indicator. */
  readonly firings: readonly string[]
}

type Decided = RuleMatch & ReturnType<Suppress['decide']> & { readonly peer: string | undefined }

type Match = {
  /** The same for all matches of one alert. */
  readonly groupId: string
  /** Those of all its indicators. */
  readonly groupIds: () => readonly string[]
  readonly count: number
  readonly peer: string | undefined
  readonly draft: () => AlertInput
  /** Notes that it raised the alert, or that it was suppressed. */
  readonly hold: () => void
  /** It raised the alert, and that was written. */
  readonly written: () => void
  /** It was not. */
  readonly notWritten: (isTriedAgain: boolean) => void
}

const mayMatch = (set: RuleSet, { summary, others }: Pick<AnnotatedEvent, 'summary' | 'others'>): boolean =>
  set.mayMatch(summary) || (others.length > 0 && others.some(set.mayMatch))

const isSuppressed = ({ count }: Match): boolean => count === 0

const isAwaited = ({ late }: Judged): boolean => late !== undefined
/** Of a late answer, a failure that passes is asked again. */
const isRepeated = ({ late, verdict: { reason } }: Judged): boolean =>
  late !== undefined || (reason !== undefined && (isTemporary(reason) || reason === 'cooling_down'))

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
type LateDraft = AlertInput & {
  count: number
  readonly peers: string[]
  readonly origins: string[]
  originsOmitted: number
}

const maxLatePeers = 64
/** A group may be about several machines. */
const addPeer = ({ peer, peers }: LateDraft, other: string | undefined): void => {
  if (other !== undefined && other !== peer && peers.length < maxLatePeers && !peers.includes(other)) peers.push(other)
}

const levelOf = ({ threatweave }: Alert): string => threatweave.level
