// Undoes the defanging and escaping of text, and finds the host of a URL, of a part of one, or of a mail address.

const mayBeDefanged = /[[({](?:[.:@]|dot|at)[\])}]|hxxp|fxp:|\\\./i

/** Full stops that browsers accept as dots of a name: ideographic, full-width, half-width. */
const wideDot = /[\u3002\uff0e\uff61]/
/** Whether the text has a dot as names have it, in any of its forms. */
export const hasDot = (text: string): boolean => text.includes('.') || wideDot.test(text)

const mayBeWide = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\u3002\uff0e\uff61]/
/** Turns full-width letters and digits into ASCII, and a wide dot between two of them into a dot. After an address it is a full stop. */
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

/** Undoes escapes and defanging in free text: `http:\/\/example.com`, `\u0022`, `\x22`, and a `\n` that stands for a line end. */
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
  /** Path and query; undefined without them, or for `/` alone. */
  readonly path: string | undefined
}

const authority = /([^\s/?#"'<>\\|,;)\]}`&%[]*)(?:\[([^\]]{0,64})\](?::\d{1,5})?)?/y

/** Reads the `user:pass@host:port/path?query` that begins at `from`, and strips the brackets of an IPv6 host. */
export const authorityAt = (text: string, from: number): Authority => {
  authority.lastIndex = from
  const [all = '', plain = '', inBrackets] = authority.exec(text) ?? []
  const name = plain.slice(plain.lastIndexOf('@') + 1)
  const colon = name.indexOf(':')
  const port = colon < 0 && inBrackets === undefined ? 0 : Number(/:(\d{1,5})$/.exec(all)?.[1] ?? 0)
  const end = from + all.length
  return { host: inBrackets ?? (colon < 0 ? name : name.slice(0, colon)), port, end, path: pathAt(text, end) }
}

/** The port of a URL, or else that of its scheme, which may end in a colon; undefined if neither gives one. */
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
/** The end of a URL; its path and query are not searched for names. */
export const endOfUrl = (text: string, from: number): number => {
  endsUrl.lastIndex = from
  return endsUrl.exec(text)?.index ?? text.length
}

const longestWithin = 128
/** Whether the text from `start` on is part of a path or a query: `/proxy/192.0.2.1/a`, `/?to=192.0.2.1`. */
export const isInPath = (text: string, start: number): boolean => {
  const before = text.charAt(start - 1)
  if (before === '' || !'/=&?%'.includes(before)) return false
  return /(?:^|[\s"'<>()[\]|,;=])\/[^\s"'<>()[\]|,;]+$/.test(text.slice(Math.max(0, start - longestWithin), start))
}
