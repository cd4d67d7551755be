// Tells four numbers between dots that are an address from those that are part of something longer, or a version.
import { isDigit, isLetter, isWord } from './characters.js'

/** The end of `d.d.d.d` at `at`, or 0 where it is part of something longer. */
export const endOfDottedQuad = (text: string, at: number, limit: number): number => {
  if (at > 0) {
    const before = text.charCodeAt(at - 1)
    // `192.0.2.1...198.51.100.1`: an ellipsis between two is no part of either.
    if (isWord(before) || (before === 0x2e && text.charCodeAt(at - 2) !== 0x2e)) return 0
    if (before === 0x2d && at > 1 && isLetter(text.charCodeAt(at - 2))) return 0
  }
  let parts = 1
  let digits = 0
  let end = at
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (isDigit(code)) {
      if (++digits > 3) return 0
    } else if (code === 0x2e && digits > 0 && parts < 4 && isDigit(text.charCodeAt(end + 1))) {
      parts++
      digits = 0
    } else break
  }
  if (parts !== 4 || digits === 0) return 0
  const next = text.charCodeAt(end)
  if (isWord(next)) return 0
  if (next === 0x2e && isWord(text.charCodeAt(end + 1)) && !isPortBehind(text, at, end)) return 0
  if (next === 0x2d && isLetter(text.charCodeAt(end + 1))) return 0
  return end
}

/** `192.0.2.1.4711 > 198.51.100.1.443:`, as tcpdump and the packet filters of BSD write it. */
const isPortBehind = (text: string, start: number, dot: number): boolean => {
  let at = dot + 1
  while (at < text.length && at - dot <= 5 && isDigit(text.charCodeAt(at))) at++
  const next = text.charCodeAt(at)
  if (next === 0x20 && text.charCodeAt(at + 1) === 0x3e) return true
  // `192.0.2.1.40001 198.51.100.1.1080:`, as Dante writes it.
  if (next === 0x20 && at - dot > 4 && quadAndPort.test(text.slice(at + 1, at + 24))) return true
  if (text.charCodeAt(start - 1) === 0x20 && portBefore.test(text.slice(Math.max(0, start - 24), start))) return true
  return !isWord(next) && next !== 0x2e && text.charCodeAt(start - 1) === 0x20 && text.charCodeAt(start - 2) === 0x3e
}

const quadAndPort = /^\d{1,3}(?:\.\d{1,3}){3}\.\d{1,5}(?![\w.])/
const portBefore = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}\.\d{4,5} $/

/** `version 7.0.5.7132`, and what it was changed to: `version 7.0.5.7132 to 7.0.6.1`. */
const saysVersion =
  /\b(?:version|ver|build|release|revision|firmware|oid|v|rv)[\s:="]{1,4}(?:v?[\d.]{3,20}\s{1,2}(?:to|->|and|or)\s{1,2})?$/i

/** `Chrome/129.0.0.0`, `version 7.0.5.7132`. An interface (`inside/192.0.2.1(443)`) has a port behind. */
export const isVersion = (text: string, start: number, end: number): boolean => {
  const before = text.charCodeAt(start - 1)
  const next = text.charCodeAt(end)
  if (before === 0x2f) {
    const beyond = text.charCodeAt(start - 2)
    if (!isWord(beyond) && beyond !== 0x29) return false
    return !(next === 0x28 || ((next === 0x2f || next === 0x3a) && isDigit(text.charCodeAt(end + 1))))
  }
  return saysVersion.test(text.slice(Math.max(0, start - 48), start))
}
