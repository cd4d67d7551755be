// Writes an annotation as ASCII JSON, full or compact.
import {
  annotatedTypes,
  type AnnotatedIndicator,
  type AnnotatedListing,
  type Annotation,
  type AnnotationSummary,
} from '../../domain/annotation.js'
import { flags } from '../../domain/flag.js'
import { levels } from '../../domain/finding.js'
import type { Geo } from '../../domain/geo.js'
import { kindOf, type Reason } from '../../domain/reason.js'
import { roles } from '../../domain/sighting.js'
import { threatClasses } from '../../domain/threat-class.js'

const escapeWide = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const special = /[^ !#-[\]-~]/
/** Printable ASCII without what JSON escapes. */
export const isPlain = (text: string): boolean => {
  if (text.length > 24) return !special.test(text)
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code > 0x7e || code === 0x22 || code === 0x5c) return false
  }
  return true
}

/** A string as JSON; most need no escapes, and checking is cheaper than JSON.stringify. */
export const quote = (text: string): string =>
  isPlain(text) ? `"${text}"` : JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeWide)

/** Flattens a concatenated string, which V8 would otherwise flatten at every use. */
export const flatten = (ascii: string): string => Buffer.from(ascii, 'latin1').toString('latin1')

/** Precomputed texts for closed lists of names. */
const table = <Name extends string>(names: readonly Name[], textOf: (name: Name) => string): Record<Name, string> =>
  Object.fromEntries(names.map((name) => [name, textOf(name)])) as Record<Name, string>
const decided = {
  lookup: table(roles, (role) => `${role}","decision":"lookup"`),
  feeds: table(roles, (role) => `${role}","decision":"feeds"`),
  skip: table(roles, (role) => `${role}","decision":"skip"`),
} as const
const verdicts = table(levels, (level) => `,"verdict":"${level}"`)
const classes = table(threatClasses, (one) => `,"threat_class":"${one}"`)
const flagMembers = flags.map((flag) => ({ flag, yes: `,"${flag}":true`, no: `,"${flag}":false` }))

const fieldMember = (field: string): string => `,"field":${quote(field)},"role":"`

const writeGeo = ({ country, as }: Geo): string => {
  const text = country === undefined ? '' : `,"country":"${country}"`
  if (as === undefined) return text
  return `${text},"as":{"number":${as.number}${as.name === undefined ? '' : `,"name":${quote(as.name)}`}}`
}

const writeOutcome = (one: AnnotatedIndicator): string => {
  let text = verdicts[one.verdict]
  if (one.reason !== undefined) text += `,"reason":"${one.reason}"`
  if (one.score !== undefined) text += `,"score":${one.score}`
  if (one.threat_class !== undefined) text += classes[one.threat_class]
  if (one.flags !== undefined) text += one.flags.length === 0 ? ',"flags":[]' : `,"flags":["${one.flags.join('","')}"]`
  text += writeGeo(one)
  if (one.source !== undefined) text += `,"source":${quote(one.source)}`
  if (one.feed !== undefined) text += `,"feed":${quote(one.feed)}`
  if (one.entry !== undefined) text += `,"entry":${quote(one.entry)}`
  if (one.at !== undefined) text += `,"at":"${one.at}"`
  if (one.stale !== undefined) text += one.stale ? ',"stale":true' : ',"stale":false'
  if (one.former) text += ',"former":true'
  return text + '}'
}

const typeMembers = table(annotatedTypes, (type) => `{"type":"${type}","value":`)

export const writeIndicator = (one: AnnotatedIndicator): string =>
  typeMembers[one.type] +
  quote(one.value) +
  fieldMember(one.field) +
  decided[one.decision][one.role] +
  writeOutcome(one)

const writeListing = (one: AnnotatedListing): string => {
  let text = `{"feed":${quote(one.feed)},"entry":${quote(one.entry)},"level":"${one.level}"`
  if (one.score !== undefined) text += `,"score":${one.score}`
  if (one.categories !== undefined) text += `,"categories":[${one.categories.map(quote).join(',')}]`
  if (one.since !== undefined) text += `,"since":"${one.since}"`
  if (one.expires !== undefined) text += `,"expires":"${one.expires}"`
  return text + '}'
}

const writeActivity = ({ activity, password_accepted }: AnnotationSummary): string => {
  const text = activity === undefined ? '' : `,"activity":"${activity}"`
  return password_accepted === true ? `${text},"password_accepted":true` : text
}

const opening = (a: AnnotationSummary): string => {
  const text = `{"schema_version":1,"status":"${a.status}"${verdicts[a.verdict]}`
  return a.malicious === undefined ? text : text + (a.malicious ? ',"malicious":true' : ',"malicious":false')
}

/** Members of both forms that come last. */
const closing = (a: AnnotationSummary): string => {
  let text = a.former === true ? ',"former":true' : ''
  if (a.truncated === true) text += ',"truncated":true'
  if (a.read_as !== undefined) text += `,"read_as":"${a.read_as}"`
  if (a.replaced !== undefined) text += `,"replaced":${a.replaced}`
  if (a.forged !== undefined) text += `,"forged":${a.forged}`
  return text
}

