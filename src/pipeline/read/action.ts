// Tells from a product's verb, or from a line of text beside it, whether the traffic was let through.
import { ownText } from '../../domain/own-text.js'
import type { Action } from '../../domain/sighting.js'
import { actionOfText } from './action-text.js'
import { words } from './words.js'

const verbs = new Map<string, 'allowed' | 'blocked'>([
  ...words(
    `allow allowed allows accept accepted accepts permit permitted permits pass passed passes passthrough pass-through granted grant forward forwarded
     bypass bypassed decrypt encrypt close client-rst server-rst timeout start ip-conn alert monitor monitored authorized authorize allow_listed
     trusted proxied observed tunnel tunneled tcp_hit tcp_miss tcp_tunnel tcp_mem_hit continue override allowlist whitelisted whitelist established
     delivered deliver relayed noaction no_action not_blocked notblocked a ok logged log_only trust fastpath open opened success succeeded dns_allowed
     default-allow allow-all permit-all decoded exempted exempt accept-allowed allowed_by_policy session-created flow_session_create release released`,
  ).map((verb): [string, 'allowed'] => [verb, 'allowed']),
  ...words(
    `deny denied denies drop dropped drops block blocked blocks reject rejected rejects refuse refused discard discarded prevent prevented
     reset reset-both reset-client reset-server reset_both tcp_reset tcp-reset tcp_denied block-url block-ip block-continue drop-icmp drop-packet drop_all dropall
     quarantine quarantined kill killed disallow disallowed forbid forbidden sinkhole sinkholed tarpit tarpitted blacklist blacklisted blocklist blocked_by_policy
     dos-drop random-drop syncookie-sent banned ban would_block_not terminated terminate reject-both shun shunned denied_by_policy flow_session_deny deleted bounced
     policy-denied access-denied not-allowed challenge managed_challenge jschallenge js_challenge captcha connection_drop rejected_by_policy override-blocked d r`,
  ).map((verb): [string, 'blocked'] => [verb, 'blocked']),
])

/** Verbs are few, but the values come from events: the memory is emptied when full. */
const maxRemembered = 2048
const remembered = new Map<string, Action>()

/** The value of a field that holds an action; numbers and words that say neither are unknown. */
export const actionOfVerb = (value: string): Action => {
  if (value.length === 0 || value.length > 64) return 'unknown'
  const known = remembered.get(value)
  if (known !== undefined) return known
  if (remembered.size >= maxRemembered) remembered.clear()
  const action = readVerb(value)
  remembered.set(ownText(value), action)
  return action
}

const readVerb = (value: string): Action => {
  // `allowedOnNoPolicyMatch` is several words.
  const verb = value
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  const exact = verbs.get(verb) ?? verbs.get(verb.replaceAll(' ', '_'))
  if (exact) return exact
  if (/\b(?:would|could|to be)\b/.test(verb)) return 'unknown'
  if (/\bnot[ _-]?(blocked|denied|dropped)\b/.test(verb)) return 'allowed'
  if (/\bnot[ _-]?(allowed|permitted|accepted)\b/.test(verb)) return 'blocked'
  let found: Action = 'unknown'
  for (const part of verb.split(/[^a-z]+/)) {
    const said = part.length > 2 && !strictOnly.test(part) ? verbs.get(part) : undefined
    if (said === 'blocked') return 'blocked'
    if (said) found = said
  }
  return found
}

/** No action, but beside it: the ports of `local` and `remote` tell which of the two began. */
export const portRank = 6

/** Names without case and separators; the first rank that says something wins. */
const actionFields = new Map<string, number>([
  ...words(
    'action act requeststatus deviceaction dvcaction policyaction fwaction firewallaction disposition verdict blockaction finalaction actiontaken actionresult waction winaction response_action threataction accesscontrolruleaction filteraction decision',
  ).map((name): [string, number] => [name, 1]),
  ...words(
    'utmaction ruleaction securityaction accessaction eventaction actionname sactiont saction sc_filter_result scfilterresult csaction resultaction ruleresult requestaction httpaction dnsaction responseaction logaction outcomeaction enforcementaction',
  ).map((name): [string, number] => [name, 2]),
  ...words(
    'status result blockreason event eventtype type outcome logsubtype subtype fwruleaction category msg eventname operation operationname',
  ).map((name): [string, number] => [name, 3]),
  ...words('localport remoteport').map((name): [string, number] => [name, portRank]),
  ...words('blocked dropped denied rejected allowed permitted granted').map((name): [string, number] => [name, 4]),
])

