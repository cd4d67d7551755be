// Decides from the fields of an event, or from a line of text, whether the traffic was allowed or blocked.
import type { Action } from '../../domain/sighting.js'
import type { Port, ActionField } from './action-fields.js'
import { actionOfText, nothing, type ActionFound } from './action-text.js'
import { actionWordOf, wayOfVerb, ways, windowsEvents } from './action-words.js'
import { table } from './characters.js'

export type ActionFinder = ReturnType<typeof createActionFinder>

/** Ranks evidence of the action, strongest first. A format has rank 0; fields that are no evidence have no rank. */
const rankOf: Readonly<Partial<Record<ActionField, number>>> = {
  action: 1,
  id: 3,
  result: 3,
  flag: 4,
  reason: 5,
  name: 6,
}
const textRank = 5
/** `拒绝` has two characters. */
const shortestWord = 2
/** In an action field, words up to this length (`accepted`) are a verdict and do not tell which end began. */
const shortestDeed = 10
const none = 99
const flags = table([true, 'true yes 1'], [false, 'false no 0'])

export const createActionFinder = () => {
  let found = nothing
  let best = none
  let isLogin = false
  let outcome = nothing
  let outcomeRank = none
  let localPort = 0
  let remotePort = 0
  let way: 'in' | 'out' | undefined
  /** The direction by the verb, used when no field gives one. */
  let verb: 'in' | 'out' | undefined
  const take = (action: Action, rank: number, rule: string, saw: string): void => {
    // A session that was allowed and then stopped (`action=close utmaction=block`) counts as blocked.
    const isStopped = action === 'blocked' && found.action === 'allowed' && rank <= 1 && best > 0
    if (action === 'unknown' || (rank >= best && !isStopped)) return
    found = { action, rule, saw }
    best = Math.min(rank, best)
  }
  const takeOutcome = (action: Action, rank: number, rule: string, saw: string): void => {
    outcome = { action, rule, saw }
    outcomeRank = rank
  }
  const seeFlag = (name: string, saw: string, rank: number, rule: string): void => {
    const yes = flags.get(saw)
    if (yes === undefined) return
    const action = yes === /allow|permit|grant|succe|authenticated/i.test(name) ? 'allowed' : 'blocked'
    if (/succe|authenticated/i.test(name)) takeOutcome(action, rank, rule, saw)
    else take(action, rank, rule, saw)
  }
  const seeWord = (saw: string, rank: number, rule: string): void => {
    const said = actionWordOf(saw)
    // A firewall's `action=accept` does not tell which end began the connection.
    if (rank > 1 || saw.length > shortestDeed) verb ??= said.way
    if (said.isLogin) isLogin = true
    // `login_failed` holds the attempt and its outcome; `action=login status=failed` splits them between two fields.
    if (said.outcome !== 'unknown' && (said.isLogin || (outcome === nothing && rank < 6)))
      takeOutcome(said.outcome, rank, rule, saw)
    if (rank < 6 && (!said.isCommon || rank < 3)) take(said.action, rank, rule, saw)
  }
  return {
    /** Forgets the previous event. */
    reset: (): void => {
      found = outcome = nothing
      best = outcomeRank = none
      isLogin = false
      localPort = remotePort = 0
      way = verb = undefined
    },
    /** Whether a field of this kind can still change the result. */
    wants: (says: ActionField): boolean => {
      const rank = rankOf[says] ?? 0
      return rank <= 1 || rank < best
    },
    seePort: (says: Port, port: number): void => {
      if (says === 'localPort') localPort = port
      else if (says === 'remotePort') remotePort = port
    },
    see: (says: ActionField, name: string, value: string | boolean, rule: string): void => {
      const text = String(value)
      const rank = rankOf[says] ?? none
      if (says === 'direction') way = ways.get(text.toLowerCase()) ?? way
      else if (rank >= best && rank > 1) return
      else if (says === 'id') take(windowsEvents.get(text) ?? 'unknown', rank, rule, text)
      else if (says === 'flag') seeFlag(name, text, rank, rule)
      else seeWord(text, rank, rule)
    },
    seeText: (text: string): void => {
      if (best <= textRank || text.length < shortestWord) return
      const { action, rule, saw } = actionOfText(text)
      take(action, textRank, rule, saw)
    },
    /** A format outranks all other evidence. */
    set: (action: Action, rule: string, saw: string): void => {
      take(action, 0, rule, saw)
    },
    /** The action, its rule and the text it matched; empty without evidence. */
    result: (): ActionFound => (isLogin && outcomeRank < best ? outcome : found),
    /** The outcome, for the case that the event is a login. */
    outcome: (): ActionFound => outcome,
    /** Looks in a sentence for a verb that tells which end began. */
    seeVerb: (text: string): void => {
      verb ??= wayOfVerb(text)
    },
    /**
     * Whether the local end began. The direction decides, else the verb, else the ports: a local port above 1023 and a lower remote one.
     * The arguments are the ports to use when no field names them.
     */
    isLocalFirst: (remote = 0, local = 0): boolean => {
      const said = way ?? verb
      if (said !== undefined) return said === 'out'
      const [to, from] = [remotePort || remote, localPort || local]
      return to > 0 && from > 1023 && from > to
    },
  }
}
