// Tells from what the fields of an event say, or from a line of text beside them, whether the traffic was let through.
import type { Action } from '../../domain/sighting.js'
import { sayingOf, ways, windowsEvents } from './action-words.js'
import { actionOfText, type Told } from './action-text.js'
import { table } from './characters.js'
import type { Port, Says } from './fields.js'

export type ActionFinder = {
  /** Forgets the event before. */
  readonly reset: () => void
  /** Whether what such a field says can still change anything. */
  readonly wants: (says: Says) => boolean
  readonly seePort: (says: Port, port: number) => void
  readonly see: (says: Says, name: string, value: string | boolean, rule: string) => void
  readonly seeText: (text: string) => void
  /** What a format says outranks all else. */
  readonly set: (action: Action, rule: string, saw: string) => void
  /** The action, the rule that gave it and the word or number that told it; empty where nothing did. */
  readonly result: () => Told
  /** The local endpoint has the port of one who connects, the remote one that of a service. */
  readonly isLocalFirst: () => boolean
}

/** Evidence of the action, strongest first; the names of fields that say something else are past them. */
const ranks: Readonly<Record<Says, number>> = {
  action: 1,
  ruling: 2,
  id: 3,
  result: 3,
  flag: 4,
  reason: 5,
  name: 6,
  direction: 9,
  port: 9,
  localPort: 9,
  remotePort: 9,
}
const textRank = 5
const none = 99
const nothing: Told = { action: 'unknown', rule: '', saw: '' }
const flags = table([true, 'true yes 1'], [false, 'false no 0'])

export const createActionFinder = (): ActionFinder => {
  let told = nothing
  let best = none
  let isLogin = false
  let outcome = nothing
  let localPort = 0
  let remotePort = 0
  let way: 'in' | 'out' | undefined
  const take = (action: Action, rank: number, rule: string, saw: string): void => {
    // A session that was let through and then stopped (`action=close utmaction=block`) was stopped.
    const isStopped = action === 'blocked' && told.action === 'allowed' && rank <= 2 && best > 0
    if (action === 'unknown' || (rank >= best && !isStopped)) return
    told = { action, rule, saw }
    best = Math.min(rank, best)
  }
  const seeFlag = (name: string, value: string, rule: string): void => {
    const yes = flags.get(value)
    if (yes === undefined) return
    const action = yes === /allow|permit|grant|succe|authenticated/i.test(name) ? 'allowed' : 'blocked'
    if (/succe|authenticated/i.test(name)) outcome = { action, rule, saw: value }
    else take(action, ranks.flag, rule, value)
  }
  const seeWord = (says: Says, value: string, rule: string): void => {
    const said = sayingOf(value)
    if (said.isLogin) isLogin = true
    // `login_failed` tells both; `action=login status=failed` what was tried, and how it went.
    if (said.outcome !== 'unknown' && (said.isLogin || (outcome === nothing && says !== 'name')))
      outcome = { action: said.outcome, rule, saw: value }
    if (says !== 'name' && !(said.isCommon && ranks[says] >= 3)) take(said.action, ranks[says], rule, value)
  }
  return {
    reset: () => {
      told = nothing
      best = none
      isLogin = false
      outcome = nothing
      localPort = 0
      remotePort = 0
      way = undefined
    },
    wants: (says) => ranks[says] <= 2 || ranks[says] < best || ranks[says] === 9,
    seePort: (says, port) => {
      if (says === 'localPort') localPort = port
      else if (says === 'remotePort') remotePort = port
    },
    see: (says, name, value, rule) => {
      const text = String(value)
      if (says === 'direction') way = ways.get(text.toLowerCase()) ?? way
      else if (ranks[says] >= best && ranks[says] > 2) return
      else if (says === 'id') take(windowsEvents.get(text) ?? 'unknown', ranks.id, rule, text)
      else if (says === 'flag') seeFlag(name, text, rule)
      else seeWord(says, text, rule)
    },
    seeText: (text) => {
      if (best <= textRank) return
      const { action, rule, saw } = actionOfText(text)
      take(action, textRank, rule, saw)
    },
    set: (action, rule, saw) => {
      take(action, 0, rule, saw)
    },
    result: () => (told === nothing && isLogin ? outcome : told),
    isLocalFirst: () =>
      way === 'out' || (way === undefined && remotePort > 0 && localPort > 1023 && localPort > remotePort),
  }
}
