// Foreign words for the two ends of a connection and for actions: one table, for fields, values and sentences.
import type { Action, Role } from '../../domain/sighting.js'
import { isAscii, words } from './characters.js'

const anyOf = (list: string): string => `(?:${words(list).join('|')})`
const pattern = (list: string): RegExp => new RegExp(anyOf(list), 'i')

/** Chinese, Japanese, Korean, Russian, and those Latin spellings that no English text contains. */
const source = anyOf(
  '源 来源 來源 送信元 発信元 接続元 攻击者 攻擊者 客户端 출발지 소스 공격자 클라이언트 источник отправител клиент 来自 來自',
)
const destination = anyOf('目的 目标 目標 宛先 送信先 接続先 被攻击 受害 목적지 도착지 대상 피해자 назначени получател')
const endpoint = new RegExp(`(${destination})|${source}`, 'i')
const near = new RegExp(`.*(?:(${destination})|${source})[^,;，；、\\s]{0,12}\\s?[[<("':：]{0,2}$`, 'is')
const isBlocked = pattern(
  `拒绝 丢弃 阻断 阻止 拦截 禁止 封禁 拒否 遮断 破棄 차단 거부 폐기 запрещ заблокир отклон отброш (?:refus|bloqu|rejet|interdit)é
     \\b(?:gescheitert|fehlgeschlagen|abgelehnt|verworfen|blockiert|verweigert|geweigerd|geblokkeerd|engellendi)\\b
   \\b(?:denegad|bloquead|rechazad|descartad|bloccat|zablokowan)[oay]\\b`,
)
const isAllowed = pattern(
  `允许 放行 許可 허용 разреш пропущен autorisé accepté \\b(?:erlaubt|zugelassen|toegestaan|permitid[oa]|aceptad[oa]|consentit[oa])\\b`,
)
const actionNames = pattern('动作 動作 处置 處置 处理结果 操作结果 조치 アクション действие acción ação')
/** Small words that show that an ASCII text is not English. */
const smallWord = / (?:vo[nm]|desde|hacia|depuis|para|naar) /

const roleOf = (found: RegExpExecArray | null): Role | undefined =>
  found === null ? undefined : found[1] === undefined ? 'source' : 'destination'

/** Foreign names of fields. ASCII names are taken for English and not searched. */
export const endpointName = (name: string): Role | undefined =>
  isAscii(name) ? undefined : roleOf(endpoint.exec(name))
export const actionName = (name: string): boolean => !isAscii(name) && actionNames.test(name)

/** The role by the text before an address, for when no English word gives one. */
export const foreignRole = (before: string): Role | undefined =>
  isAscii(before) ? undefined : roleOf(near.exec(before))

export const actionOfForeign = (value: string): Action =>
  actionIn(value, isBlocked, ['allowed', 'blocked']) ?? actionIn(value, isAllowed, ['blocked', 'allowed']) ?? 'unknown'

/** A negation means the opposite: `nicht blockiert`, `n'a pas été bloquée`, `不允许`, `차단되지 않음`. */
const negated =
  /(?<!\p{L})(?:nicht|nie|kein(?:e[rsn]?)?|pas|jamais|n[oã]o?|non|niet|geen|не|нет|ni) (?:\p{L}+ ){0,2}$|[未不没沒無无非][能被]?$/iu
const negatedBehind = /^(?:され|し)?(?:て(?:い)?)?(?:ない|ません|ず)|^되?지 ?(?:않|못)/

const actionIn = (value: string, words: RegExp, [opposite, action]: readonly [Action, Action]): Action | undefined => {
  const found = words.exec(value)
  if (!found) return undefined
  const behind = value.slice(found.index + found[0].length, found.index + found[0].length + 12)
  const before = value.slice(Math.max(0, found.index - 32), found.index)
  return negated.test(before) || negatedBehind.test(behind) ? opposite : action
}

/** Searches a line only if a letter or a small word shows that it is not English; most lines are skipped. */
export const actionOfForeignLine = (text: string): Action =>
  isAscii(text) && !smallWord.test(text) ? 'unknown' : actionOfForeign(text)