/** 0 where the field says nothing about an action; 4 for a field that is a yes or no by its name. */
export const actionRank = (name: string): number => {
  const known = ranks.get(name)
  if (known !== undefined) return known
  const compact = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  const rank =
    actionFields.get(compact) ??
    (/(?:local|remote)port$/.test(compact)
      ? portRank
      : /(?:action|actiontaken|decision|disposition|verdict)$/.test(compact) && !otherAction.test(compact)
        ? 2
        : 0)
  if (ranks.size >= maxRemembered) ranks.clear()
  if (name.length < longestName) ranks.set(ownText(name), rank)
  return rank
}
/** What might be done, or something else altogether. */
const otherAction =
  /^(?:re|f)action$|(?:trans|inter|extr?|infr|default|recommended|suggested|requested|next|expected|possible)action$|(?:fr|extr)action$/
const ranks = new Map<string, number>()
const longestName = 200

/** Words too common to mean traffic unless the field is named after the action. */
const strictOnly =
  /^(?:a|d|r|ok|start|open|opened|close|timeout|success|succeeded|alert|established|deleted|release|released|log|logged|terminate[d]?|decoded|tunnel|deliver(?:ed)?|continue|override|reset)$/i

const login = /^(?:log[ -]?[io]n|logon|auth(?:entication|enticate)?)$/i
const outcome = /^(?:fail(?:ed|ure)?|success(?:ful)?|succeeded)$/i

export type ActionFinder = {
  /** Forgets the event before. */
  readonly reset: () => void
  readonly see: (rank: number, name: string, value: unknown) => void
  readonly seeText: (text: string) => void
  readonly tell: () => Action
  /** The local end has the port of one who connects, the remote end that of a service. */
  readonly isLocalFirst: () => boolean
}

export const createActionFinder = (): ActionFinder => {
  let action: Action = 'unknown'
  let isLogin = false
  let loginOutcome: Action = 'unknown'
  let best = 9
  let localPort = 0
  let remotePort = 0
  const take = (said: Action, rank: number): void => {
    if (said === 'unknown') return
    // A session that was let through and then stopped (`action=close utmaction=block`) was stopped.
    if (rank >= best && !(said === 'blocked' && action === 'allowed' && rank <= 2)) return
    action = said
    best = Math.min(rank, best)
  }
  /** `action=login status=failed`: what was tried, and how it went. */
  const seeLogin = (rank: number, value: string): void => {
    const first = value.charCodeAt(0) | 0x20
    if (rank === 3) {
      if ((first === 0x66 || first === 0x73) && outcome.test(value))
        loginOutcome = first === 0x66 ? 'blocked' : 'allowed'
    } else if ((first === 0x61 || first === 0x6c) && login.test(value)) isLogin = true
  }
  return {
    reset: () => {
      action = 'unknown'
      isLogin = false
      loginOutcome = 'unknown'
      best = 9
      localPort = 0
      remotePort = 0
    },
    see: (rank, name, value) => {
      if (rank === portRank) {
        const port = typeof value === 'number' || typeof value === 'string' ? Number(value) : 0
        if (/local/i.test(name)) localPort = port
        else remotePort = port
        return
      }
      if (rank >= best && rank > 2) return
      if (rank === 4) {
        const yes = value === true || value === 'true' || value === 'yes' || value === 1 || value === '1'
        const no = value === false || value === 'false' || value === 'no' || value === 0 || value === '0'
        if (!yes && !no) return
        const isAllowed = /allow|permit|grant/i.test(name)
        take(yes === isAllowed ? 'allowed' : 'blocked', rank)
        return
      }
      if (Array.isArray(value)) {
        for (const item of value.slice(0, 8)) if (typeof item === 'string') take(actionOfVerb(item), rank)
        return
      }
      if (typeof value !== 'string') return
      const said = actionOfVerb(value)
      if (said === 'unknown' || rank === 3) seeLogin(rank, value)
      if (said === 'unknown' || (rank === 3 && strictOnly.test(value))) return
      take(said, rank)
    },
    seeText: (text) => {
      if (best > 5) take(actionOfText(text), 5)
    },
    tell: () => (action === 'unknown' && isLogin ? loginOutcome : action),
    isLocalFirst: () => remotePort > 0 && localPort > 1023 && localPort > remotePort,
  }
}
