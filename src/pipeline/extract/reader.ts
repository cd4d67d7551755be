// The state that all readers of one event share, and how a value is read by what its field holds.
import type { ActionFinder } from './action.js'
import type { ActivityFinder } from './activity.js'
import type { Field, FieldOf } from './field.js'
import type { Holds } from './field-words.js'
import type { Port, ActionField } from './action-fields.js'
import type { FlowFinder } from './flow.js'
import { keepWritten, type Written } from './claims.js'
import type { Findings } from './findings.js'
import { guessLabelled, guessRoles, guessTuple } from './position.js'
import { readRequestLine } from './request-line.js'
import { rolesInText, type Said } from './text-rules.js'
import { scanTokens, type Token } from './tokens.js'
import { hasDot, plainText } from './url.js'
import { readAddress, readHost, readMail, readUrl } from './value.js'

export type Reader = {
  readonly findings: Findings
  readonly action: ActionFinder
  readonly flow: FlowFinder
  readonly activity: ActivityFinder
  readonly fieldOf: FieldOf
  /** Reads text as an event; `level` is its depth in a chain of events inside events. */
  readonly readLine: (text: string, field: string, level: number) => void
  /** Text to search once every known field has been read. */
  readonly later: LaterText[]
  /** Headers such as X-Forwarded-For, in their order. */
  readonly forwarded: Written[]
  /** A client's description of itself, if it may contain a URL. */
  readonly written: Written[]
  /** The timestamp in the line, if the format names it. */
  time: string | undefined
  /** Number of names below the top that look like our annotation. */
  forged: number
  /** Takes every named value in the text. */
  readonly note: (name: string, value: unknown) => void
  /** Takes the members of an object in the text. */
  readonly noteMembers: (object: Buffer) => void
}

type LaterText = {
  readonly text: string
  readonly field: string
  /** The text is a whole message and not a field's value, so positions in it mean something. */
  readonly isLine: boolean
}

const maxLater = 4096
const maxTokens = 1024
const maxNames = 64

/** Free text waits until all known fields are read. */
export const readLater = (reader: Reader, text: string, field: string, isLine = false): void => {
  if (text.length < 4) return
  if (reader.later.length < maxLater) reader.later.push({ text, field, isLine })
  else reader.findings.markTruncated()
}

export const readLaterText = (reader: Reader): void => {
  for (const one of reader.later) if (hasDot(one.text) || one.text.includes(':')) search(reader, one)
}

