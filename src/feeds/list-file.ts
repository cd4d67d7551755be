// Reads a list of addresses, ranges and names: plain text, one entry a line, or a MISP warninglist as JSON.
import { parseRange, type Range } from '../domain/address.js'
import { parseSuffix } from '../domain/hostname.js'
import type { NameEntry } from '../domain/name-set.js'

export type ListEntries = { readonly ranges: readonly Range[]; readonly names: readonly NameEntry[] }
/** `where` is the file with its line, or with the place in its JSON. */
export type ListProblem = { readonly message: string; readonly where: string }
export type ListFile = ListEntries | { readonly problems: readonly ListProblem[] }

type Entry = { readonly text: string; readonly where: string }

/** After this many wrong entries it is the wrong kind of file, and more of the same says nothing new. */
const maxProblems = 20
const maxCharacters = 256 * 1024 * 1024
const maxShown = 80

/** An address or a range covers itself; `.example.com` and `*.example.com` cover example.com and everything below it. */
const readEntries = (entries: Iterable<Entry>, namesCoverBelow: boolean): ListFile => {
  const ranges: Range[] = []
  const names: NameEntry[] = []
  const problems: ListProblem[] = []
  for (const { text, where } of entries) {
    const range = parseRange(text)
    const name = range === undefined ? parseSuffix(text) : undefined
    if (range !== undefined) ranges.push(range)
    else if (name !== undefined)
      names.push({ name, below: namesCoverBelow || text.startsWith('.') || text.startsWith('*.') })
    else {
      problems.push({
        where,
        message: `is not an address, a range or a name: ${JSON.stringify(text.slice(0, maxShown))}`,
      })
      if (problems.length === maxProblems) break
    }
  }
  return problems.length > 0 ? { problems } : { ranges, names }
}

/** What is before a comment: `#` and `;` anywhere, `//` at the start of the line or after a space. */
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

const refuse = (where: string, message: string): ListFile => ({ problems: [{ where, message }] })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const readWarninglist = (file: string, text: string): ListFile => {
  let content: unknown
  try {
    content = JSON.parse(text) as unknown
  } catch (error) {
    return refuse(file, `is not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}`)
  }
  if (!isRecord(content) || !Array.isArray(content.list))
    return refuse(file, 'is JSON but no MISP warninglist: it has no `list` of entries')
  const type = content.type ?? 'string'
  if (type !== 'cidr' && type !== 'hostname' && type !== 'string')
    return refuse(
      file,
      `is a warninglist of type ${JSON.stringify(type)}; only cidr, hostname and string are supported`,
    )
  const list: readonly unknown[] = content.list
  const place = (i: number): string => `${file} list[${String(i)}]`
  const foreign = list.findIndex((entry) => typeof entry !== 'string')
  if (foreign >= 0) return refuse(place(foreign), 'is not a string')
  const entries = list
    .filter((entry) => typeof entry === 'string')
    .map((entry, i) => ({ text: entry.trim(), where: place(i) }))
  // In a warninglist of type hostname an entry stands for the host and everything below it.
  return readEntries(entries, type === 'hostname')
}

export const readListFile = (file: string, content: string): ListFile => {
  if (content.length > maxCharacters) return refuse(file, `is longer than ${String(maxCharacters)} characters`)
  const text = content.startsWith('\uFEFF') ? content.slice(1) : content
  return /^\s*[{[]/.test(text.slice(0, 1000))
    ? readWarninglist(file, text)
    : readEntries(plainEntries(file, text), false)
}
