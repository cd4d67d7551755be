// Scans text once for addresses, names, URLs and mail addresses, and reports each candidate with its position.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import { isDigit, isWord } from './characters.js'
import { isMasked, isNameInText } from './names.js'
import { authorityAt, endOfUrl, hasDot, portOfUrl } from './url.js'

export type Token = {
  readonly kind: 'address' | 'name' | 'url' | 'mail'
  readonly type: 'ip' | 'domain'
  readonly value: string
  readonly start: number
  readonly end: number
  /** Path and query of a URL. */
  readonly path?: string | undefined
  /** The port after an address. */
  readonly port?: number | undefined
}
/** False ends the scan. */
type Visit = (token: Token) => boolean

/** Letters, digits, `.`, `:`, `-`, `_`; everything beyond ASCII may be part of an internationalised name. */
const isTokenCode = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:-_')
  isTokenCode[char.charCodeAt(0)] = 1

const longestToken = 320

export const scanTokens = (text: string, visit: Visit): void => {
  const length = text.length
  let at = 0
  while (at < length) {
    let code = text.charCodeAt(at)
    if (code < 128 && isTokenCode[code] === 0) {
      at++
      continue
    }
    const start = at
    let dots = 0
    let colons = 0
    do {
      if (code === 0x2e) dots++
      else if (code === 0x3a) colons++
      at++
      if (at >= length) break
      code = text.charCodeAt(at)
    } while (code >= 128 || isTokenCode[code] === 1)
    if (dots === 0 && colons === 0) continue
    if (colons > 0 && text.charCodeAt(at - 1) === 0x3a && text.startsWith('//', at)) {
      const { host, port, end, path } = authorityAt(text, at + 2)
      const token = isNamespace(text, start)
        ? undefined
        : urlToken(host, start, end, path, portOfUrl(text.slice(start, at), port))
      at = endOfUrl(text, end)
      if (token && !visit(token)) return
      continue
    }
    if ((dots === 0 && colons < 2) || at - start > longestToken) continue
    // The local part of a mail address; `192.0.2.1@pts/0` is the address from which a terminal was opened.
    if (code === 0x40 && at < length && (dots < 3 || !isDigit(text.charCodeAt(at - 1)))) continue
    // A time has two colons too; an IPv6 address has six, or two side by side.
    const isV6 = colons >= 6 || (colons >= 2 && text.slice(start, at).includes('::'))
    const address = isV6 ? addressWithColons(text, start, at) : undefined
    if (address ? !visit(address) : !visitQuadsOrNames(text, start, at, dots, visit)) return
  }
}

