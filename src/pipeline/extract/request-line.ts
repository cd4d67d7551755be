// Finds the client in a line about an HTTP request, whatever the order of its columns.
import type { Said } from './text-rules.js'
import type { Token } from './tokens.js'
import { isInPath } from './url.js'

export const methodNames =
  'GET POST HEAD PUT DELETE OPTIONS PATCH CONNECT TRACE PROPFIND REPORT MKCOL MOVE COPY LOCK UNLOCK SEARCH'

/** `GET /a`, `"GET", "/a"`, `GET www.example.com`, also with a tab or the codes of a colour between them. */
const request = new RegExp(
  String.raw`(?<![\w/.%&?=-])(${methodNames.replaceAll(' ', '|')})(?:[\s"',|:\]]|(?:\x1b|#033)\[[\d;]{0,6}m){1,12}(?=/|\*["\s]|https?://|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}[\s:/"])`,
)
/** The size and a quoted column behind a status: what came may have been no request, `"\x16\x03" 400 157 "-"`. */
const answered = /" [1-5]\d\d (?:\d{1,12}|-)(?: (?:[\d.]{1,12}|-)){0,3}(?: "|$)/
const status = /HTTP\/[\d.]{1,3}["']?[\s,|]{1,4}([1-5]\d\d)(?!\d)/

type RequestLine = {
  /** Empty where what came was no request. */
  readonly method: string
  /** Empty where it is not next to the version. */
  readonly status: string
  /** The addresses of X-Forwarded-For, in their order: the first token, and the one behind the last. */
  readonly forwarded: { readonly from: number; readonly to: number } | undefined
}

/** Only for a line in which no word gave an address its role. Nothing where it is about no request. */
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
  // Before a request in quotation marks there is the client alone; behind it there may be the server that answered.
  const end = found !== null && text.charCodeAt(found.index - 1) === 0x22 ? found.index : text.length
  const candidates = places.filter(isCandidate)
  const before = candidates.filter((at) => (tokens[at]?.start ?? 0) < end)
  const [client] = before.length === 0 ? candidates : before
  const isOnly = (before.length === 0 ? candidates : before).every(
    (at) => tokens[at]?.value === tokens[client ?? at]?.value,
  )
  const peer = forwarded && isBlank(text, tokens[forwarded.to - 1], tokens[forwarded.to]) ? forwarded.to : undefined
  if (peer !== undefined && before.length === 2 && before[1] === peer) {
    // `198.51.100.7 203.0.113.9, 10.0.0.2 10.0.0.3 - -`: the server, the list, and who called.
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
