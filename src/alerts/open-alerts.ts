// Raises alerts for annotated events and suppresses repeats, also for events that are evaluated again after a late answer.
import type { FileProblem } from '../domain/problem.js'
import type { ByReason } from '../domain/no-alert-reason.js'
import { isTemporary } from '../domain/reason.js'
import type { Judged } from '../domain/verdict.js'
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
import type { RuleEvent } from './event-field.js'
import { peerOf } from './peer.js'
import { retroMatchOf, type RetroMatch, type RetroSeen } from './retro-rule.js'
import type { Rule } from './sigma/rule.js'
import type { RuleMatch, RuleSet } from './sigma/rule-set.js'
import { createSharedWindows } from './shared-windows.js'
import { watchRules } from './watch-rules.js'
import { whoActed, type WhoActed } from './who-acted.js'
import { createWindows, type Decision, type Windows, type WindowsDraft } from './windows.js'
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
  /** Operations in use, such as `ip/malicious-info`; a rule on a flag that none of them states causes a warning. */
  readonly operations?: readonly string[]
  /** Returns the named values in the event's text. */
  readonly named: (bytes: Buffer) => AnyObject
  readonly replayId?: string
  /** How often to check the rule files for changes; 0: never. */
  readonly pollMs?: number
}

export type Alerts = {
  /** The names that rules currently read in the text of every event; undefined if the annotation selects the events to evaluate. */
  readonly names: () => ReadonlySet<string> | undefined
  /** Whether a rule may match the event, judged by its summaries alone. */
  readonly mayRaise: (event: Pick<AnnotatedEvent, 'summary' | 'others'>) => boolean
  /** For events of any partition whose alerts are certain to be written. */
  readonly raise: AlertsDraft['raise']
  readonly raiseLate: AlertsDraft['raiseLate']
  /** For events of any partition whose alerts may fail to be written. */
  readonly begin: () => AlertsDraft
  /** For one partition with windows of its own; suppressed matches are reported by updates. */
  readonly open: () => PartitionAlerts
  /** The rule that applies to an indicator that turned malicious after it was seen. */
  readonly retroMatch: (about: Omit<RetroSeen, 'partition'>) => RetroMatch | undefined
  /** Reloads the rules; if a file is broken, the old rules stay. */
  readonly reload: () => Promise<void>
  readonly status: () => AlertsStatus
  readonly close: () => Promise<void>
}

export type PartitionAlerts = Omit<Windows, 'begin' | 'size'> & {
  /** `isLate`: about events that were delivered before. */
  readonly begin: (isLate?: boolean) => AlertsDraft
}

/** The alerts and updates of one write, which count once it is committed. */
export type AlertsDraft = Pick<WindowsDraft, 'opened' | 'counted' | 'changed' | 'commit' | 'giveUp'> & {
  /**
   * The alerts of a chunk, in order. A repeated chunk raises the same alerts with the same ids. `fired` is called with the rules and
   * indicators that matched an event: the event, or another one of its record, may still wait for an answer.
   */
  readonly raise: (events: readonly AnnotatedEvent[], fired?: Fired) => readonly Alert[]
  /**
   * The alerts of events that were delivered before an answer and are annotated again, without matches that fired before: a rule with its
   * indicator, or in older notes a rule for all indicators. One alert per rule, indicator, peer and window, which names its events.
   */
  readonly raiseLate: (events: readonly LateEvent[]) => {
    readonly alerts: readonly Alert[]
    /** Per event, all matches that have fired so far. */
    readonly fired: readonly (readonly string[])[]
  }
  /** Updates for up to `max` due windows, or for all windows. */
  readonly updates: (max: number, all?: boolean) => readonly AlertUpdate[]
}

type LateEvent = { readonly event: AnnotatedEvent; readonly fired: readonly string[] }

type Fired = (event: AnnotatedEvent, firings: readonly string[]) => void

