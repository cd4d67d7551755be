// Undoes how text was made harmless or portable: defanged spellings, percent-encoding, escapes.

const mayBeDefanged = /\[[.:@]\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)|\[at\]|hxxp|fxp:|\\\./i

/** `hxxps[:]//evil[.]example` → `https://evil.example`. */
export const refang = (text: string): string => {
  if (!mayBeDefanged.test(text)) return text
  return text
    .replace(/\[\.\]|\(\.\)|\{\.\}|\[dot\]|\(dot\)|\\\./gi, '.')
    .replace(/\[:\]/g, ':')
    .replace(/\[@\]|\[at\]/gi, '@')
    .replace(/\bhxxp/gi, 'http')
    .replace(/\bfxp:/gi, 'ftp:')
}

/** Printable ASCII only: what else was encoded can be no part of an address or a name. */
export const decodePercent = (text: string): string =>
  text.includes('%')
    ? text.replace(/%([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text

/** `http:\/\/example.com`, `\u0022`, `\x22`, and a `\n` that stands for a line end. */
export const unescape = (text: string): string => {
  if (!text.includes('\\')) return text
  return text
    .replaceAll('\\/', '/')
    .replace(/\\u00([2-7][0-9a-f])|\\x([2-7][0-9a-f])/gi, (_, a?: string, b?: string) =>
      String.fromCharCode(Number.parseInt(a ?? b ?? '20', 16)),
    )
    .replace(/\\x0[9ad]|\\[rnt](?![a-z]*\\)/gi, ' ')
}
