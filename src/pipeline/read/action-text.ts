// Tells from the words of a line whether the traffic, or whoever tried to log in, was let through.
import type { Action } from '../../domain/sighting.js'
import { actionOfForeignLine } from './languages.js'

/** `isFirst`: of these the one that stands first in the line counts: it is what happened, the rest is why. */
type ActionRule = { readonly id: string; readonly action: Action; readonly words: RegExp; readonly may?: RegExp }

const denies = /\bnot (?:be )?(?:blocked|denied|dropped)\b/i
const blocks: ActionRule = {
  id: 'text:blocked',
  action: 'blocked',
  words:
    /(?<![-/.])\b(?:den(?:y|ied|ies|ying)|drop(?:ped|ping|s)?|block(?:ed|ing|s)?|reject(?:ed|ing|s)?|refused|discard(?:ed|ing|s)?|not (?:allowed|permitted|authorized)|unauthorized|disallow(?:ed)?|forbidden|prevented|quarantined|blacklisted|shunned|terminating (?:the (?:vpn )?)?connection|session terminated|no matching connection|failed password|failed[ _]log[io]n|log[io]n[ _](?:failed|denied|rejected)|authentication (?:has )?fail(?:ed|ure)|unsuccessful(?:ly)?(?: to)? (?:log ?[io]n|auth[a-z]{0,16}|attempt)|failed authentication|(?:authentication|log[io]n) attempt .{0,80}\bfailed|fail(?:ed|ure|s) to (?:authenticate|log ?[io]n)|session deny|access-reject|ban(?:ned)?)\b(?![-/])/i,
}
const allows: ActionRule = {
  id: 'text:allowed',
  action: 'allowed',
  words:
    /(?:(?<![-/.])\b(?:permit(?:ted|s)?|access-accept|allow(?:ed|s)?|accept(?:ed|s)?(?! header)|pass(?:ed)?|granted|session create(?:d)?|flow session close|log[io]n_(?:allowed|accepted|ok)|(?:log[io]n|authentication)[ _]succe(?:ss|ssful|ssfully|eded)|(?:authenticated|logged [io]n) successfully|user\b.{0,60}\blogged [io]n|success(?:ful|fully) (?:log(?:in|on|ged)|authenticat(?:ed|ion)))|\best-allowed)\b(?![-/])/i,
}

/** Lines that tell of a login at all are few; to look for parts of words is cheaper than to weigh them. */
const mayBeLogin = /og[io]n|ogged|og in|igned in|uth|assw|nvalid|redential|LOG[IO]N|AUTH|PASSW/
/** Where none of the usual verbs stands in the line, in order; the first that matches tells. */
const rest: readonly ActionRule[] = [
  // `RT_FLOW_SESSION_DENY`, `%%01POLICY/6/POLICYDENY`: names of rules look like this too.
  {
    id: 'text:code',
    action: 'blocked',
    words:
      /(?:[A-Z]_|\/\d\/[A-Z]{0,32})(?:DEN(?:Y|IED)|DROP(?:PED)?|BLOCK(?:ED)?|REJECT(?:ED)?)\b|\b(?:DENY|DROP|BLOCK|REJECT)_[A-Z]|^\[\w{1,24}_(?:deny|drop|block|reject)\]/,
  },
  {
    id: 'text:code',
    action: 'allowed',
    words:
      /(?:[A-Z]_|\/\d\/[A-Z]{0,32})(?:PERMIT|ALLOW|ACCEPT|ADMIT)(?:T?ED)?\b|^\[\w{1,24}_(?:allow|permit|accept|pass)\]/,
  },
  // A letter: EdgeOS and UniFi (`WAN_IN-3001-D]`), Junos (`FW: ge-0/0/0.0 D `), IP Filter (`@0:3 b 192.0.2.1,`).
  {
    id: 'text:letter',
    action: 'blocked',
    words: /-(?:\d{1,6}|default)-[DR]\]|\bFW: \S{2,40} +[DR] | @\S{1,40} b [\d.]{7,15}[, ]/,
  },
  {
    id: 'text:letter',
    action: 'allowed',
    words: /-(?:\d{1,6}|default)-A\]|\bFW: \S{2,40} +A | @\S{1,40} p [\d.]{7,15}[, ]/,
  },
  {
    id: 'text:login',
    action: 'blocked',
    may: mayBeLogin,
    words:
      /\blog ?[io]n[ -]?(?:fail|incorrect|error|unsuccess|invalid|refus)|\b(?:log[io]n|authentication)\b.{0,160}\b(?:failed|failure|incorrect|unsuccessful)\b|\bauth[a-z]{0,14}[ _-]?(?:fail|error|unsuccess|reject)|\b(?:incorrect|invalid|wrong|bad)[ _](?:user ?name|user|password|credentials?|log[io]n)\b|\bpassword (?:mismatch|incorrect|invalid)|\binvalid auth|\b(?:password|credentials?|user ?name) (?:is|are|was|were) (?:incorrect|invalid|wrong)/i,
  },
  {
    id: 'text:login',
    action: 'allowed',
    may: mayBeLogin,
    words:
      /\blog[io]n[ -]?(?:success|succeed|ok\b)|(?<!not |never )\blogged [io]n\b|\bauth[a-z]{0,14}[ _-]?(?:succe|ok\b)|\b(?:log[io]n|authentication)\b.{0,160}\bsucce|\bsuccess(?:ful|fully)? (?:log|auth)|\bsigned in\b.{0,80}\bsuccess/i,
  },
]

export type Told = { readonly action: Action; readonly rule: string }
const nothing: Told = { action: 'unknown', rule: '' }

/** A line of words; what stands first in it is what happened, the rest is why. */
export const actionOfText = (text: string): Told => {
  const head = text.length > 600 ? text.slice(0, 600) : text
  const blocked = blocks.words.exec(head)
  const allowed = allows.words.exec(head)
  if (blocked && denies.test(head)) return { action: 'allowed', rule: allows.id }
  if (blocked && (!allowed || /^not /i.test(blocked[0]) || blocked.index < allowed.index))
    return { action: 'blocked', rule: blocks.id }
  if (allowed) return { action: 'allowed', rule: allows.id }
  for (const { id, action, words, may } of rest)
    if ((may === undefined || may.test(head)) && words.test(head)) return { action, rule: id }
  const foreign = actionOfForeignLine(head)
  return foreign === 'unknown' ? nothing : { action: foreign, rule: 'language:action' }
}
