// Tells from what the fields of an event say, or from a line of text beside them, whether the traffic was let through.
import type { Action } from '../../domain/sighting.js'
import { eventIdRank, nameRank, portRank, wayRank } from './action-fields.js'
import { actionOfText } from './action-text.js'
import { sayingOf, wayOf } from './action-verbs.js'
import { windowsEvents } from './windows-events.js'

export type ActionFinder = {
  /** Forgets the event before. */
  readonly reset: () => void
  /** Whether what such a field says can still change anything. */
  readonly wants: (rank: number) => boolean
  readonly see: (rank: number, name: string, value: unknown) => void
  readonly seeText: (text: string) => void
  readonly tell: () => Action
  /** The local end has the port of one who connects, the remote end that of a service. */
  readonly isLocalFirst: () => boolean
}

const worst = 99

export const createActionFinder = (): ActionFinder => {
  let action: Action = 'unknown'
  let isLogin = false
  let loginOutcome: Action = 'unknown'
  let best = worst
  let localPort = 0
  let remotePort = 0
  let way: 'in' | 'out' | undefined
  const take = (said: Action, rank: number): void => {
    if (said === 'unknown') return
    // A session that was let through and then stopped (`action=close utmaction=block`) was stopped.
    if (rank >= best && !(said === 'blocked' && action === 'allowed' && rank <= 2)) return
    action = said
    best = Math.min(rank, best)
  }
  return {
    reset: () => {
      action = 'unknown'
      isLogin = false
      loginOutcome = 'unknown'
      best = worst
      localPort = 0
      remotePort = 0
      way = undefined
    },
    wants: (rank) => rank <= 2 || rank < best || rank === portRank || rank === wayRank,
    see: (rank, name, value) => {
      if (rank === portRank) {
        const one: unknown = Array.isArray(value) ? value[0] : value
        const port = typeof one === 'number' || typeof one === 'string' ? Number(one) : 0
        if (/local|^lport$/i.test(name)) localPort = port
        else remotePort = port
        return
      }
      if (rank === wayRank) {
        if (typeof value === 'string') way = wayOf(value) ?? way
        return
      }
      if (rank >= best && rank > 2) return
      if (rank === eventIdRank) {
        take((typeof value === 'string' ? windowsEvents.get(value) : undefined) ?? 'unknown', rank)
        return
      }
      if (rank === 4) {
        const yes = value === true || value === 'true' || value === 'yes' || value === 1 || value === '1'
        const no = value === false || value === 'false' || value === 'no' || value === 0 || value === '0'
        if (!yes && !no) return
        if (/succe|authenticated/i.test(name)) {
          loginOutcome = yes ? 'allowed' : 'blocked'
          return
        }
        const isAllowed = /allow|permit|grant/i.test(name)
        take(yes === isAllowed ? 'allowed' : 'blocked', rank)
        return
      }
      if (Array.isArray(value)) {
        for (const item of value.slice(0, 8)) if (typeof item === 'string') take(sayingOf(item).action, rank)
        return
      }
      if (typeof value !== 'string') return
      const said = sayingOf(value)
      if (said.isLogin) isLogin = true
      // `login_failed` tells both; `action=login status=failed` what was tried, and how it went.
      if (said.outcome !== 'unknown' && (said.isLogin || (loginOutcome === 'unknown' && rank !== nameRank)))
        loginOutcome = said.outcome
      if (said.action === 'unknown' || (rank >= 3 && said.isCommon) || rank === nameRank) return
      take(said.action, rank)
    },
    seeText: (text) => {
      if (best > 5) take(actionOfText(text), 5)
    },
    tell: () => (action === 'unknown' && isLogin ? loginOutcome : action),
    isLocalFirst: () =>
      way === 'out' || (way === undefined && remotePort > 0 && localPort > 1023 && localPort > remotePort),
  }
}
