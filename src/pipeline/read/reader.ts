// What every reader of one event shares: where sightings go, who decides the action, and what a field's name means.
import { actionRank } from './action-fields.js'
import type { ActionFinder } from './action.js'
import type { Rule } from './field-rule.js'
import { pairsOf } from './pairs.js'
import type { Sightings } from './sightings.js'
import { addTokens, readText, type TextToken } from './text.js'
import { readAddress, readHost, readMail, readSubject, readUrl } from './value.js'

export type Reader = {
  readonly sightings: Sightings
  readonly action: ActionFinder
  readonly ruleOf: (path: string) => Rule
  readonly maxDepth: number
  /** Reads text as an event of its own; `level` counts how deep events are inside events. */
  readonly readLine: (text: string, field: string, level: number) => void
  /** Text that is searched when every known field has been read. */
  readonly later: LaterText[]
}

export type LaterText = {
  readonly text: string
  readonly field: string
  readonly isLine: boolean
  /** What was found in it, once it was searched; one that is met again is not searched again. */
  tokens: readonly TextToken[] | undefined
}

const maxLater = 4096

/** Free text waits until all known fields had their turn. */
export const readLater = (reader: Reader, text: string, field: string, isLine = false): void => {
  if (text.length < 4) return
  putLater(reader, { text, field, isLine, tokens: undefined })
}

export const putLater = (reader: Reader, one: LaterText): void => {
  if (reader.later.length < maxLater) reader.later.push(one)
  else reader.sightings.markTruncated()
}

/** One field by its rule; `value` is a string. */
export const readByRule = (reader: Reader, rule: Rule, field: string, value: string, level: number): void => {
  switch (rule.reads) {
    case 'none':
      return
    case 'address':
      if (!value.includes('.') && !value.includes(':')) return
      if (!readAddress(value, field, rule.role, reader.sightings)) readLater(reader, value, field)
      return
    case 'host':
      if (!readHost(value, field, rule.role, reader.sightings)) readLater(reader, value, field)
      return
    case 'url':
      if (!readUrl(value, field, reader.sightings)) readLater(reader, value, field)
      return
    case 'mail':
      readMail(value, field, reader.sightings)
      return
    case 'subject':
      readSubject(value, field, reader.sightings)
      return
    case 'event':
      if (value.includes('.') || value.includes(':')) reader.readLine(value, field, level + 1)
      else reader.action.seeText(value)
      return
    case 'text':
      if (!value.includes('.') && !value.includes(':')) return
      if (isWhole(value) && !fromOutside.test(field)) {
        reader.readLine(value, field, level + 1)
        return
      }
      if (value.includes('=')) readEnds(reader, field, value)
      readLater(reader, value, field)
      return
  }
}

/** What somebody sent is not believed as if the product had told it. */
const fromOutside =
  /body|payload|request|content|post|form|param|arg|query|input|cookie|header|cmd|command|script|response|pass|user|subject|title|name$/i

/** `{…}`, `<Event>…</Event>`: an event inside the event, however the field is called. */
export const isWhole = (value: string): boolean => {
  const first = value.charCodeAt(0)
  if (first === 0x7b) return value.endsWith('}') && /^\{\s{0,8}"/.test(value)
  return first === 0x3c && value.endsWith('>') && value.includes('</')
}

/** A field whose value is made of pairs may tell the ends: `Protocol=ssh;SrcHost=192.0.2.1;DstHost=198.51.100.1;`. */
const readEnds = (reader: Reader, field: string, value: string): void => {
  if (value.length > longestPairs || !/^[A-Za-z][\w.-]{0,40}=/.test(value)) return
  const pairs = pairsOf(value)
  if (pairs.length < 2) return
  for (const pair of pairs) {
    const { reads, role } = reader.ruleOf(pair.key)
    if (reads === 'host' && (role === 'source' || role === 'destination'))
      readHost(pair.value, field, role, reader.sightings)
  }
}
const longestPairs = 4096

/** A key and its value out of text: key=value, CEF, LEEF, `key:"value"`. */
export const readPair = (reader: Reader, key: string, value: string, level: number): void => {
  const rank = actionRank(key)
  if (rank > 0) reader.action.see(rank, key, value)
  if (value.length < 2) return
  if (key.endsWith('eason') || key === 'note') reader.action.seeText(value)
  readByRule(reader, reader.ruleOf(key), key, value, level)
}

export const readLaterText = (reader: Reader): void => {
  const { later, sightings } = reader
  for (const one of later) addTokens((one.tokens ??= readText(one.text, sightings, one.isLine)), one.field, sightings)
}