/** `X-Forwarded-For="203.0.113.7, 10.0.0.2"` in a sentence. */
const forwardedFor =
  /\bx[-_ ]?forwarded[-_ ]?for\b["']?\s{0,3}[:=]?\s{0,3}["'[]?((?:[\da-f.:]{3,45}(?:,\s{0,3})?){1,32})/i

const mayBeForwarded = /forwarded/i

const search = (reader: Reader, { text, isLine, field }: LaterText): void => {
  const { findings: out } = reader
  const header = mayBeForwarded.test(text) ? forwardedFor.exec(text) : null
  if (header?.[1] !== undefined) keepWritten(reader.forwarded, header[1], field)
  // The header is kept for later; the rest of the sentence is read without it.
  const plain = plainText(header === null ? text : text.replace(header[0], ' '))
  const tokens: Token[] = []
  let names = 0
  scanTokens(plain, (token) => {
    if (token.kind === 'name' && ++names > maxNames) out.markTruncated()
    else tokens.push(token)
    if (tokens.length < maxTokens) return true
    out.markTruncated()
    return false
  })
  if (tokens.length === 0) return
  const said = rolesInText(plain, tokens)
  settleSides(reader, plain, tokens, said)
  // A guess must not add a second source to one that fields or words gave.
  const isGuessed = isLine && !out.hasSource()
  const request = isGuessed ? readRequestLine(plain, tokens, said) : undefined
  if (request) reader.activity.seeRequest(request.method, request.status)
  if (isGuessed) guessRoles(plain, tokens, said)
  else if (!isLine && tokens.length === 2) guessTuple(plain, tokens, said)
  if (!out.hasSource()) guessLabelled(plain, tokens, said)
  const { from, to } = request?.forwarded ?? { from: 0, to: 0 }
  if (to > 0) keepWritten(reader.forwarded, plain.slice(tokens[from]?.start, tokens[to - 1]?.end), field)
  tokens.forEach(({ kind, type, value, port, path }, at) => {
    if (at >= from && at < to) return
    if (kind === 'url' || kind === 'mail') {
      out.add(type, value, field, kind, 'field', `text:${kind}`, path, port)
      return
    }
    const { role, rule } = said[at] ?? { role: 'other', rule: 'text' }
    out.add(type, value, field, role, kind === 'name' || role === 'other' ? 'text' : 'field', rule)
    out.addPort(role, port ?? 0)
  })
}

const isSide = (one: Said | undefined): boolean => one?.rule === 'text:local' || one?.rule === 'text:remote'

/** `local 192.0.2.1:40001 remote 198.51.100.7:443`: the local end is the source if it began. */
const settleSides = ({ action }: Reader, text: string, tokens: readonly Token[], said: (Said | undefined)[]): void => {
  if (!said.some(isSide)) return
  action.seeVerb(text)
  said.forEach((one, at) => {
    if (isSide(one)) action.seePort(one?.rule === 'text:local' ? 'localPort' : 'remotePort', tokens[at]?.port ?? 0)
  })
  if (!action.isLocalFirst()) return
  said.forEach((one, at) => {
    if (one && isSide(one)) said[at] = { role: one.rule === 'text:local' ? 'source' : 'destination', rule: one.rule }
  })
}

/** Evidence in words about the action and the kind of event. */
export const seeText = ({ action, activity }: Reader, text: string): void => {
  action.seeText(text)
  activity.seeText(text)
}

/** Reads one value by what its field holds. */
export const readValue = (
  reader: Reader,
  { holds, role, rule }: Field,
  field: string,
  value: string,
  level: number,
): void => {
  const place = { field, role, rule }
  // A string that is an object is read as an event, unless a client wrote it.
  if (value.charCodeAt(0) === openBrace && mayBeEvent.has(holds) && objectText.test(value) && !sent.test(field)) {
    reader.readLine(value, field, level + 1)
    return
  }
  if (holds === 'url') {
    reader.note('url.full', value)
    reader.activity.seeRequestLine(value)
    // A path alone may name a URL that the client wants us to fetch.
    if (value.charCodeAt(0) === 0x2f) seeWritten(reader, value, field)
  }
  if (holds === 'none') return
  if (holds === 'mail') {
    readMail(reader.findings, value, place)
    return
  }
  const isDotted = hasDot(value) || value.includes(':')
  if (holds === 'event' && !isDotted) seeText(reader, value)
  else if (!isDotted && holds !== 'url') return
  else if (holds === 'forwarded') keepWritten(reader.forwarded, value, field)
  else if (holds === 'written') seeWritten(reader, value, field)
  else if (holds === 'event') reader.readLine(value, field, level + 1)
  else if (role === 'source' && value.includes(',') && isChain(rule, value)) keepWritten(reader.forwarded, value, field)
  else if (!readers[holds](reader.findings, value, place)) readLater(reader, value, field)
}

/** `client_ip="203.0.113.7, 10.0.0.2"`: the client and the proxies after it. A plural name is a list of several clients. */
const isChain = (rule: string, value: string): boolean =>
  /client|request|remote|user|real|peer/.test(rule) &&
  !/s$/.test(rule) &&
  /^[\da-f.:[\]]+(?:, ?[\da-f.:[\]]+)+$/i.test(value)

const openBrace = 0x7b
const mayBeEvent: ReadonlySet<Holds> = new Set(['host', 'address', 'text'] as const)
/** Content that someone sent: it tells nothing about the action. */
const sent =
  /body|(?:http|re(?:q|quest|sponse)|post|form)[._-]?(?:payload|content|data)|quer(?:y|ies)|param|arg(?:ument)?s?$|cookie|header|input|command|user_?name|password|subject/i
const objectText = /^\{\s{0,8}"[^]*\}\s{0,8}$/

/** Only a URL in it is of interest. */
const seeWritten = ({ written }: Reader, text: string, field: string): void => {
  if (text.includes('://') || /%3a(?:%2f|\/)/i.test(text)) keepWritten(written, text, field)
}

const readers = { host: readHost, address: readAddress, url: readUrl, text: () => false }

export const isPort = (says: ActionField | undefined): says is Port =>
  says === 'port' || says === 'localPort' || says === 'remotePort'

export const readPort = ({ findings, action }: Reader, { says, role }: Field, value: string | number): void => {
  const port = typeof value === 'string' && value.length > 5 ? 0 : Number(value) || 0
  findings.addPort(role, port)
  if (isPort(says)) action.seePort(says, port)
}

/** Reads a key and its value from text: key=value, CEF, LEEF, `key:"value"`. */
export const readPair = (
  reader: Reader,
  key: string,
  value: string,
  level: number,
  field = reader.fieldOf(key),
): void => {
  reader.note(key, value)
  readField(reader, key, value, level, field)
}

/** Like `readPair`, but does not note the value. */
export const readField = (reader: Reader, key: string, value: string, level: number, field: Field): void => {
  if (field.flow !== undefined) reader.flow.see(field.flow, key, value, false)
  if (field.activity !== undefined) reader.activity.see(field.activity, value)
  if (isPort(field.says)) readPort(reader, field, value)
  else if (field.says !== undefined) reader.action.see(field.says, key, value, field.rule)
  if (value.length < 2) return
  readValue(reader, field, key, value, level)
}
