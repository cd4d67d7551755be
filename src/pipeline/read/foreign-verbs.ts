// Knows what other languages call what was done to traffic.
import type { Action } from '../../domain/sighting.js'
import { isAscii } from './foreign-ends.js'

/** Chinese, Japanese, Korean, Russian, and what has letters that English has not. */
const blocked =
  /拒绝|丢弃|阻断|阻止|拦截|禁止|封禁|拒否|遮断|破棄|차단|거부|폐기|запрещ|заблокир|отклон|отброш|(?:refus|bloqu|rejet|interdit)é/i
const allowed = /允许|放行|許可|허용|разреш|пропущен|autorisé|accepté/i

/** Whole words that no English text has. */
const latin =
  /\b(?:(gescheitert|fehlgeschlagen|abgelehnt|verworfen|blockiert|verweigert|denegad[oa]|bloquead[oa]|rechazad[oa]|descartad[oa]|bloccat[oa]|geweigerd|geblokkeerd|zablokowan[oya]|engellendi)|erlaubt|zugelassen|permitid[oa]|aceptad[oa]|consentit[oa]|toegestaan)\b/i

/** The value of a field. */
export const actionOfForeign = (value: string): Action => {
  if (blocked.test(value)) return 'blocked'
  if (allowed.test(value)) return 'allowed'
  const word = latin.exec(value)
  return word === null ? 'unknown' : word[1] === undefined ? 'allowed' : 'blocked'
}

/** A line, where some letter or small word shows that it is not English: most are, and are not searched. */
export const actionOfForeignLine = (text: string): Action =>
  isAscii(text) && !smallWord.test(text) ? 'unknown' : actionOfForeign(text)
const smallWord = / (?:vo[nm]|desde|hacia|depuis|para|naar) /