type AlertsStatus = {
  readonly rules: number
  readonly loaded: readonly Pick<Rule, 'id' | 'title' | 'level'>[]
  /** Problems of the newest files, if they were refused. */
  readonly problems: readonly FileProblem[]
  readonly raised: number
  readonly suppressed: number
  /** Malicious or suspicious events that raised no alert. */
  readonly withoutAlert: ByReason
}

const none: readonly Alert[] = []
const nothing: EventMatches = { matches: [], firings: [] }
const noFirings: readonly string[] = []

/** A late alert names at most this many events and counts the rest. */
const maxOrigins = 16

/** Returns every problem if the rules cannot be used. */
export const openAlerts = async (
  settings: AlertsSettings,
  options: AlertsOptions,
): Promise<Alerts | { readonly problems: readonly FileProblem[] }> => {
  const { emit = ignoreTelemetry, clock = systemClock, key, operations, named, replayId } = options
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
  const shared = createSharedWindows()
  const windowsOf = (hasUpdates: boolean): Windows =>
    createWindows({ defaultMs: settings.suppressSeconds * 1000, hasUpdates, shared, now: clock.now })
  const alone = windowsOf(false)
  const withoutAlert = createCountWithoutAlert(emit)
  let raised = 0
  let suppressed = 0

  const timeOf = ({ eventTime }: AnnotatedEvent): number => eventTime ?? clock.now()

  /** One result per matching rule, about the indicators for which it did not fire `before`; `count` is 0 if it is suppressed. */
  const matchesOf = (one: AnnotatedEvent, set: RuleSet, windows: WindowsDraft, before = noFirings): EventMatches => {
    let seen: RuleEvent | undefined
    const event = (): RuleEvent => (seen ??= ruleEventOf(one, named))
    const chosen = chooseMatches(set.match(candidatesOf(one.annotation, one.others), event))
    const firedBefore = new Set(before)
    const isNew = (match: RuleMatch): boolean =>
      !firedBefore.has(match.rule.id) && !firedBefore.has(firingOf(match)) && !isOutdone(match, firedBefore, set.rules)
    const matched = before.length === 0 ? chosen : chosen.filter(isNew)
    if (matched.length === 0) return nothing
    const time = timeOf(one)
    let who: WhoActed | undefined
    const decide = (match: RuleMatch): Decided => {
      const { rule, candidate } = match
      const peer = peerOf({ annotation: candidate, extraction: one.extraction }, event)
      const decision = windows.decide({
        rule,
        value: candidate.value ?? '',
        peer: peer ?? '',
        time,
        origin: one.origin,
        group: rule.suppress?.groupOf?.(event(), candidate),
        about: candidate,
      })
      return { ...match, peer, decision }
    }
    const told = (ofRule: readonly RuleMatch[]): Match => {
      const decided = ofRule.map(decide)
      // A suppressed indicator must not silence another one.
      const unsuppressed = decided.filter(({ decision }) => decision.count > 0)
      const lead = (unsuppressed[0] ?? decided[0]) as Decided
      const { rule, candidate, why, peer, decision } = lead
      const { count: matches, peers } = decision
      const groupId = decision.groupId()
      for (const listed of unsuppressed.slice(1)) windows.listIn(groupId, listed.decision)
      if (matches === 0) suppressed++
      else raised++
      const draft = (): AlertInput => ({
        id: decision.id(),
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
        if (matches > 0) return
        windows.hold(decision, { origin: one.origin, time, peer, who: () => (who ??= whoActed(one, candidate, event)) })
      }
      const groupIds = (): readonly string[] => decided.map((each) => each.decision.groupId())
      return { groupId, groupIds, count: matches, peer, draft, hold }
    }
    const byRule = new Map<string, RuleMatch[]>()
    for (const match of matched) {
      const ofRule = byRule.get(match.rule.id)
      if (ofRule) ofRule.push(match)
      else byRule.set(match.rule.id, [match])
    }
    return { matches: [...byRule.values()].map(told), firings: matched.map(firingOf) }
  }

  /** Counts an event without an alert, unless a pending answer causes it to be evaluated again. */
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

  const raise = (events: readonly AnnotatedEvent[], windows: WindowsDraft, fired?: Fired): readonly Alert[] => {
    const set = rules.set()
    let alerts: Alert[] | undefined
    for (const one of events) {
      const { matches, firings } = mayMatch(set, one) ? matchesOf(one, set, windows) : nothing
      for (const match of matches) {
        if (match.count > 0) (alerts ??= []).push(createAlert(match.draft()))
        match.hold()
      }
      if (fired && firings.length > 0) fired(one, firings)
      if (matches.every(isSuppressed)) seeSilent(one, set, matches.length > 0)
    }
    withoutAlert.report()
    return alerts ? count(alerts, false) : none
  }

  const raiseLate = (events: readonly LateEvent[], windows: WindowsDraft): ReturnType<AlertsDraft['raiseLate']> => {
    const set = rules.set()
    const drafts = new Map<string, LateDraft>()
    const fired = events.map(({ event: one, fired: before }) => {
      const { matches, firings } = set.size === 0 ? nothing : matchesOf(one, set, windows, before)
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
        } else if (matched > 0) {
          const { peers, ...input } = draft()
          drafts.set(groupId, { ...input, peers: [...peers], origins: [one.origin], originsOmitted: 0 })
        } else hold()
      }
      if (!isTold) seeSilent(one, set, matches.length > 0, true)
      return [...before, ...firings]
    })
    withoutAlert.report()
    return { alerts: count([...drafts.values()].map(createAlert), true), fired }
  }

  const draftOf = (windows: WindowsDraft): AlertsDraft => ({
    ...windows,
    raise: (events, fired) => raise(events, windows, fired),
    raiseLate: (events) => raiseLate(events, windows),
    updates: (max, all) => windows.tell(max, all).map(({ window, held }) => createUpdate(window, held)),
  })

  const begin = (): AlertsDraft => draftOf(alone.begin())

  const atOnce = <Raised>(by: (draft: AlertsDraft) => Raised): Raised => {
    const draft = begin()
    const result = by(draft)
    draft.commit()
    return result
  }

  return {
    names: () => rules.set().names,
    mayRaise: (event) => mayMatch(rules.set(), event),
    raise: (events, fired) => atOnce((draft) => draft.raise(events, fired)),
    raiseLate: (events) => atOnce((draft) => draft.raiseLate(events)),
    begin,
    open: () => {
      const { begin: beginIn, ...windows } = windowsOf(true)
      return { ...windows, begin: (isLate) => draftOf(beginIn(isLate)) }
    },
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
  /** Each rule with each indicator that it fired for. */
  readonly firings: readonly string[]
}

