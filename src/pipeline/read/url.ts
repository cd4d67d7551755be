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

/** Printable ASCII only: what else was encoded can be no part of an address or a name. */
const decodePercent = (text: string): string =>
  text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))

/** `http:\/\/example.com`, `\u0022`, `\x22`, and a `\n` that stands for a line end. */
const unescape = (text: string): string =>
  text
    .replaceAll('\\/', '/')
    .replace(/\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])/gi, (_, a?: string, b?: string) =>
      String.fromCharCode(Number.parseInt(a ?? b ?? '20', 16)),
    )
    .replace(/\\x0[9ad]|\\[rnt](?![a-z]*\\)/gi, ' ')

/** Free text as its writer would have written it for a colleague. */
export const plainText = (text: string): string => {
  let plain = text.includes('\\') ? unescape(text) : text
  if (plain.includes('%2') || plain.includes('%3')) plain = decodePercent(plain)
  return refang(plain)
}

const marksOf = (signs: string): Uint8Array => {
  const marks = new Uint8Array(128).fill(1, 0, 0x21)
  for (const sign of signs) marks[sign.charCodeAt(0)] = 1
  return marks
}
const endsAuthority = marksOf('/?#"\'<>\\|,;)]}`&')
const endsUrl = marksOf('"<>|`')

/** The host of `user:pass@host:port/path?query`, which begins at `from`; brackets of an IPv6 host are taken off. */
export const hostOfAuthority = (text: string, from: number): { readonly host: string; readonly end: number } => {
  const limit = Math.min(text.length, from + 600)
  let end = from
  let start = from
  let colon = -1
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (endsAuthority[code] === 1) break
    if (code === 0x40) {
      start = end + 1
      colon = -1
    } else if (code === 0x5b && end === start) {
      const close = text.indexOf(']', end)
      if (close > 0 && close < limit) return { host: text.slice(end + 1, close), end: close + 1 }
    } else if (code === 0x3a && colon < 0) colon = end
  }
  return { host: text.slice(start, colon < 0 ? end : colon), end }
}

const longestPath = 2048

/** Path and query behind an authority that ends at `from`; undefined where there are none, or `/` alone. */
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
