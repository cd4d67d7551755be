// Scans text once for what may be an address, a name, a URL or a mail address, and hands each over with where it stood.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import { isDigit, isWord } from './characters.js'
import { endOfDottedQuad, isVersion } from './dotted-quad.js'
import { isNameInText } from './names.js'
import { endOfUrl, hostOfAuthority, pathAt } from './url.js'

export type Token = {
  readonly kind: 'address' | 'name' | 'url' | 'mail'
  readonly type: 'ip' | 'domain'
  readonly value: string
  readonly start: number
  readonly end: number
  /** Path and query of a URL. */
  readonly path?: string | undefined
  /** The port behind an address. */
  readonly port?: number | undefined
}

/** `192.0.2.1:443`, `[2001:db8::1]:443`, `192.0.2.1/443`, `192.0.2.1#53`; a prefix length is no port. */
const portBehind = (text: string, end: number): number | undefined => {
  const at = text.charCodeAt(end) === 0x5d ? end + 1 : end
  const sign = text.charCodeAt(at)
  if (sign !== 0x3a && sign !== 0x2f && sign !== 0x23) return undefined
  let to = at + 1
  while (to - at <= 5 && isDigit(text.charCodeAt(to))) to++
  const port =
    to === at + 1 || isDigit(text.charCodeAt(to)) || text.charCodeAt(to) === 0x2e ? 0 : Number(text.slice(at + 1, to))
  return port === 0 || port > 65_535 || (sign === 0x2f && port <= 32 && to - at <= 3) ? undefined : port
}

/** Letters, digits, `.`, `:`, `-`, `_`; everything beyond ASCII may be part of an internationalised name. */
const isTokenCode = new Uint8Array(128)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.:-_')
  isTokenCode[char.charCodeAt(0)] = 1

const longestToken = 320

/** False from `visit` ends the scan. */
export const scanTokens = (text: string, visit: (token: Token) => boolean): void => {
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
      const { host, end } = hostOfAuthority(text, at + 2)
      const token = hostToken(host, start, end, pathAt(text, end))
      at = endOfUrl(text, end)
      if (token && !visit(token)) return
      continue
    }
    if ((dots === 0 && colons < 2) || at - start > longestToken) continue
    // The local part of a mail address; `192.0.2.1@pts/0` is where a terminal was opened from.
    if (text.charCodeAt(at) === 0x40 && (dots < 3 || !isDigit(text.charCodeAt(at - 1)) || isMailHost(text, at)))
      continue
    if (!examine(text, start, at, dots, colons, visit)) return
  }
}

const isMailHost = (text: string, at: number): boolean =>
  /^@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[a-z]{2}/i.test(text.slice(at, at + 320))

const hostToken = (host: string, start: number, end: number, path: string | undefined): Token | undefined => {
  const kind = 'url'
  const address = parseAddress(host)
  if (address !== undefined) return { kind, type: 'ip', value: address, start, end }
  const name = host.includes('.') ? parseHostname(host) : undefined
  if (name === undefined || !/[a-z]/.test(name.slice(name.lastIndexOf('.') + 1))) return undefined
  return { kind, type: 'domain', value: name, start, end, path }
}

const examine = (
  text: string,
  start: number,
  end: number,
  dots: number,
  colons: number,
  visit: (token: Token) => boolean,
): boolean => {
  // A time has two colons too: an address has six, or two side by side.
  if (colons >= 6 || (colons >= 2 && text.slice(start, end).includes('::'))) {
    const address = addressWithColons(text, start, end)
    if (address) return visit(address)
  }
  let found = false
  if (dots >= 3) {
    for (let at = start; at < end; at++) {
      if (!isDigit(text.charCodeAt(at)) || (at > start && isWord(text.charCodeAt(at - 1)))) continue
      const stop = endOfDottedQuad(text, at, end)
      if (stop === 0) continue
      const value = isVersion(text, at, stop) ? undefined : parseAddress(text.slice(at, stop))
      if (
        value !== undefined &&
        !visit({ kind: 'address', type: 'ip', value, start: at, end: stop, port: portBehind(text, stop) })
      )
        return false
      found = true
      at = stop
    }
  }
  if (found || dots === 0) return true
  const isMail = start > 0 && text.charCodeAt(start - 1) === 0x40
  const before = start > 0 ? text.charCodeAt(start - 1) : 0x20
  // A path, a Windows domain, a variable: `/etc/hosts.allow`, `\share.name`, `$host.name`.
  if (!isMail && (before === 0x2f || before === 0x5c || before === 0x24 || before === 0x7e || before === 0x25))
    return true
  for (const [from, to] of pieces(text, start, end)) {
    const name = parseHostname(text.slice(from, to))
    if (name === undefined) continue
    if (isMail && from === start) {
      if (algorithmHosts.has(name) || isElementId(text, from, to)) return true
      if (/\.[a-z][a-z0-9-]+$/.test(name))
        return visit({ kind: 'mail', type: 'domain', value: name, start: from, end: to })
    } else if (isNameInText(name) && !isCall(text, to)) {
      if (!visit({ kind: 'name', type: 'domain', value: name, start: from, end: to })) return false
    }
  }
  return true
}