type Decided = RuleMatch & { readonly decision: Decision; readonly peer: string | undefined }

type Match = {
  /** The same for all matches of one alert. */
  readonly groupId: string
  /** The groups of all its indicators. */
  readonly groupIds: () => readonly string[]
  readonly count: number
  readonly peer: string | undefined
  readonly draft: () => AlertInput
  /** Counts the match if it is suppressed. */
  readonly hold: () => void
}

const mayMatch = (set: RuleSet, { summary, others }: Pick<AnnotatedEvent, 'summary' | 'others'>): boolean =>
  set.mayMatch(summary) || (others.length > 0 && others.some(set.mayMatch))

const isSuppressed = ({ count }: Match): boolean => count === 0

const isAwaited = ({ late }: Judged): boolean => late !== undefined
/** After a late answer, a transient failure is looked up again. */
const isRepeated = ({ late, verdict: { reason } }: Judged): boolean =>
  late !== undefined || (reason !== undefined && (isTemporary(reason) || reason === 'cooling_down'))

/** A late alert that is still collecting its events. */
type LateDraft = AlertInput & {
  count: number
  readonly peers: string[]
  readonly origins: string[]
  originsOmitted: number
}

const maxLatePeers = 64
/** A group may cover several machines. */
const addPeer = ({ peer, peers }: LateDraft, other: string | undefined): void => {
  if (other !== undefined && other !== peer && peers.length < maxLatePeers && !peers.includes(other)) peers.push(other)
}

const levelOf = ({ threatweave }: Alert): string => threatweave.level
