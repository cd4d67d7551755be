// Writes an annotation as JSON, in the order a reader should meet its members; ASCII throughout, so that its length is its size.
import type { AnnotatedIndicator, Annotation } from '../domain/annotation.js'
import { flags, type Flag } from '../domain/flag.js'
import { levels } from '../domain/finding.js'
import { reasons } from '../domain/reason.js'
import { roles } from '../domain/sighting.js'

const escapeWide = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const special = /[^ !#-[\]-~]/
const isPlain = (text: string): boolean => {
  if (text.length > 24) return !special.test(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false
  }
  return true
}

/** A string as JSON; nearly all need no escape, and a look is cheaper than the serialiser. */
export const quote = (text: string): string =>
  isPlain(text) ? `"${text}"` : JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeWide)

/** The same texts come with every event: they are joined once. Made of closed lists, or bounded. */
const table = <Name extends string>(names: readonly Name[], textOf: (name: Name) => string): Record<Name, string> =>
  Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Name, string>
const decided = {
  lookup: table(roles, (role) => `${role}","decision":"lookup"`),
  feeds: table(roles, (role) => `${role}","decision":"feeds"`),
  skip: table(roles, (role) => `${role}","decision":"skip"`),
} as const
const verdicts = table(levels, (level) => `,"verdict":"${level}"`)
const unknowns = table(reasons, (reason) => `,"verdict":"unknown","reason":"${reason}"}`)
const flagMembers = flags.map((flag) => ({ flag, yes: `,"${flag}":true`, no: `,"${flag}":false` }))

const maxFields = 4096
const fields = new Map<string, string>()
const fieldMember = (field: string): string => {
  let text = fields.get(field)
  if (text === undefined) {
    text = `,"field":${quote(field)},"role":"`
    if (fields.size >= maxFields) fields.clear()
    fields.set(field, text)
  }
  return text
}

const writeOutcome = (one: AnnotatedIndicator): string => {
  let text = verdicts[one.verdict]
  if (one.reason !== undefined) text += `,"reason":"${one.reason}"`
  if (one.score !== undefined) text += `,"score":${one.score}`
  if (one.flags !== undefined) text += one.flags.length === 0 ? ',"flags":[]' : `,"flags":["${one.flags.join('","')}"]`
  if (one.source !== undefined) text += `,"source":${quote(one.source)}`
  if (one.feed !== undefined) text += `,"feed":${quote(one.feed)}`
  if (one.entry !== undefined) text += `,"entry":${quote(one.entry)}`
  if (one.at !== undefined) text += `,"at":"${one.at}"`
  if (one.stale !== undefined) text += one.stale ? ',"stale":true' : ',"stale":false'
  return text + '}'
}

/**
 * One verdict is met in many events, and its list of flags with it. The list is only where to look: what was written is
 * used again only for an indicator that says the same.
 */
const outcomes = new WeakMap<readonly Flag[], { readonly of: AnnotatedIndicator; readonly text: string }>()
const sameOutcome = (a: AnnotatedIndicator, b: AnnotatedIndicator): boolean =>
  a.at === b.at &&
  a.score === b.score &&
  a.verdict === b.verdict &&
  a.stale === b.stale &&
  a.source === b.source &&
  a.feed === b.feed &&
  a.entry === b.entry &&
  a.reason === b.reason
const outcome = (one: AnnotatedIndicator): string => {
  if (one.flags === undefined) {
    if (one.reason !== undefined && one.source === undefined && one.score === undefined && one.at === undefined)
      if (one.verdict === 'unknown' && one.feed === undefined && one.entry === undefined && one.stale === undefined)
        return unknowns[one.reason]
    return writeOutcome(one)
  }
  const known = outcomes.get(one.flags)
  if (known !== undefined && sameOutcome(known.of, one)) return known.text
  const text = writeOutcome(one)
  if (Object.isFrozen(one.flags)) outcomes.set(one.flags, { of: one, text })
  return text
}

export const writeIndicator = (one: AnnotatedIndicator): string =>
  (one.type === 'ip' ? '{"type":"ip","value":' : '{"type":"domain","value":') +
  quote(one.value) +
  fieldMember(one.field) +
  decided[one.decision][one.role] +
  outcome(one)

export const writeAnnotation = (a: Annotation): string => {
  let text = `{"schema_version":1,"status":"${a.status}"${verdicts[a.verdict]}`
  if (a.malicious !== undefined) text += a.malicious ? ',"malicious":true' : ',"malicious":false'
  if (a.score !== undefined) text += `,"score":${a.score}`
  if (a.type !== undefined) text += a.type === 'ip' ? ',"type":"ip"' : ',"type":"domain"'
  if (a.value !== undefined) text += `,"value":${quote(a.value)}`
  if (a.field !== undefined && a.role !== undefined) text += `${fieldMember(a.field)}${a.role}"`
  text += `,"direction":"${a.direction}","action":"${a.action}"`
  for (const { flag, yes, no } of flagMembers) {
    const stated = a[flag]
    if (stated !== undefined) text += stated ? yes : no
  }
  text += `,"summary":${quote(a.summary)}`
  if (a.reason !== undefined) text += `,"reason":"${a.reason}"`
  if (a.source !== undefined) text += `,"source":${quote(a.source)}`
  if (a.feed !== undefined) text += `,"feed":${quote(a.feed)}`
  if (a.entry !== undefined) text += `,"entry":${quote(a.entry)}`
  if (a.verdict_time !== undefined) text += `,"verdict_time":"${a.verdict_time}"`
  if (a.stale !== undefined) text += a.stale ? ',"stale":true' : ',"stale":false'
  if (a.truncated !== undefined) text += a.truncated ? ',"truncated":true' : ',"truncated":false'
  if (a.read_as !== undefined) text += `,"read_as":"${a.read_as}"`
  if (a.replaced !== undefined) text += `,"replaced":${a.replaced}`
  if (a.enrichment_id !== undefined) text += `,"enrichment_id":${quote(a.enrichment_id)}`
  if (a.replay_id !== undefined) text += `,"replay_id":${quote(a.replay_id)}`
  text += ',"indicators":['
  let comma = ''
  for (const one of a.indicators) {
    text += comma + writeIndicator(one)
    comma = ','
  }
  return text + (a.indicators_omitted === undefined ? ']}' : `],"indicators_omitted":${a.indicators_omitted}}`)
}