/** Who gave ciphers their names: `hmac-sha2-256-etm@openssh.com`. */
const algorithmHosts = new Set(['openssh.com', 'libssh.org', 'lysator.liu.se'])

/** `[syslog@example.net key="value"]`: who gave an element its name. */
const isElementId = (text: string, start: number, end: number): boolean => {
  let at = start - 2
  while (at >= 0 && start - at < longestElement && isWord(text.charCodeAt(at))) at--
  return text.charCodeAt(at) === 0x5b && firstPair.test(text.slice(end, end + 40))
}
const longestElement = 66
const firstPair = /^ [\w.-]{1,36}="/

/** `document.domain(`, `a.name=`: code. */
const isCall = (text: string, end: number): boolean => {
  const code = text.charCodeAt(end)
  return code === 0x28 || code === 0x3d || code === 0x5c
}

/** The parts between colons that have a dot: `inside:host.example:443`. */
const pieces = (text: string, start: number, end: number): readonly (readonly [number, number])[] => {
  const result: [number, number][] = []
  let from = start
  for (let at = start; at <= end && result.length < 4; at++) {
    if (at < end && text.charCodeAt(at) !== 0x3a) continue
    let to = at
    while (from < to && !isWord(text.charCodeAt(from)) && text.charCodeAt(from) < 128) from++
    while (to > from && !isWord(text.charCodeAt(to - 1)) && text.charCodeAt(to - 1) < 128) to--
    if (to - from >= 4 && text.slice(from, to).includes('.')) result.push([from, to])
    from = at + 1
  }
  return result
}

/** An IPv6 address, where need be without what stands before it: `inside:2001:db8::1`. */
const addressWithColons = (text: string, start: number, end: number): Token | undefined => {
  let from = start
  let to = end
  const last = text.charCodeAt(to - 1)
  // A colon may end the sentence's part; `2001:db8:::` is an address and a colon.
  if (last === 0x2e || (last === 0x3a && (text.charCodeAt(to - 2) !== 0x3a || text.charCodeAt(to - 3) === 0x3a))) to--
  if (from > 0 && isWord(text.charCodeAt(from - 1))) return undefined
  for (let tries = 0; tries < 4; tries++) {
    if (to - from < 3) return undefined
    const raw = text.slice(from, to)
    if (isPlausibleV6(raw)) {
      const value = parseAddress(raw)
      if (value !== undefined)
        return { kind: 'address', type: 'ip', value, start: from, end: to, port: portBehind(text, to) }
    }
    const colon = raw.indexOf(':')
    if (colon < 0 || /^[0-9a-f]{0,4}$/i.test(raw.slice(0, colon))) return undefined
    from += colon + 1
  }
  return undefined
}

const isPlausibleV6 = (raw: string): boolean => {
  if (raw.length > 45 || !/\d/.test(raw)) return raw === '::' ? false : /^[0-9a-f]{4}::?[0-9a-f:]+$/i.test(raw)
  const groups = raw.split(':').length
  if (!raw.includes('::') && groups !== 8 && !raw.includes('.')) return false
  // Eight pairs are a hardware address or a serial number.
  return !/^([0-9a-f]{2}:){7}[0-9a-f]{2}$/i.test(raw)
}