/** The full form up to the parts that differ in every event: its id and its indicators. */
export const writeSummary = (a: AnnotationSummary): string => {
  let text = opening(a)
  if (a.score !== undefined) text += `,"score":${a.score}`
  if (a.threat_class !== undefined) text += classes[a.threat_class]
  if (a.accusers !== undefined) text += `,"accusers":${a.accusers}`
  if (a.type !== undefined) text += `,"type":"${a.type}"`
  if (a.value !== undefined) text += `,"value":${quote(a.value)}`
  if (a.field !== undefined && a.role !== undefined) text += `${fieldMember(a.field)}${a.role}"`
  text += `,"direction":"${a.direction}","action":"${a.action}"${writeActivity(a)}`
  for (const { flag, yes, no } of flagMembers) {
    const stated = a[flag]
    if (stated !== undefined) text += stated ? yes : no
  }
  text += `,"summary":${quote(a.summary)}`
  if (a.categories !== undefined) text += `,"categories":[${a.categories.map(quote).join(',')}]`
  if (a.reason !== undefined) text += `,"reason":"${a.reason}"`
  text += writeGeo(a)
  if (a.owner !== undefined) text += `,"owner":${quote(a.owner)}`
  if (a.open_ports !== undefined) text += `,"open_ports":[${a.open_ports.join()}]`
  if (a.vulnerabilities !== undefined) text += `,"vulnerabilities":[${a.vulnerabilities.map(quote).join(',')}]`
  if (a.exposes !== undefined) text += `,"exposes":[${a.exposes.map(quote).join(',')}]`
  if (a.source !== undefined) text += `,"source":${quote(a.source)}`
  if (a.feed !== undefined) text += `,"feed":${quote(a.feed)}`
  if (a.entry !== undefined) text += `,"entry":${quote(a.entry)}`
  if (a.listings !== undefined) text += `,"listings":[${a.listings.map(writeListing).join(',')}]`
  if (a.verdict_time !== undefined) text += `,"verdict_time":"${a.verdict_time}"`
  if (a.stale !== undefined) text += a.stale ? ',"stale":true' : ',"stale":false'
  if (a.format !== undefined) text += `,"format":${quote(a.format)}`
  return text + closing(a)
}

export const writeIds = (a: {
  readonly enrichment_id?: string | undefined
  readonly replay_id?: string | undefined
}): string => {
  let text = a.enrichment_id === undefined ? '' : `,"enrichment_id":${quote(a.enrichment_id)}`
  if (a.replay_id !== undefined) text += `,"replay_id":${quote(a.replay_id)}`
  return text
}

export const writeAnnotation = (a: Annotation): string => {
  const omitted = a.indicators_omitted === undefined ? '' : `,"indicators_omitted":${a.indicators_omitted}`
  return `${writeSummary(a)}${writeIds(a)},"indicators":[${a.indicators.map(writeIndicator).join(',')}]${omitted}}`
}

/** Whether the compact form names the deciding indicator: a malicious, suspicious or flagged one. */
const isNamed = (a: AnnotationSummary): boolean =>
  a.verdict === 'malicious' || a.verdict === 'suspicious' || flags.some((flag) => a[flag] === true)

/** Only a missing answer (key, budget, deadline) needs action. */
const isActionable = (reason: Reason | undefined): boolean => reason !== undefined && kindOf(reason) === 'failure'

/** The answer is still to come and can be found by the event's id, so this indicator needs no action. */
const isOnItsWay = (reason: Reason | undefined): boolean => reason === 'pending' || reason === 'deadline'

/** Whether the compact form is the same for all indicators with this verdict and reason. */
export const isCommon = (a: AnnotationSummary): boolean =>
  !isNamed(a) && (!isActionable(a.reason) || isOnItsWay(a.reason)) && a.former === undefined

/** The compact form up to the ids. */
export const writeCompactSummary = (a: AnnotationSummary): string => {
  let text = opening(a)
  if (a.threat_class !== undefined) text += classes[a.threat_class]
  if (a.accusers !== undefined) text += `,"accusers":${a.accusers}`
  if (isNamed(a)) text += `,"type":"${a.type ?? ''}","value":${quote(a.value ?? '')},"role":"${a.role ?? ''}"`
  else if (isActionable(a.reason) && !isOnItsWay(a.reason) && a.value !== undefined)
    text += `,"value":${quote(a.value)}`
  text += `,"direction":"${a.direction}","action":"${a.action}"${isNamed(a) ? writeActivity(a) : ''}`
  for (const { flag, yes } of flagMembers) if (a[flag] === true) text += yes
  if (a.reason !== undefined && isActionable(a.reason)) text += `,"reason":"${a.reason}"`
  if (a.stale === true) text += ',"stale":true'
  return text + closing(a)
}

/** `hasId`: whether to write the event's id. */
export const writeCompact = (a: Annotation, hasId: boolean): string =>
  `${writeCompactSummary(a)}${writeIds(hasId ? a : { ...a, enrichment_id: undefined })}}`
