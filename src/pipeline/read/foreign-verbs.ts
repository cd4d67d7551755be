// Knows what other languages call what was done to traffic.
import type { Action } from '../../domain/sighting.js'

/** Chinese, Japanese, Korean, Russian; then what has letters that English has not; then whole words. */
const blocked =
  /拒绝|丢弃|阻断|阻止|拦截|禁止|封禁|拒否|遮断|破棄|차단|거부|폐기|запрещ|заблокир|отклон|отброш|(?:refus|bloqu|rejet|interdit)é|(?<![a-z])(?:gescheitert|fehlgeschlagen|abgelehnt|verworfen|blockiert|verweigert|denegad[oa]|bloquead[oa]|rechazad[oa]|descartad[oa]|negad[oa]|bloccat[oa]|negat[oa]|geweigerd|geblokkeerd|zablokowan[oya]|engellendi)(?![a-z])/i
const allowed =
  /允许|放行|許可|허용|разреш|пропущен|autorisé|accepté|(?<![a-z])(?:erlaubt|zugelassen|permitid[oa]|aceptad[oa]|consentit[oa]|toegestaan)(?![a-z])/i

export const actionOfForeign = (text: string): Action =>
  blocked.test(text) ? 'blocked' : allowed.test(text) ? 'allowed' : 'unknown'