/** `xmlns="http://…"`: the name of a namespace, which is never visited. */
const isNamespace = (text: string, start: number): boolean =>
  '"\''.includes(text.charAt(start - 1)) &&
  /(?:xmlns(?::[\w.-]{1,40})?|schemaLocation)["']?\s?[=:]\s?["']$/i.test(text.slice(Math.max(0, start - 64), start))

const urlToken = (
  host: string,
  start: number,
  end: number,
  path: string | undefined,
  port: number | undefined,
): Token | undefined => {
  const address = parseAddress(host)
  if (address !== undefined) return { kind: 'url', type: 'ip', value: address, start, end, port }
  const name = hasDot(host) ? parseHostname(host) : undefined
  if (name === undefined || !/\.[^.]*[a-z][^.]*$/.test(name)) return undefined
  return { kind: 'url', type: 'domain', value: name, start, end, path }
}

const addressToken = (text: string, start: number, end: number): Token | undefined => {
  const value = parseAddress(text.slice(start, end))
  if (value === undefined) return undefined
  if (isNetwork(value, text, end)) return undefined
  const behind = text.charCodeAt(end)
  const port = isBeforePort(behind) ? Number(portBehind.exec(text.slice(end, end + 8))?.[1] ?? 0) : 0
  return { kind: 'address', type: 'ip', value, start, end, port: port > 0 && port < 65_536 ? port : undefined }
}
/** `192.0.2.0/24`: a network and not an endpoint. */
const isNetwork = (value: string, text: string, end: number): boolean => {
  if (text.charCodeAt(end) !== 0x2f || !value.endsWith('.0')) return false
  const bits = Number(/^\/(\d{1,2})(?![\w.:])/.exec(text.slice(end, end + 4))?.[1] ?? 32)
  return bits >= 8 && bits <= 24
}
/**
 * `192.0.2.1:443`, `[2001:db8::1]:443`, `192.0.2.1/443`, `192.0.2.1(443)`, `192.0.2.1#53`, `192.0.2.1_443`, `192.0.2.1.40001`;
 * a prefix length is no port.
 */
const portBehind = /^\]?(?:[:#(_.]|\/(?!(?:\d|[12]\d|3[0-2])(?!\d)))(\d{1,5})(?![\d.])/

const isBeforePort = (code: number): boolean =>
  code === 0x3a || code === 0x2f || code === 0x5d || code === 0x28 || code === 0x23 || code === 0x2e || code === 0x5f

/**
 * Four numbers that are not part of something longer, except with a port: `192.0.2.1.4711 > 198.51.100.1.443:`, as tcpdump writes it,
 * or `192.0.2.1_443`. Both addresses of `192.0.2.1...198.51.100.1` count.
 */
const quad =
  /(?<!\w|(?<!\.)\.|[a-z]-)\d{1,3}(?:\.\d{1,3}){3}(?=(?!\w|-[a-z]|\.\w)|\.\d{1,5} >|\.\d{4,5}(?![\w.])|_\d{1,5}(?!\w)|(?<=> [\d.]{7,15})\.\d{1,5}(?![\w.]))/iy
/** `version 7.0.5.7132`, `FileVersion: 7.0.5.1`, `Chrome 130.0.1.2`, and the new version in `version 7.0.5.7132 to 7.0.6.1`. */
const version =
  /(?<=(?:version|\b(?:ver|build|release|revision|firmware|oid|v|rv|chrome|chromium|firefox|safari|edge|opera|msie|electron|(?:apple)?webkit))[\s:="]{1,4}(?:v?[\d.]{3,20}\s{1,2}(?:to|->|and|or)\s{1,2})?)/iy
/** `Chrome/129.0.0.0`. After an interface (`inside/192.0.2.1(443)`) the address has a port. */
const isVersion = (text: string, start: number, end: number): boolean => {
  const before = text.charCodeAt(start - 1)
  if (before === 0x2f) return /[\w)]/.test(text[start - 2] ?? '') && !/^(?:\(|[/:]\d)/.test(text.slice(end, end + 2))
  if (isDigit(before) || text.startsWith('from', start - 5)) return false
  version.lastIndex = start
  return version.test(text)
}

const visitQuadsOrNames = (text: string, start: number, end: number, dots: number, visit: Visit): boolean => {
  let isQuad = false
  for (let at = start; dots >= 3 && at < end; at++) {
    if (!isDigit(text.charCodeAt(at)) || (at > start && isWord(text.charCodeAt(at - 1)))) continue
    quad.lastIndex = at
    if (!quad.test(text)) continue
    const address = isVersion(text, at, quad.lastIndex) ? undefined : addressToken(text, at, quad.lastIndex)
    if (address && !visit(address)) return false
    isQuad = true
    at = quad.lastIndex
  }
  return isQuad || dots === 0 || visitNames(text, start, end, visit)
}

const visitNames = (text: string, start: number, end: number, visit: Visit): boolean => {
  const before = start > 0 ? (text[start - 1] ?? '') : ' '
  // A path, a Windows domain, a variable: `/etc/hosts.allow`, `\share.name`, `$host.name`.
  if ('/\\$~%'.includes(before)) return true
  // The parts between colons: `inside:host.example:443`.
  for (let at = start, until = start; at < end; at = until + 1) {
    for (until = at; until < end && text.charCodeAt(until) !== 0x3a;) until++
    let from = at
    let to = until
    while (from < to && isEdge(text.charCodeAt(from))) from++
    while (to > from && isEdge(text.charCodeAt(to - 1))) to--
    const part = to - from > 3 ? text.slice(from, to) : ''
    const name = part.includes('.') ? parseHostname(part) : undefined
    if (name === undefined) continue
    const isMail = before === '@' && at === start
    if (isMasked(name) || (!isMail && isCode(text, to))) continue
    // Authors of algorithms named them like mail addresses: `hmac-sha2-256-etm@openssh.com`.
    if (isMail ? !/\.[a-z][a-z0-9-]+$/.test(name) || algorithmHosts.has(name) : !isNameInText(name, text, from, to))
      continue
    if (!visit({ kind: isMail ? 'mail' : 'name', type: 'domain', value: name, start: from, end: to })) return false
  }
  return true
}
/** A call (`zf.open(path)`), or the prefix of a label (`app.example.io/name:web`, `"app.example.io/name": "web"`). */
const isCode = (text: string, end: number): boolean => {
  const code = text.charCodeAt(end)
  return (
    (code === 0x28 && /^\((?:[a-z_]\w*[,)=.(]|["')])/i.test(text.slice(end, end + 40))) ||
    (code === 0x2f && /^\/[a-z][\w.-]{0,62}(?:=\S|:["a-z]|"\s?:)/.test(text.slice(end, end + 72)))
  )
}
const isEdge = (code: number): boolean => code === 0x2e || code === 0x2d
const algorithmHosts = new Set(['openssh.com', 'libssh.org', 'lysator.liu.se'])

/** An IPv6 address, if necessary without the text before it: `inside:2001:db8::1`. */
const addressWithColons = (text: string, start: number, end: number): Token | undefined => {
  if (start > 0 && isWord(text.charCodeAt(start - 1))) return undefined
  // A colon may be punctuation: `2001:db8:::` is an address and a colon. A part of five digits is a port, and so is one after a dot.
  const raw = text
    .slice(start, end)
    .replace(
      /\.$|(?<!:):$|(?<=::):$|(?<=(?:(?:^|:)[\da-f]{1,4}){8}):\d{1,5}$|(?<=::[\da-f:]*):\d{5}$|(?<=^[^.]*)\.\d{1,5}:?$/i,
      '',
    )
  const before = /^(?:[^:]*[^\da-f:][^:]*:|[^:]{5,}:){0,3}/i.exec(raw)?.[0].length ?? 0
  const bare = raw.slice(before)
  // Eight pairs are a hardware address or a serial number; hexadecimal letters without a digit are words.
  if (bare.length > 45 || /^(?:[\da-f]{2}:){7}[\da-f]{2}$/i.test(bare)) return undefined
  if (!/\d/.test(bare) && !/^[\da-f]{4}::?[\da-f:]+$/i.test(bare)) return undefined
  return addressToken(text, start + before, start + raw.length)
}
