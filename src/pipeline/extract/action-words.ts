// The table of action words: which action a field's value names, whether it names a login, and how that login ended.
import { createBoundedCache, ownText } from '../../base/bounded-cache.js'
import type { Action } from '../../domain/sighting.js'
import { setOf, table } from './characters.js'
import { actionOfForeign } from './languages.js'
import { senseInName, senseOf } from './verb-sense.js'

type ActionWord = {
  readonly action: Action
  /** Too common to mean traffic, unless the field is named after the action. */
  readonly isCommon: boolean
  readonly isLogin: boolean
  /** A login, and not the connection or session of something else. */
  readonly isAuthentication: boolean
  /** Success or failure alone; it becomes the action only if the event is a login. */
  readonly outcome: Action
  /** Which end began the connection: `out` is the local one. */
  readonly way: 'in' | 'out' | undefined
}

const verbs = table<'allowed' | 'blocked'>(
  [
    'allowed',
    `allow allowed allows accept accepted accepts permit permitted permits pass passed passes passthrough pass-through granted grant forward forwarded
     bypass bypassed decrypt encrypt close client-rst server-rst timeout start ip-conn alert monitor monitored authorized authorize allow_listed
     trusted proxied observed tunnel tunneled tcp_hit tcp_miss tcp_tunnel tcp_mem_hit continue override allowlist whitelisted whitelist established
     delivered deliver relayed noaction no_action not_blocked notblocked a ok logged log_only trust fastpath open opened success succeeded
     decoded exempted exempt flow_session_create release released built`,
  ],
  [
    'blocked',
    `deny denied denies drop dropped drops block blocked blocks reject rejected rejects refuse refused discard discarded prevent prevented
     reset reset-both reset-client reset-server reset_both tcp_reset tcp-reset tcp_denied dropall
     quarantine quarantined kill killed disallow disallowed forbid forbidden sinkhole sinkholed tarpit tarpitted blacklist blacklisted blocklist
     syncookie-sent banned ban terminated terminate shun shunned bounced
     not-allowed unauthorized challenge managed_challenge jschallenge js_challenge captcha d r`,
  ],
)
const common = setOf(
  `a d r ok start open opened close timeout success succeeded alert established release released log logged terminate terminated
   decoded tunnel deliver continue override reset whitelist blacklist blocklist allowlist`,
)

/** Longer values are not looked up. */
export const longestSaying = 64
const cached = createBoundedCache<string, ActionWord>(1024)
const nothing: ActionWord = {
  action: 'unknown',
  isCommon: false,
  isLogin: false,
  isAuthentication: false,
  outcome: 'unknown',
  way: undefined,
}

/** Numbers and unlisted words are `unknown`. */
export const actionWordOf = (value: string): ActionWord => {
  if (value.length === 0 || value.length > longestSaying) return nothing
  const known = cached.get(value)
  if (known !== undefined) return known
  // Splits `allowedOnNoPolicyMatch` and `ADFSSignInLogs` into words.
  const verb = value
    .trim()
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
  const isLogin = login.test(verb) && !logout.test(verb)
  const saying: ActionWord = {
    action: readVerb(verb),
    isCommon: common.has(verb),
    isLogin,
    isAuthentication: isLogin && !otherSession.test(verb),
    outcome: readOutcome(verb),
    way: wayOfVerb(verb.replaceAll('_', ' ')),
  }
  cached.set(ownText(value), saying)
  return saying
}

/** Whether the name of an event means a login or a login attempt. */
export const isAuthentication = (value: string): boolean => actionWordOf(value).isAuthentication

/** `BAD_CREDENTIALS` counts: only a login presents credentials. */
const login =
  /(?<![a-z])(?:(?:bad|invalid|wrong|incorrect|failed|expired)[ _-](?:(?:user(?:name)?|email)[ _-](?:or )?)?(?:password|passwd|credentials?|otp|pin)|log[ _-]?[io]n|logged[ _-]?[io]n|sign(?:ed)?[ _-]?[io]n|auth(?:n|entication|enticated?)?|session[ ._]start(?:ed)?|connection[ _-]attempt|sso|mfa|2fa)(?![a-z])/
/** `session_start` is a firewall's; `user.session.start` is a login. */
const otherSession = /connection[ _-]attempt|^(?!.*(?:user|log|auth)).*session[ ._]start/
const logout = /log(?:ged)?[ _-]?(?:out|off)|sign(?:ed)?[ _-]?(?:out|off)|session[ ._]end/
const failure =
  /(?<![a-z])(?:fail(?:ed|ure|s)?|unsuccessful|invalid|incorrect|wrong|bad|error|locked|expired|fraud)(?![a-z])/
const success = /(?<![a-z])(?:success(?:ful(?:ly)?)?|succeed(?:ed|s)?|ok|passed|no[ _-]?errors?)(?![a-z])/

/** The first word of the outcome decides; a negation before it turns success into failure. */
const readOutcome = (verb: string): Action => {
  const good = success.exec(verb)
  const bad = failure.exec(verb)
  if (!good || (bad && bad.index < good.index)) return bad ? 'blocked' : 'unknown'
  return senseOf(verb.replace(/[_-]/g, ' '), good.index, good.index + good[0].length) === 'opposite'
    ? 'blocked'
    : 'allowed'
}

const readVerb = (verb: string): Action => {
  const exact = verbs.get(verb) ?? verbs.get(verb.replaceAll(' ', '_'))
  if (exact) return exact
  if (/\b(?:would|could(?! not)|to be)\b/.test(verb)) return 'unknown'
  let found: Action = 'unknown'
  const plain = verb.replace(/[^a-z']+/g, ' ')
  for (const { 0: part, index } of plain.matchAll(/[a-z]+/g)) {
    const said = part.length > 2 && !common.has(part) ? verbs.get(part) : undefined
    if (!said) continue
    const sense = senseInName(plain, index, index + part.length)
    if (sense === 'doubtful') continue
    if ((said === 'blocked') === (sense === 'done')) return 'blocked'
    found = 'allowed'
  }
  return found === 'unknown' ? actionOfForeign(verb) : found
}

/** Direction words such as `outbound`, `Egress` and `in`, as seen by the machine that logged the event. */
export const ways = table<'in' | 'out'>(
  ['out', 'out outbound outgoing egress o client-to-server upload sent'],
  ['in', 'in inbound incoming ingress i server-to-client download received'],
)

/** Which end began: `NetworkConnect` is `out`, `InboundConnectionAccepted` is `in`. A bare `connected` may be either. */
export const wayOfVerb = (verb: string): 'in' | 'out' | undefined => (mayTellWay.test(verb) ? wayIn(verb) : undefined)
const mayTellWay = /connect|accept|listen|bound|incoming|dial|outgoing/i
const wayIn = (verb: string): 'in' | 'out' | undefined =>
  /\b(?:accept(?:s|ed|ing)?|listen(?:s|ed|ing)?|inbound|incoming)\b/i.test(verb)
    ? 'in'
    : /\b(?:connect(?:s|ing)?|connected to|dial(?:s|ing|ed)?|outbound|outgoing|connection (?:attempt|request|success))\b/i.test(
          verb,
        )
      ? 'out'
      : undefined

/** Windows event ids of logins and of connections that were allowed or blocked. */
export const windowsEvents = table<Action>(
  ['allowed', '1149 4624 4648 4778 5154 5156 5158 6272'],
  ['blocked', '4625 4771 5150 5151 5152 5153 5155 5157 5159 6273'],
)
