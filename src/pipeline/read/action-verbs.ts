// What a value says of an action: the product's verb, and whether it tells of somebody who logs in and how that went.
import { ownText } from '../../domain/own-text.js'
import type { Action } from '../../domain/sighting.js'
import { actionOfForeign } from './foreign-verbs.js'
import { words } from './words.js'

export type Saying = {
  readonly action: Action
  /** Too common a word to mean traffic unless the field is named after the action. */
  readonly isCommon: boolean
  readonly isLogin: boolean
  /** How it went, where that is all it says: it takes a login to make it an action. */
  readonly outcome: Action
}

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

/** Values are few, but they come from events: the memory is emptied when full. */
const maxRemembered = 2048
/** What is longer says nothing of an action. */
export const longestSaying = 64
const remembered = new Map<string, Saying>()
const nothing: Saying = { action: 'unknown', isCommon: false, isLogin: false, outcome: 'unknown' }

/** Numbers and words that say neither are unknown. */
export const sayingOf = (value: string): Saying => {
  if (value.length === 0 || value.length > longestSaying) return nothing
  const known = remembered.get(value)
  if (known !== undefined) return known
  if (remembered.size >= maxRemembered) remembered.clear()
  // `allowedOnNoPolicyMatch`, `ADFSSignInLogs` are several words.
  const verb = value
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  const saying: Saying = {
    action: readVerb(verb),
    isCommon: common.test(verb),
    isLogin: (login.test(verb) && !logout.test(verb)) || badSecret.test(verb),
    outcome: success.test(verb) ? 'allowed' : failure.test(verb) ? 'blocked' : 'unknown',
  }
  remembered.set(ownText(value), saying)
  return saying
}

const login =
  /(?<![a-z])(?:log[ _-]?[io]n|logged[ _-]?[io]n|sign(?:ed)?[ _-]?[io]n|auth(?:n|entication|enticated?)?|session[ ._]start(?:ed)?|connection[ _-]attempt|sso|mfa|2fa)(?![a-z])/
const logout = /log(?:ged)?[ _-]?(?:out|off)|sign(?:ed)?[ _-]?(?:out|off)|session[ ._]end/
const failure =
  /(?<![a-z])(?:fail(?:ed|ure|s)?|unsuccessful|not successful|invalid|incorrect|wrong|bad|error|locked|expired)(?![a-z])/
const success = /(?<![a-z])(?<!not )(?:success(?:ful(?:ly)?)?|succeeded|ok|passed|no[ _-]?errors?)(?![a-z])/
/** `BAD_CREDENTIALS`: only who wants to come in shows any. */
const badSecret =
  /(?<![a-z])(?:bad|invalid|wrong|incorrect|failed|expired)[ _-](?:user(?:name)?[ _-])?(?:password|passwd|credentials?|otp|pin)(?![a-z])/

const readVerb = (verb: string): Action => {
  const exact = verbs.get(verb) ?? verbs.get(verb.replaceAll(' ', '_'))
  if (exact) return exact
  if (/\b(?:would|could|to be)\b/.test(verb)) return 'unknown'
  if (/\bnot[ _-]?(blocked|denied|dropped)\b/.test(verb)) return 'allowed'
  if (/\bnot[ _-]?(allowed|permitted|accepted)\b/.test(verb)) return 'blocked'
  let found: Action = 'unknown'
  for (const part of verb.split(/[^a-z]+/)) {
    const said = part.length > 2 && !common.test(part) ? verbs.get(part) : undefined
    if (said === 'blocked') return 'blocked'
    if (said) found = said
  }
  return found === 'unknown' ? actionOfForeign(verb) : found
}

const common =
  /^(?:a|d|r|ok|start|open|opened|close|timeout|success|succeeded|alert|established|deleted|release|released|log|logged|terminate[d]?|decoded|tunnel|deliver|continue|override|reset)$/

/** `outbound`, `Egress`, `in`. */
export const wayOf = (value: string): 'in' | 'out' | undefined => ways.get(value.toLowerCase())
const ways = new Map<string, 'in' | 'out'>([
  ...words('out outbound outgoing egress o client-to-server upload sent').map((way): [string, 'out'] => [way, 'out']),
  ...words('in inbound incoming ingress i server-to-client download received').map((way): [string, 'in'] => [
    way,
    'in',
  ]),
])
