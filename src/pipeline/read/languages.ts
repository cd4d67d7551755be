// What other languages call the two endpoints of a connection and what was done to it: one table, for fields, values and sentences.
import type { Action, Role } from '../../domain/sighting.js'
import { isAscii, table, words } from './characters.js'

const anyOf = (list: string): string => `(?:${words(list).join('|')})`

/** Chinese, Japanese, Korean, Russian, and of Latin letters what no English text has. */
const source = anyOf(
  '源 来源 來源 送信元 発信元 接続元 攻击者 攻擊者 客户端 출발지 소스 공격자 클라이언트 источник отправител клиент',
)
const destination = anyOf('目的 目标 目標 宛先 送信先 接続先 被攻击 受害 목적지 도착지 대상 피해자 назначени получател')
const blocked = anyOf(
  `拒绝 丢弃 阻断 阻止 拦截 禁止 封禁 拒否 遮断 破棄 차단 거부 폐기 запрещ заблокир отклон отброш (?:refus|bloqu|rejet|interdit)é
   \\b(?:gescheitert|fehlgeschlagen|abgelehnt|verworfen|blockiert|verweigert|geweigerd|geblokkeerd|engellendi)\\b
   \\b(?:denegad|bloquead|rechazad|descartad|bloccat|zablokowan)[oay]\\b`,
)
const allowed = anyOf(
  `允许 放行 許可 허용 разреш пропущен autorisé accepté \\b(?:erlaubt|zugelassen|toegestaan|permitid[oa]|aceptad[oa]|consentit[oa])\\b`,
)
const action = anyOf('动作 動作 处置 處置 处理结果 操作结果 조치 アクション действие acción ação')
/** What somebody does, or is kept from, whose address is the only one in the line. */
const deed = anyOf(
  `登[录陆錄出] 注销 认证 認證 認証 用户 用戶 攻击 攻擊 扫描 暴力 ログイン ログオン ユーザ 攻撃 로그인 로그아웃 접속 사용자 인증 공격
   вход пользовател аутентификац атак подключ anmeld Benutzer connexion`,
)
/** Small words that stand right before an address, and right behind one: `192.0.2.1から198.51.100.1へ`. */
const from = anyOf('来自 來自 从 從 由 通过 通過 (?:^|\\s)(?:с|со|от|из|från)')
const to = anyOf('访问 訪問 连接 到 至 向 服务器 服務器 伺服器 サーバー? 서버 (?:^|\\s)(?:на|к|до|à)')
const fromBehind = anyOf('から より 에서 (?:으)?로부터 의')
const toBehind = anyOf('へ に 宛 (?:으)?로(?!부터|그)')
const smallWords = table<Role>(
  ['source', 'de da dal van od fra von vom desde depuis'],
  ['destination', 'para naar til till nach vers hacia'],
)
/** Too small to tell anything but between two addresses: `da 192.0.2.1 a 198.51.100.1`. */
const joining = new Set(words('a al an do na'))

const endpoint = new RegExp(`(${destination})|${source}`, 'i')
const actionNames = new RegExp(action, 'i')
const isBlocked = new RegExp(blocked, 'i')
const isAllowed = new RegExp(allowed, 'i')
const deeds = new RegExp(deed, 'i')
const before = new RegExp(`(?:(${to})|${from})\\s?(?:адрес[ау]? |IP ?|地址|主机)?[[<("':：]{0,2}$`, 'i')
const near = new RegExp(`.*(?:(${destination})|${source})[^,;，；、\\s]{0,12}\\s?[[<("':：]{0,2}$`, 'is')
const behind = new RegExp(`^(?::\\d{1,5})?[\\])"'」]?\\s?(?:(${toBehind})|${fromBehind})`)
const smallWord = / (?:vo[nm]|desde|hacia|depuis|para|naar) /

const roleOf = (found: RegExpExecArray | null): Role | undefined =>
  found === null ? undefined : found[1] === undefined ? 'source' : 'destination'

/** The names of fields; most are English, and are not searched. */
export const endpointName = (name: string): Role | undefined =>
  isAscii(name) ? undefined : roleOf(endpoint.exec(name))
export const actionName = (name: string): boolean => !isAscii(name) && actionNames.test(name)

/** What stands around an address, where no English word told its role. */
export const foreignRole = (text: string, between: string, end: number): Role | undefined => {
  const next = text.charCodeAt(end)
  const after = next > 0x2f && next < 0x80 ? '' : text.slice(end, end + 12)
  const particle = isAscii(after) ? undefined : roleOf(behind.exec(after))
  if (particle) return particle
  const word = isAscii(between) ? undefined : roleOf(before.exec(between) ?? near.exec(between))
  if (word) return word
  if (!between.endsWith(' ')) return undefined
  const small = between.slice(between.lastIndexOf(' ', between.length - 2) + 1, -1).toLowerCase()
  return (
    smallWords.get(small) ?? (joining.has(small) && between.length === small.length + 2 ? 'destination' : undefined)
  )
}

export const actionOfForeign = (value: string): Action =>
  isBlocked.test(value) ? 'blocked' : isAllowed.test(value) ? 'allowed' : 'unknown'

/** A line, where some letter or small word shows that it is not English: most are, and are not searched. */
export const actionOfForeignLine = (text: string): Action =>
  isAscii(text) && !smallWord.test(text) ? 'unknown' : actionOfForeign(text)

export const foreignDeed = (text: string): boolean => !isAscii(text) && deeds.test(text)
