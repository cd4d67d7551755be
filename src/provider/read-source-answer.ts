// Converts the answer of a source into at most one listing or a clean opinion, and flags; rejects an answer that does not fit the description.
import { replaceControls } from '../domain/control-characters.js'
import { parseAddress } from '../domain/address.js'
import type { Facts, Listing } from '../domain/finding.js'
import { parseHostname } from '../domain/hostname.js'
import type { Indicator } from '../domain/indicator.js'
import { parseTimestamp } from '../domain/timestamp.js'
import type { AnyObject } from '../base/json-object.js'
import { parsePath, valuesAt } from './answer-path.js'
import { ownText } from '../base/bounded-cache.js'
import type { DescriptiveFlag, SourceDescription, SourceRow } from '../domain/source-description.js'

const maxCategories = 8
const maxEvidence = 80

/** The answer does not fit the description of the source. */
class Unfit extends Error {}

export const readAnswer = (
  source: SourceDescription,
  indicator: Indicator,
  answer: AnyObject,
  now: number,
): { readonly facts: Facts } | { readonly problem: string } => {
  try {
    return { facts: factsOf(source, indicator, answer, now) }
  } catch (error) {
    if (error instanceof Unfit) return { problem: error.message }
    throw error
  }
}

const factsOf = (source: SourceDescription, indicator: Indicator, answer: AnyObject, now: number): Facts => {
  if (source.subject !== undefined && !isAbout(indicator, valuesIn(answer, source.subject)))
    throw new Unfit(`the answer is not about what was asked: ${source.subject}`)
  if (!source.rows.some(({ path }) => isThere(answer, path)))
    throw new Unfit('the answer has none of the members of the rows')
  // Every row is evaluated, so that a wrong type is noticed in any of them.
  const matches = source.rows.map((row) => evidenceFor(row, answer))
  const at = matches.findIndex((evidence) => evidence !== undefined)
  const row = source.rows[at]
  const described = flagsOf(source, answer)
  const facts: Facts = { flags: {}, categories: [], ...(Object.keys(described).length > 0 && { described }) }
  if (!row || row.level === 'nothing') return facts
  if (row.level === 'clean') return { ...facts, clearedBy: [source.id] }
  const since = sinceOf(source, answer, now)
  const listing: Listing = {
    feed: source.id,
    entry: indicator.value,
    level: row.level,
    ...(row.score !== undefined && { score: row.score }),
    categories: categoriesOf(source, answer),
    ...(since !== undefined && { since }),
    evidence: matches[at] ?? '',
    at: now,
  }
  return { ...facts, listings: [listing] }
}

/** Null counts as absent; another shape than described makes the whole answer unfit. */
const valuesIn = (answer: AnyObject, path: string): readonly unknown[] =>
  valuesAt(answer, parsePath(path), (name, wanted) => {
    throw new Unfit(
      wanted === 'list' ? `${path}: ${name} is not a list` : `${path}: there is no object where ${name} should be`,
    )
  })

/** An empty list counts as present. */
const isThere = (answer: AnyObject, path: string): boolean => {
  const list = path.indexOf('[]')
  return valuesIn(answer, list < 0 ? path : path.slice(0, list)).length > 0
}

const isAbout = ({ type, value }: Indicator, named: readonly unknown[]): boolean => {
  const [name] = named
  if (named.length !== 1 || typeof name !== 'string' || name.length > 260) return false
  return (type === 'ip' ? parseAddress(name) : parseHostname(name)) === value
}

/** The evidence in words; undefined if the row does not match. */
const evidenceFor = (row: SourceRow, answer: AnyObject): string | undefined => {
  const { path, equals, atLeast, count } = row
  const name = (path.split('.').at(-1) ?? path).replace('[]', '')
  for (const value of valuesIn(answer, path)) {
    if (count !== undefined) {
      if (!Array.isArray(value)) throw new Unfit(`${path} is not a list`)
      if (value.length >= count) return `${name} ${value.length}`
    } else if (atLeast !== undefined) {
      if (typeof value !== 'number' || !Number.isFinite(value)) throw new Unfit(`${path} is not a number`)
      if (value >= atLeast) return `${name} ${String(value).slice(0, maxEvidence)}`
    } else {
      if (typeof value !== typeof equals) throw new Unfit(`${path} is not ${kindOf[typeof equals] ?? 'as described'}`)
      if (value === equals) return `${name} ${oneLine(String(value))}`
    }
  }
  return undefined
}

const kindOf: Readonly<Record<string, string>> = { string: 'text', number: 'a number', boolean: 'true or false' }

const oneLine = (text: string): string => ownText(replaceControls(text.slice(0, maxEvidence), () => ' ').trim())

const flagsOf = ({ flags }: SourceDescription, answer: AnyObject): { [flag in DescriptiveFlag]?: boolean } => {
  const stated: { [flag in DescriptiveFlag]?: boolean } = {}
  for (const [flag, where] of Object.entries(flags) as [DescriptiveFlag, (typeof flags)[DescriptiveFlag]][]) {
    if (where === undefined) continue
    const path = typeof where === 'string' ? where : where.path
    const wanted = typeof where === 'string' ? true : where.equals
    const values = valuesIn(answer, path)
    for (const value of values)
      if (typeof value !== typeof wanted) throw new Unfit(`${path} is not ${kindOf[typeof wanted] ?? 'as described'}`)
    if (values.length > 0) stated[flag] = values.includes(wanted)
  }
  return stated
}

const categoriesOf = ({ categories }: SourceDescription, answer: AnyObject): readonly string[] => {
  if (!categories) return []
  const found = new Set<string>()
  for (const value of valuesIn(answer, categories.path)) {
    if (typeof value !== 'string' && typeof value !== 'number')
      throw new Unfit(`${categories.path} is neither text nor a number`)
    const name = String(value)
    if (Object.hasOwn(categories.words, name)) found.add(categories.words[name] ?? '')
  }
  return [...found].slice(0, maxCategories)
}

/** The newest of several times; times in the future are ignored. */
const sinceOf = ({ since }: SourceDescription, answer: AnyObject, now: number): number | undefined => {
  if (since === undefined) return undefined
  let newest: number | undefined
  for (const value of valuesIn(answer, since)) {
    if (typeof value !== 'string' && typeof value !== 'number') throw new Unfit(`${since} is not a time`)
    const time = parseTimestamp(value)
    if (time !== undefined && time <= now && time > (newest ?? -Infinity)) newest = time
  }
  return newest
}
