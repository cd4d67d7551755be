// Tells from what the fields of an event say, or from a line of text beside them, whether the traffic was let through.
import type { Action } from '../../domain/sighting.js'
import { sayingOf, ways, windowsEvents } from './action-words.js'
import { actionOfText } from './action-text.js'
import type { Port, Says } from './fields.js'

export type ActionFinder = {
  /** Forgets the event before. */
  readonly reset: () => void
  /** Whether what such a field says can still change anything. */
  readonly wants: (says: Says) => boolean
  readonly seePort: (says: Port, port: number) => void
  readonly see: (says: Says, name: string, value: unknown, rule: string) => void
  readonly seeText: (text: string) => void
  /** What a format says outranks all else. */
  readonly set: (action: Action, rule: string, saw: string) => void
  readonly emit: () => Action
  readonly rule: () => string
  /** The word or number that told it; empty where nothing did. */
  readonly saw: () => string
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

export const createActionFinder = (): ActionFinder => {
  let action: Action = 'unknown'
  let best = none
  let rule = ''
  let saw = ''
  let isLogin = false
  let outcome: Action = 'unknown'
  let outcomeRule = ''
  let outcomeSaw = ''
  let localPort = 0
  let remotePort = 0
  let way: 'in' | 'out' | undefined
  const take = (said: Action, rank: number, by: string, word: string): void => {
    if (said === 'unknown') return
    // A session that was let through and then stopped (`action=close utmaction=block`) was stopped.
    if (rank >= best && !(said === 'blocked' && action === 'allowed' && rank <= 2 && best > 0)) return
    action = said
    rule = by
    saw = word
    best = Math.min(rank, best)
  }
  const seeFlag = (name: string, value: unknown, by: string): void => {
    const yes = value === true || value === 'true' || value === 'yes' || value === 1 || value === '1'
    if (!yes && value !== false && value !== 'false' && value !== 'no' && value !== 0 && value !== '0') return
    if (/succe|authenticated/i.test(name)) {
      outcome = yes ? 'allowed' : 'blocked'
      outcomeRule = by
      outcomeSaw = String(value)
    } else take(yes === /allow|permit|grant/i.test(name) ? 'allowed' : 'blocked', ranks.flag, by, String(value))
  }
  const seeWord = (says: Says, value: string, by: string): void => {
    const said = sayingOf(value)
    if (said.isLogin) isLogin = true
    // `login_failed` tells both; `action=login status=failed` what was tried, and how it went.
    if (said.outcome !== 'unknown' && (said.isLogin || (outcome === 'unknown' && says !== 'name'))) {
      outcome = said.outcome
      outcomeRule = by
      outcomeSaw = value
    }
    if (says !== 'name' && !(said.isCommon && ranks[says] >= 3)) take(said.action, ranks[says], by, value)
  }
  return {
    reset: () => {
      action = 'unknown'
      best = none
      rule = ''
      saw = ''
      isLogin = false
      outcome = 'unknown'
      outcomeRule = ''
      outcomeSaw = ''
      localPort = 0
      remotePort = 0
      way = undefined
    },
    wants: (says) => ranks[says] <= 2 || ranks[says] < best || ranks[says] === 9,
    seePort: (says, port) => {
      if (says === 'localPort') localPort = port
      else if (says === 'remotePort') remotePort = port
    },
    see: (says, name, value, by) => {
      if (says === 'direction') {
        if (typeof value === 'string') way = ways.get(value.toLowerCase()) ?? way
      } else if (ranks[says] >= best && ranks[says] > 2) return
      else if (says === 'id') take(windowsEvents.get(String(value)) ?? 'unknown', ranks.id, by, String(value))
      else if (says === 'flag') seeFlag(name, value, by)
      else if (typeof value === 'string') seeWord(says, value, by)
      else if (Array.isArray(value))
        for (const item of value.slice(0, 8))
          if (typeof item === 'string') take(sayingOf(item).action, ranks[says], by, item)
    },
    seeText: (text) => {
      if (best <= textRank) return
      const told = actionOfText(text)
      take(told.action, textRank, told.rule, told.saw)
    },
    set: (said, by, word) => {
      take(said, 0, by, word)
    },
    emit: () => (action === 'unknown' && isLogin ? outcome : action),
    rule: () => (action === 'unknown' && isLogin ? outcomeRule : rule),
    saw: () => (action === 'unknown' && isLogin ? outcomeSaw : saw),
    isLocalFirst: () =>
      way === 'out' || (way === undefined && remotePort > 0 && localPort > 1023 && localPort > remotePort),
  }
}
