// Undoes how text was made harmless or portable, and finds the host of a URL, of a part of one, or of a mail address.

const mayBeDefanged = /\[[.:@]\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)|\[at\]|hxxp|fxp:|\\\./i

/** `hxxps[:]//evil[.]example` → `https://evil.example`. */
export const refang = (text: string): string =>
  mayBeDefanged.test(text)
    ? text
        .replace(/\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)|\\\./gi, '.')
        .replace(/\[:\]/g, ':')
        .replace(/\[@\]|\[at\]/gi, '@')
        .replace(/\bhxxp/gi, 'http')
        .replace(/\bfxp:/gi, 'ftp:')
    : text

/** Free text as its writer would have written it for a colleague: `http:\/\/example.com`, `\u0022`, `\x22`, and a `\n` that stands for a line end. */
export const plainText = (text: string): string => {
  if (!text.includes('\\')) return refang(text)
  const plain = text
    .replaceAll('\\/', '/')
    .replace(/\\(?:u00|x)([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\x0[9ad]|\\[rnt](?![a-z]*\\)/gi, ' ')
  return refang(plain)
}

const marksOf = (signs: string): Uint8Array => {
  const marks = new Uint8Array(128).fill(1, 0, 0x21)
  for (const sign of signs) marks[sign.charCodeAt(0)] = 1
  return marks
}
const endsAuthority = marksOf('/?#"\'<>\\|,;)]}`&%')
const endsUrl = marksOf('"<>|`')
const longestPath = 2048

export type Authority = {
  readonly host: string
  readonly port: number
  readonly end: number
  /** Path and query; nothing where there are none, or `/` alone. */
  readonly path: string | undefined
}

/** `user:pass@host:port/path?query`, which begins at `from`; brackets of an IPv6 host are taken off. */
export const authorityAt = (text: string, from: number): Authority => {
  const limit = Math.min(text.length, from + 600)
  let end = from
  let start = from
  let colon = -1
  let close = -1
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (code === 0x40) {
      start = end + 1
      colon = close = -1
    } else if (code === 0x5b && end === start) {
      close = text.indexOf(']', end)
      if (close < 0 || close >= limit) break
      end = colon = close
    } else if (endsAuthority[code] === 1) break
    else if (code === 0x3a && colon < 0) colon = end
  }
  const host = text.slice(close < 0 ? start : start + 1, close >= 0 ? close : colon < 0 ? end : colon)
  const port = colon < 0 ? 0 : Number(/^\]?:(\d{1,5})$/.exec(text.slice(colon, end))?.[1] ?? 0)
  return { host, port, end, path: pathAt(text, end) }
}

export const pathAt = (text: string, from: number): string | undefined => {
  const code = text.charCodeAt(from)
  if (code !== 0x2f && code !== 0x3f) return undefined
  const end = Math.min(endOfUrl(text, from), from + longestPath)
  return end - from > 1 ? text.slice(from, end) : undefined
}

/** Where the rest of a URL ends: its path and query are not searched for names. */
export const endOfUrl = (text: string, from: number): number => {
  let end = from
  while (end < text.length && endsUrl[text.charCodeAt(end)] !== 1) end++
  return end
}
