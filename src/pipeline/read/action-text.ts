// Tells from the words of a line whether the traffic, or whoever tried to log in, was let through.
import type { Action } from '../../domain/sighting.js'
import { actionOfLogin } from './login-text.js'

const blockedText =
  /(?<![-/.])\b(?:den(?:y|ied|ies|ying)|drop(?:ped|ping|s)?|block(?:ed|ing|s)?|reject(?:ed|ing|s)?|refused|discard(?:ed|ing|s)?|not (?:allowed|permitted|authorized)|unauthorized|disallow(?:ed)?|forbidden|prevented|quarantined|blacklisted|shunned|terminating connection|session terminated|no matching connection|failed password|failed[ _]log[io]n|log[io]n[ _](?:failed|denied|rejected)|authentication (?:has )?fail(?:ed|ure)|unsuccessful(?:ly)?(?: to)? (?:log ?[io]n|auth[a-z]{0,16}|attempt)|failed authentication|(?:authentication|log[io]n) attempt .{0,80}\bfailed|fail(?:ed|ure|s) to (?:authenticate|log ?[io]n)|session deny|access-reject|ban(?:ned)?)\b(?![-/])/i
const allowedText =
  /(?:(?<![-/.])\b(?:permit(?:ted|s)?|access-accept|allow(?:ed|s)?|accept(?:ed|s)?(?! header)|pass(?:ed)?|granted|session create(?:d)?|flow session close|log[io]n_(?:allowed|accepted|ok)|(?:log[io]n|authentication)[ _]succe(?:ss|ssful|ssfully|eded)|(?:authenticated|logged [io]n) successfully|user\b.{0,60}\blogged [io]n|success(?:ful|fully) (?:log(?:in|on|ged)|authenticat(?:ed|ion)))|\best-allowed)\b(?![-/])/i
const denies = /\bnot (?:be )?(?:blocked|denied|dropped)\b/i

/** A line of words; what stands first in it is what happened, the rest is why. */
export const actionOfText = (text: string): Action => {
  const head = text.length > 600 ? text.slice(0, 600) : text
  const blocked = blockedText.exec(head)
  const allowed = allowedText.exec(head)
  if (blocked && denies.test(head)) return 'allowed'
  if (blocked && allowed) return /^not /i.test(blocked[0]) || blocked.index < allowed.index ? 'blocked' : 'allowed'
  if (blocked) return 'blocked'
  if (allowed) return 'allowed'
  const mnemonic = mnemonicOf(head)
  return mnemonic === 'unknown' ? actionOfLogin(head) : mnemonic
}

/** `RT_FLOW_SESSION_DENY`, where no other word says it: names of rules look like this too. */
const mnemonic =
  /[A-Z]_(?:(DEN(?:Y|IED)|DROP(?:PED)?|BLOCK(?:ED)?|REJECT(?:ED)?)|PERMIT(?:TED)?|ALLOW(?:ED)?|ACCEPT(?:ED)?|ADMIT(?:TED)?)\b|^\[\w{1,24}_(?:(deny|drop|block|reject)|allow|permit|accept|pass)\]/

/** As IP Filter and what descends from it write it: `@0:3 b 192.0.2.1,4711 -> 198.51.100.1,23`. */
const filtered = / @\S{1,40} ([bp]) [\d.]{7,15}[, ]/

const mnemonicOf = (text: string): Action => {
  const letter = text.includes(' @') ? filtered.exec(text)?.[1] : undefined
  if (letter !== undefined) return letter === 'b' ? 'blocked' : 'allowed'
  const found = text.includes('_') ? mnemonic.exec(text) : null
  return found === null ? 'unknown' : (found[1] ?? found[2]) === undefined ? 'allowed' : 'blocked'
}
