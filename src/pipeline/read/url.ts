// Finds the host of a URL, of a part of one, or of a mail address, and the path behind it.

/** The host of `user:pass@host:port/path?query`, which begins at `from`; brackets of an IPv6 host are taken off. */
export const hostOfAuthority = (text: string, from: number): { readonly host: string; readonly end: number } => {
  const limit = Math.min(text.length, from + 600)
  let end = from
  let start = from
  let colon = -1
  for (; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (endsAuthority(code)) break
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

const endsAuthority = (code: number): boolean =>
  code <= 0x20 ||
  code === 0x2f || // /
  code === 0x3f || // ?
  code === 0x23 || // #
  code === 0x22 || // "
  code === 0x27 || // '
  code === 0x3c || // <
  code === 0x3e || // >
  code === 0x5c || // \
  code === 0x7c || // |
  code === 0x2c || // ,
  code === 0x3b || // ;
  code === 0x29 || // )
  code === 0x5d || // ]
  code === 0x7d || // }
  code === 0x60 || // `
  code === 0x26 // &

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
  while (end < text.length) {
    const code = text.charCodeAt(end)
    if (code <= 0x20 || code === 0x22 || code === 0x3c || code === 0x3e || code === 0x7c || code === 0x60) break
    end++
  }
  return end
}
