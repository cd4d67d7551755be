// Tells from a line that has none of the usual verbs whether a login went well, or what another language says of it.
import type { Action } from '../../domain/sighting.js'
import { actionOfForeignLine } from './foreign-verbs.js'

const failed =
  /\blog ?[io]n[ -]?(?:fail|incorrect|error|unsuccess|invalid|refus)|\b(?:log[io]n|authentication)\b.{0,160}\b(?:failed|failure|incorrect|unsuccessful)\b|\bauth[a-z]{0,14}[ _-]?(?:fail|error|unsuccess|reject)|\b(?:incorrect|invalid|wrong|bad)[ _](?:user ?name|user|password|credentials?|log[io]n)\b|\bpassword (?:mismatch|incorrect|invalid)|\binvalid auth|\b(?:password|credentials?|user ?name) (?:is|are|was|were) (?:incorrect|invalid|wrong)/i
const went =
  /\blog[io]n[ -]?(?:success|succeed|ok\b)|(?<!not |never )\blogged [io]n\b|\bauth[a-z]{0,14}[ _-]?(?:succe|ok\b)|\b(?:log[io]n|authentication)\b.{0,160}\bsucce|\bsuccess(?:ful|fully)? (?:log|auth)|\bsigned in\b.{0,80}\bsuccess/i
/** Lines that tell of a login at all are few; to look for parts of words is cheaper than to weigh them. */
const mayBeLogin = /og[io]n|ogged|og in|igned in|uth|assw|nvalid|redential|LOG[IO]N|AUTH|PASSW/

export const actionOfLogin = (text: string): Action => {
  if (mayBeLogin.test(text)) {
    if (failed.test(text)) return 'blocked'
    if (went.test(text)) return 'allowed'
  }
  return actionOfForeignLine(text)
}
