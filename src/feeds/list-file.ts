// Reads a list of addresses, ranges and names: plain text with one entry per line, or a MISP warninglist in JSON.
import { isObject } from '../base/json-object.js'
import { RE2JS } from 're2js'
import { parseRange, type AddressRange } from '../domain/address.js'
import { parseSuffix } from '../domain/hostname.js'
import type { NameEntry } from '../domain/name-set.js'
import { parseTimestamp } from '../domain/timestamp.js'

export type Listed = { readonly ranges: readonly AddressRange[]; readonly names: readonly NameEntry[] }
export type ListEntries = Listed & {
  /** Warninglists may match names by substring or regular expression. */
  readonly patterns: readonly ((name: string) => boolean)[]
  /** Entries that expire, with the time in epoch milliseconds. */
  readonly expiring: readonly (Listed & { readonly until: number })[]
}
/** `where` is the file with the line, or with the position in its JSON. */
type ListProblem = { readonly message: string; readonly where: string }
type ListFile = ListEntries | { readonly problems: readonly ListProblem[] }

type Entry = { readonly text: string; readonly where: string }

/** With this many wrong entries it is the wrong kind of file, and further problems add nothing. */
const maxProblems = 20
const maxCharacters = 256 * 1024 * 1024
const maxShown = 80

const nothing: ListEntries = { ranges: [], names: [], patterns: [], expiring: [] }
const refuse = (where: string, message: string): ListFile => ({ problems: [{ where, message }] })
const wrong = ({ text, where }: Entry): ListProblem => ({
  where,
  message: `is not an address, a range or a name: ${JSON.stringify(text.slice(0, maxShown))}`,
})

/** An address or a range covers itself; `.example.com` and `*.example.com` cover example.com and everything below it. */
const listedBy = (text: string, coversBelow: boolean): Listed | undefined => {
  const range = parseRange(text)
  if (range !== undefined) return { ranges: [range], names: [] }
  const name = parseSuffix(text)
  const below = coversBelow || text.startsWith('.') || text.startsWith('*.')
  return name === undefined ? undefined : { ranges: [], names: [{ name, below }] }
}

/** The text before a comment: `#` and `;` anywhere, `//` at the start of the line or after a space. */
const beforeComment = (line: string): string => {
  for (let i = 0; i < line.length; i++) {
    const char = line[i]
    if (char === '#' || char === ';') return line.slice(0, i).trim()
    if (char === '/' && line[i + 1] === '/' && (i === 0 || line[i - 1] === ' ' || line[i - 1] === '\t'))
      return line.slice(0, i).trim()
  }
  return line.trim()
}

const plainEntries = function* (file: string, text: string): Generator<Entry> {
  let number = 0
  for (let start = 0; start <= text.length;) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    number++
    const entry = beforeComment(text.slice(start, end))
    if (entry !== '') yield { text: entry, where: `${file}:${String(number)}` }
    start = end + 1
  }
}

/** Why a readable entry does not belong in the list, as a phrase that follows it. */
type WhyNot = (listed: Listed) => string | undefined

/**
 * `203.0.113.7 until 2026-12-01 # false positive` is valid until that day begins (UTC). The list is written by hand, so any error refuses
 * it.
 */
const readPlain = (entries: Iterable<Entry>, whyNot: WhyNot): ListFile => {
  const ranges: AddressRange[] = []
  const names: NameEntry[] = []
  const expiring = new Map<number, { ranges: AddressRange[]; names: NameEntry[] }>()
  const problems: ListProblem[] = []
  for (const entry of entries) {
    const dated = /^(\S+)\s+until\s+(.+)$/i.exec(entry.text)
    const listed = listedBy(dated?.[1] ?? entry.text, false)
    const until = dated ? parseTimestamp(dated[2]) : undefined
    const reason = listed && whyNot(listed)
    if (!listed) problems.push(wrong(entry))
    else if (reason !== undefined)
      problems.push({ where: entry.where, message: `${JSON.stringify(dated?.[1] ?? entry.text)} ${reason}` })
    else if (!dated) {
      ranges.push(...listed.ranges)
      names.push(...listed.names)
    } else if (until === undefined)
      problems.push({ where: entry.where, message: 'must have a date behind until, such as 2026-12-01' })
    else {
      const same = expiring.get(until) ?? { ranges: [], names: [] }
      same.ranges.push(...listed.ranges)
      same.names.push(...listed.names)
      expiring.set(until, same)
    }
    if (problems.length === maxProblems) break
  }
  if (problems.length > 0) return { problems }
  return { ...nothing, ranges, names, expiring: [...expiring].map(([until, listed]) => ({ until, ...listed })) }
}

const kinds = ['cidr', 'hostname', 'string', 'substring', 'regex'] as const
type Kind = (typeof kinds)[number]

/** Public warninglists also contain other things, such as file hashes. The list is refused only if those are the majority. */
const readWarninglist = (file: string, text: string): ListFile => {
  let content: unknown
  try {
    content = JSON.parse(text) as unknown
  } catch (error) {
    return refuse(file, `is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
  if (!isObject(content) || !Array.isArray(content.list))
    return refuse(file, 'is JSON but no MISP warninglist: it has no `list` of entries')
  const type = kinds.find((kind) => kind === (content.type ?? 'string'))
  if (type === undefined)
    return refuse(
      file,
      `is a warninglist of type ${JSON.stringify(content.type)}, which is none of ${kinds.join(', ')}`,
    )
  const list: readonly unknown[] = content.list
  const ranges: AddressRange[] = []
  const names: NameEntry[] = []
  const patterns: ((name: string) => boolean)[] = []
  const problems: ListProblem[] = []
  for (const [i, entry] of list.entries()) {
    const trimmed = typeof entry === 'string' ? entry.trim() : ''
    const pattern = patternOf(type, trimmed)
    // In a warninglist of type hostname, an entry covers the host and everything below it.
    const listed = pattern ? undefined : listedBy(trimmed, type === 'hostname')
    if (pattern) patterns.push(pattern)
    else if (listed) {
      ranges.push(...listed.ranges)
      names.push(...listed.names)
    } else problems.push(wrong({ text: trimmed, where: `${file} list[${String(i)}]` }))
  }
  if (problems.length * 2 > list.length) return { problems: problems.slice(0, maxProblems) }
  return { ...nothing, ranges, names, patterns }
}

const patternOf = (type: Kind, text: string): ((name: string) => boolean) | undefined => {
  if (text === '' || (type !== 'substring' && type !== 'regex')) return undefined
  const lower = text.toLowerCase()
  if (type === 'substring') return (name) => name.includes(lower)
  const [, source = text, flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? []
  try {
    const expression = RE2JS.compile(source, flags.includes('i') ? RE2JS.CASE_INSENSITIVE : 0)
    return (name) => expression.matcher(name).find()
  } catch {
    return undefined // reported as an unusable entry
  }
}

/** `whyNot` checks each entry of a plain list; a warninglist is accepted as published. */
export const readListFile = (file: string, content: string, whyNot: WhyNot = () => undefined): ListFile => {
  if (content.length > maxCharacters) return refuse(file, `is longer than ${String(maxCharacters)} characters`)
  const text = content.startsWith('\uFEFF') ? content.slice(1) : content
  return isWarninglist(text) ? readWarninglist(file, text) : readPlain(plainEntries(file, text), whyNot)
}

/** JSON, as opposed to one entry per line. */
export const isWarninglist = (text: string): boolean => /^\uFEFF?\s*[{[]/.test(text.slice(0, 1000))
