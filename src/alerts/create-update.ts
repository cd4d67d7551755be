// Builds an update about the matches suppressed in an alert's group, with their users and sources, as a pure function.
import { createHash } from 'node:crypto'
import { type Alert, type AlertBody, alertHead, isoTime } from './alert.js'
import { threatIndicator } from '../domain/ecs-indicator.js'
import { attackOf } from './attack-tags.js'
import { harmless } from './create-alert.js'
import type { Held, Window } from './window.js'

export type AlertUpdate = Omit<Alert, 'threatweave'> & { readonly threatweave: UpdateBody }

type UpdateBody = AlertBody & {
  readonly kind: 'update'
  readonly first_seen: string
  readonly last_seen: string
  readonly users?: readonly string[]
  readonly users_omitted?: number
  readonly sources?: readonly string[]
  readonly sources_omitted?: number
}

const maxShown = 16

export const createUpdate = ({ rule, groupId, shown }: Window, held: Held): AlertUpdate => {
  const { first, last, count } = held
  // Another partition with the same window sends an update of its own.
  const id = hash(`update\0${groupId}\0${first.origin}`)
  const users = [...held.users].map(harmless)
  const sources = [...held.sources].map(harmless)
  const peers = [...held.peers].map(harmless)
  const { status, verdict, score, threat_class, type, value, role, direction, action, source } = shown
  const { categories, country, as, feed, entry } = shown
  const whose = `${count === 1 ? 'match' : 'matches'}${byWhom(users, sources)}`
  const summary = `${count} more ${whose} since the alert: ${harmless(shown.summary)}`
  const attack = attackOf(rule.tags)
  const threat = { ...attack, ...(value !== undefined && { indicator: threatIndicator(type, value, source) }) }
  const head = alertHead(rule, id, last.time, summary)
  return {
    ...head,
    event: { ...head.event, ...(score !== undefined && { risk_score: score }) },
    ...(Object.keys(threat).length > 0 && { threat }),
    ...(value !== undefined && { threat_match_value: value }),
    threatweave: {
      schema_version: 1,
      alert_id: id,
      kind: 'update',
      group_id: groupId,
      level: rule.level,
      origin: first.origin,
      origins: first.origin === last.origin ? [first.origin] : [first.origin, last.origin],
      count,
      first_seen: isoTime(Math.min(first.time, last.time)),
      last_seen: isoTime(Math.max(first.time, last.time)),
      ...(users.length > 0 && { users: users.slice(0, maxShown) }),
      ...(users.length > maxShown && { users_omitted: users.length - maxShown }),
      ...(sources.length > 0 && { sources: sources.slice(0, maxShown) }),
      ...(sources.length > maxShown && { sources_omitted: sources.length - maxShown }),
      ...(peers.length > 0 && { peers: peers.slice(0, maxShown) }),
      ...(peers.length > maxShown && { peers_omitted: peers.length - maxShown }),
      status,
      verdict,
      ...(score !== undefined && { score }),
      ...(threat_class !== undefined && { threat_class }),
      ...(type !== undefined && { type }),
      ...(value !== undefined && { value }),
      ...(role !== undefined && { role }),
      direction,
      action,
      summary,
      ...(categories !== undefined && { categories }),
      ...(country !== undefined && { country }),
      ...(as !== undefined && { as }),
      ...(source !== undefined && { source }),
      ...(feed !== undefined && { feed }),
      ...(entry !== undefined && { entry }),
      matched: [],
    },
  }
}

const byWhom = (users: readonly string[], sources: readonly string[]): string => {
  const named = [
    ...(users.length > 0 ? [`${users.length} ${users.length === 1 ? 'user' : 'users'}`] : []),
    ...(sources.length > 0 ? [`${sources.length} ${sources.length === 1 ? 'source' : 'sources'}`] : []),
  ]
  return named.length > 0 ? ` by ${named.join(' and ')}` : ''
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32)
