// Tells from the words of a line whether the traffic or the login was allowed or blocked.
import type { Action } from '../../domain/sighting.js'
import { actionOfForeignLine } from './languages.js'
import { senseOf } from './verb-sense.js'

/** Verbs of an action: a match with a group is blocked, any other is allowed. One expression finds the first of both in one pass. */
const verb =
  /(?:\b(?<![-/.])(?:permit(?:ted|s)?|access-accept|allow(?:ed|s)?|accept(?:ed|s)?(?! header)|pass(?:ed)?|granted|session create(?:d)?|apptrack[ _]session[ _][a-z_]{1,40}|flow session close|log[io]n_(?:allowed|accepted|ok)|(?:log[io]n|authentication)[ _]succe(?:ss|ssful|ssfully|eded)|(?:authenticated|logged [io]n) successfully|(?<!not |never )logged [io]n(?<=user\b.{0,60}\blogged [io]n)|success(?:ful|fully) (?:log(?:in|on|ged)|authenticat(?:ed|ion))|(den(?:y|ied|ies|ying)|drop(?:ped|ping|s)?|block(?:ed|ing)?|reject(?:ed|ing|s)?|refused|discard(?:ed|ing|s)?|not (?:allowed|permitted|authorized)|unauthorized|disallow(?:ed)?|forbidden|prevented|quarantined|blacklisted|shunned|terminating (?:the (?:vpn )?)?connection|session terminated|no matching connection|failed password|failed[ _]log[io]n|log[io]n[ _](?:failed|denied|rejected)|authentication (?:has )?fail(?:ed|ure)|unsuccessful(?:ly)?(?: to)? (?:log ?[io]n|auth[a-z]{0,16}|attempt)|failed authentication|(?:authentication|log[io]n) attempt .{0,80}\bfailed|(?:fail(?:ed|ure|s)?|unable) to (?:authenticate|(?:log|sign)[ -]?[io]n)|session deny|access-reject|ban(?:ned)?))|\best-allowed)\b(?![-/])/gi
/** Overrides an allowing verb that comes earlier in the line. */
const notAllowed = /\b(?<![-/.])not (?:allowed|permitted|authorized)\b(?![-/])/i

/** A match with a group is blocked, any other is allowed. `may` is a cheaper test that runs first. */
type ActionRule = { readonly id: string; readonly words: RegExp; readonly may: RegExp }

/** Tried in order when none of the usual verbs is in the line; the first match wins. */
const rest: readonly ActionRule[] = [
  // `RT_FLOW_SESSION_DENY`, `%%01POLICY/6/POLICYDENY`, `DROP_INPUT`; names of rules can look the same.
  {
    id: 'text:code',
    may: /[A-Z]_|\/\d\/[A-Z]|^\[\w+_/,
    words:
      /(?:[A-Z]_|\/\d\/[A-Z]{0,32})(?:(DEN(?:Y|IED)|DROP(?:PED)?|BLOCK(?:ED)?|REJECT(?:ED)?)|(?:PERMIT|ALLOW|ACCEPT|ADMIT)(?:T?ED)?)\b|\b(DENY|DROP|BLOCK|REJECT)_[A-Z]|^\[\w{1,24}_(?:(deny|drop|block|reject)|allow|permit|accept|pass)\]/,
  },
  // One letter: EdgeOS and UniFi (`WAN_IN-3001-D]`), Junos (`FW: ge-0/0/0.0 D `), IP Filter (`@0:3 b 192.0.2.1,`), Azure (`,T,I,D`).
  {
    id: 'text:letter',
    may: /-[ADR]\]|FW: | @|,[IO],[AD]/,
    words:
      /-(?:\d{1,6}|default)-(?:([DR])|A)\]|\bFW: \S{2,40} +(?:([DR])|A) | @\S{1,40} (?:(b)|p) [\d.]{7,15}[, ]|,[TU],[IO],(?:(D)|A)(?:,|$)/,
  },
  // Few lines mention a login, so the cheap test skips most of them.
  {
    id: 'text:login',
    may: /og ?[io]n|og?ged|ign(?:ed)?[ -]?[io]n|uth|assw|redential|LOG[IO]N|AUTH/,
    words:
      /(\b(?:log ?[io]n|auth[a-z]{0,14})[ _-]?(?:fail|error)|\b(?:log[io]n|auth[a-z]{0,14})\b.{0,160}\b(?:failed|failure|incorrect|unsuccessful)\b|\b(?:incorrect|invalid|wrong|bad)[ _](?:user ?name|user|password|credentials?|log[io]n)\b|(?:\b(?:not|never|cannot)|n't) (?:authenticate|(?:log|sign)[ -]?[io]n)\b|\bpassword (?:is )?(?:incorrect|invalid|wrong))|(?<!not |never )\b(?:logged|signed) [io]n\b|\blog[io]nsucce|\bsucce(?<=\b(?:log[io]n|auth[a-z]{0,14})\b.{0,160}\bsucce)|\bsuccess(?:ful|fully)? (?:log|auth)/i,
  },
]

export type ActionFound = { readonly action: Action; readonly rule: string; readonly saw: string }
export const nothing: ActionFound = { action: 'unknown', rule: '', saw: '' }

/** Limit on the verbs tried per line. */
const mostTries = 8

/** The first verb of a line is the action; the rest of the line is the reason. */
export const actionOfText = (text: string): ActionFound => {
  const head = text.length > 600 ? text.slice(0, 600) : text
  verb.lastIndex = 0
  for (let tries = 0, found = verb.exec(head); found && tries < mostTries; tries++, found = verb.exec(head)) {
    const blocked = found[1] === undefined ? notAllowed.exec(head) : found
    const deed = blocked ? said('blocked', 'text:blocked', blocked) : said('allowed', 'text:allowed', found)
    if (deed) return deed
  }
  for (const { id, words, may } of rest) {
    const matched = may.test(head) ? words.exec(head) : null
    if (!matched) continue
    const isBlocked = matched.slice(1).some((group: string | undefined) => group !== undefined)
    const deed = said(isBlocked ? 'blocked' : 'allowed', id, matched)
    if (deed) return deed
  }
  const foreign = actionOfForeignLine(head)
  return foreign === 'unknown' ? nothing : { action: foreign, rule: 'language:action', saw: '' }
}

/** Reads a match in its context: `not accepted` is blocked, and `maximum allowed` is no action. */
const said = (
  action: 'allowed' | 'blocked',
  rule: string,
  { 0: saw, index, input }: RegExpExecArray,
): ActionFound | undefined => {
  const sense = senseOf(input, index, index + saw.length)
  if (sense === 'doubtful') return undefined
  return sense === 'done'
    ? { action, rule, saw }
    : { action: action === 'allowed' ? 'blocked' : 'allowed', rule: 'text:negated', saw }
}
