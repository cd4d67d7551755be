// Finds the client in a line about an HTTP request, in any order of its columns.
import type { Said } from './text-rules.js'
import type { Token } from './tokens.js'
import { isInPath } from './url.js'

export const methodNames =
  'GET POST HEAD PUT DELETE OPTIONS PATCH CONNECT TRACE PROPFIND REPORT MKCOL MOVE COPY LOCK UNLOCK SEARCH'

/** `GET /a`, `"GET", "/a"`, `GET www.example.com`; a tab or colour codes may separate the parts. */
const request = new RegExp(
  String.raw`(?<![\w/.%&?=-])(${methodNames.replaceAll(' ', '|')})(?:[\s"',|:\]]|(?:\x1b|#033)\[[\d;]{0,6}m){1,12}(?=/|\*["\s]|https?://|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}[\s:/"])`,
)
/** A status, a size and a quoted column. The input may not have been a request: `"\x16\x03" 400 157 "-"`. */
const answered = /" [1-5]\d\d (?:\d{1,12}|-)(?: (?:[\d.]{1,12}|-)){0,3}(?: "|$)/
const status = /HTTP\/[\d.]{1,3}["']?[\s,|]{1,4}([1-5]\d\d)(?!\d)/

type RequestLine = {
  /** Empty if the input was not a request. */
  readonly method: string
  /** Empty if it is not next to the version. */
  readonly status: string
  /** The addresses of X-Forwarded-For in order: the first token, and the one after the last. */
  readonly forwarded: { readonly from: number; readonly to: number } | undefined
}

/** For a line in which no word gave an address its role. Undefined if the line is not about a request. */
export const readRequestLine = (
  text: string,
  tokens: readonly Token[],
  said: (Said | undefined)[],
): RequestLine | undefined => {
  if (tokens.some(({ kind }, at) => kind === 'address' && said[at] !== undefined)) return undefined
  const places = tokens.flatMap(({ kind }, at) => (kind === 'address' ? [at] : []))
  if (places.length === 0) return undefined
  const found = request.exec(text)
  if (found === null && !(text.includes('" ') && answered.test(text))) return undefined
  const forwarded = chainIn(text, tokens)
  const isCandidate = (at: number): boolean =>
    (forwarded === undefined || at < forwarded.from || at >= forwarded.to) && !isInPath(text, tokens[at]?.start ?? 0)
  // Only the client is written before a quoted request; after it there may be the server that answered.
  const end = found !== null && text.charCodeAt(found.index - 1) === 0x22 ? found.index : text.length
  const candidates = places.filter(isCandidate)
  const before = candidates.filter((at) => (tokens[at]?.start ?? 0) < end)
  const [client] = before.length === 0 ? candidates : before
  const isOnly = (before.length === 0 ? candidates : before).every(
    (at) => tokens[at]?.value === tokens[client ?? at]?.value,
  )
  const peer = forwarded && isBlank(text, tokens[forwarded.to - 1], tokens[forwarded.to]) ? forwarded.to : undefined
  if (peer !== undefined && before.length === 2 && before[1] === peer) {
    // `198.51.100.7 203.0.113.9, 10.0.0.2 10.0.0.3 - -`: the server, the list, and the caller.
    said[before[0] ?? 0] = { role: 'destination', rule: 'position:request' }
    said[peer] = { role: 'source', rule: 'position:request' }
  } else if (client !== undefined && isOnly) said[client] = { role: 'source', rule: 'position:request' }
  return { method: found?.[1] ?? '', status: status.exec(text)?.[1] ?? '', forwarded }
}

/** `"203.0.113.7, 10.0.0.2"` */
const chainIn = (text: string, tokens: readonly Token[]): RequestLine['forwarded'] => {
  for (let from = 0; from < tokens.length; from++) {
    let to = from + 1
    while (isListed(text, tokens[to - 1], tokens[to])) to++
    if (to > from + 1) return { from, to }
  }
  return undefined
}
const isBlank = (text: string, one: Token | undefined, next: Token | undefined): boolean =>
  next?.kind === 'address' && text.slice(one?.end, next.start) === ' '
const isListed = (text: string, one: Token | undefined, next: Token | undefined): boolean =>
  one?.kind === 'address' && next?.kind === 'address' && /^, ?$/.test(text.slice(one.end, next.start))
