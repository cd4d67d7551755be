// Undoes how text was made harmless or portable, and finds the host of a URL, of a part of one, or of a mail address.

const mayBeDefanged = /[[({](?:[.:@]|dot|at)[\])}]|hxxp|fxp:|\\\./i

/** The full stops that a browser takes for the dots of a name: ideographic, full-width, half-width. */
const wideDot = /[\u3002\uff0e\uff61]/
/** Whether there is a dot as names have it, in any of its forms. */
export const hasDot = (text: string): boolean => text.includes('.') || wideDot.test(text)

const mayBeWide = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u3002\uff0e\uff61]/
/** Full-width letters and digits become those of ASCII, and a wide dot between two of them a dot; behind an address it ends a sentence. */
const narrow = (text: string): string =>
  mayBeWide.test(text)
    ? text
        .replace(/[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g, (wide) =>
          String.fromCharCode(wide.charCodeAt(0) - 0xfee0),
        )
        .replace(/(?<=[\w-])(?<!\d(?:\.\d{1,3}){3})[\u3002\uff0e\uff61](?=\w)/g, '.')
    : text

/** `hxxps[:]//evil[.]example` → `https://evil.example`, also from full-width letters. */
export const refang = (given: string): string => {
  const text = narrow(given)
  return mayBeDefanged.test(text)
    ? text
        .replace(/[[({](?:\.|dot)[\])}]|\\\./gi, '.')
        .replace(/\[:\]/g, ':')
        .replace(/\[@\]|\[at\]/gi, '@')
        .replace(/\bhxxp/gi, 'http')
        .replace(/\bfxp:/gi, 'ftp:')
    : text
}

/** Free text as its writer would have written it for a colleague: `http:\/\/example.com`, `\u0022`, `\x22`, and a `\n` that stands for a line end. */
export const plainText = (text: string): string => {
  if (!text.includes('\\')) return refang(text)
  const plain = text
    .replaceAll('\\/', '/')
    .replace(/\\(?:u00|x)([2-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\x0[9ad]|\\[rnt](?![a-z]*\\)/gi, ' ')
  return refang(plain)
}

const longestPath = 2048

type Authority = {
  readonly host: string
  readonly port: number
  readonly end: number
  /** Path and query; nothing where there are none, or `/` alone. */
  readonly path: string | undefined
}

const authority = /([^\s/?#"'<>\\|,;)\]}`&%[]*)(?:\[([^\]]{0,64})\](?::\d{1,5})?)?/y

/** `user:pass@host:port/path?query`, which begins at `from`; brackets of an IPv6 host are taken off. */
export const authorityAt = (text: string, from: number): Authority => {
  authority.lastIndex = from
  const [all = '', plain = '', inBrackets] = authority.exec(text) ?? []
  const name = plain.slice(plain.lastIndexOf('@') + 1)
  const colon = name.indexOf(':')
  const port = colon < 0 && inBrackets === undefined ? 0 : Number(/:(\d{1,5})$/.exec(all)?.[1] ?? 0)
  const end = from + all.length
  return { host: inBrackets ?? (colon < 0 ? name : name.slice(0, colon)), port, end, path: pathAt(text, end) }
}

/** Of a URL with this scheme, which may have its colon; nothing where neither says it. */
export const portOfUrl = (scheme: string, port: number): number | undefined => {
  if (port > 0 && port < 65_536) return port
  return /^https:?$/i.test(scheme) ? 443 : /^http:?$/i.test(scheme) ? 80 : undefined
}

export const pathAt = (text: string, from: number): string | undefined => {
  const code = text.charCodeAt(from)
  if (code !== 0x2f && code !== 0x3f) return undefined
  const end = Math.min(endOfUrl(text, from), from + longestPath)
  return end - from > 1 ? text.slice(from, end) : undefined
}

const endsUrl = /[\s"<>|`]|$/g
/** Where the rest of a URL ends: its path and query are not searched for names. */
export const endOfUrl = (text: string, from: number): number => {
  endsUrl.lastIndex = from
  return endsUrl.exec(text)?.index ?? text.length
}

const longestWithin = 128
/** Whether what begins there is a part of a path or of a query: `/proxy/192.0.2.1/a`, `/?to=192.0.2.1`. */
export const isInPath = (text: string, start: number): boolean => {
  const before = text.charAt(start - 1)
  if (before === '' || !'/=&?%'.includes(before)) return false
  return /(?:^|[\s"'<>()[\]|,;=])\/[^\s"'<>()[\]|,;]+$/.test(text.slice(Math.max(0, start - longestWithin), start))
}
