// Knows what other languages call the two ends of a connection: in the names of fields, and in the words around an address.
import type { Role } from '../../domain/sighting.js'
import { words } from './words.js'

/** Chinese, Japanese, Korean, Russian; an end that is none of these two is not told. */
const named =
  /(目的|目标|目標|宛先|送信先|接続先|被攻击|受害|목적지|도착지|대상|피해자|назначени|получател)|源|来源|來源|送信元|発信元|接続元|攻击者|攻擊者|客户端|출발지|소스|공격자|클라이언트|источник|отправител|клиент/i

/** The last such word: `通过[rdp]协议访问[192.0.2.1]`. */
const near =
  /.*(?:(目的|目标|目標|宛先|送信先|接続先|목적지|도착지|대상|назначени|получател)|源|送信元|発信元|接続元|출발지|источник|отправител|攻击者)[^,;，；、\s]{0,12}\s?[[<("':：]{0,2}$/is

/** Small words that stand right before an address. */
const before =
  /(?:(访问|訪問|连接|到|至|向|服务器|服務器|伺服器|サーバー?|서버|(?:^|\s)(?:на|к|до|à))|来自|來自|从|從|由|通过|通過|(?:^|\s)(?:с|со|от|из|från))\s?(?:адрес[ау]? |IP ?|地址|主机)?[[<("':：]{0,2}$/i
const smallWords = new Map<string, Role>([
  ...words('de da dal van od fra').map((word): [string, Role] => [word, 'source']),
  ...words('para naar til till').map((word): [string, Role] => [word, 'destination']),
])
/** Too small to tell anything but between two addresses: `da 192.0.2.1 a 198.51.100.1`. */
const joining = new Set([' a ', ' al ', ' an ', ' do ', ' na '])
const smallWord = (between: string): Role | undefined =>
  joining.has(between)
    ? 'destination'
    : between.endsWith(' ')
      ? smallWords.get(between.slice(between.lastIndexOf(' ', between.length - 2) + 1, -1).toLowerCase())
      : undefined

/** Small words that stand right behind one: `192.0.2.1から198.51.100.1へ`, `192.0.2.1에서 198.51.100.1로`. */
const behind = /^(?::\d{1,5})?[\])"'」]?\s?(?:(へ|に|宛|(?:으)?로(?!부터|그))|から|より|에서|(?:으)?로부터|의)/

/** The name of a field; most are English, and are not searched. */
export const foreignEnd = (name: string): Role | undefined => {
  if (isAscii(name)) return undefined
  const found = named.exec(name)
  return found ? (found[1] === undefined ? 'source' : 'destination') : undefined
}

/** What stands around an address, where no English word told its role. */
export const foreignRole = (text: string, between: string, end: number): Role | undefined => {
  const after = text.charCodeAt(end) > 0x2f && text.charCodeAt(end) < 0x80 ? '' : text.slice(end, end + 12)
  const particle = isAscii(after) ? null : behind.exec(after)
  if (particle) return particle[1] === undefined ? 'source' : 'destination'
  const found = isAscii(between) ? null : (before.exec(between) ?? near.exec(between))
  return found ? (found[1] === undefined ? 'source' : 'destination') : smallWord(between)
}

/** What somebody does, or is kept from, whose address is the only one in the line. */
export const foreignDeed = (text: string): boolean => !isAscii(text) && deeds.test(text)
const deeds =
  /登[录陆錄出]|注销|认证|認證|認証|用户|用戶|攻击|攻擊|扫描|暴力|ログイン|ログオン|ユーザ|攻撃|로그인|로그아웃|접속|사용자|인증|공격|вход|пользовател|аутентификац|атак|подключ|anmeld|Benutzer|connexion/i

/** Below this a call into the runtime takes longer than a look at every character. */
const short = 32

export const isAscii = (text: string): boolean => {
  if (text.length > short) return Buffer.byteLength(text) === text.length
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0x7f) return false
  return true
}
