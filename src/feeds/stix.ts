// STIX 2.1: the indicators of a bundle or of a TAXII answer.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { Details } from './feed.js'
import { listOf, objectsOf, stringOf, stringsOf, type JsonParser } from './json-text.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { stixMarkings } from './tlp.js'

export const looksLikeStix = (value: unknown): boolean =>
  (isObject(value) && (value.type === 'bundle' || Array.isArray(value.objects))) ||
  objectsOf(value).some((item) => item.type === 'bundle' || item.type === 'indicator')

const objectsIn = (value: unknown): readonly AnyObject[] => {
  const bundles = Array.isArray(value) ? objectsOf(value) : [value].filter(isObject)
  return bundles.flatMap((item) => (Array.isArray(item.objects) ? objectsOf(item.objects) : [item]))
}

const detailsOf = (indicator: AnyObject): Details => ({
  score: typeof indicator.confidence === 'number' ? indicator.confidence : undefined,
  categories: [...stringsOf(indicator.indicator_types), ...stringsOf(indicator.labels)],
  since: parseTimestamp(indicator.valid_from),
  expires: parseTimestamp(indicator.valid_until),
  seen: parseTimestamp(indicator.modified) ?? parseTimestamp(indicator.valid_from),
  tlp: stringsOf(indicator.object_marking_refs)
    .map((id) => stixMarkings.get(id))
    .find((tlp) => tlp !== undefined),
})

/** `benign` alone says that the pattern is harmless: a feed that tells what not to accuse. */
const isBenign = (indicator: AnyObject): boolean => {
  const types = listOf(indicator.indicator_types)
  return types.length > 0 && types.every((type) => type === 'benign')
}

export const addStix: JsonParser = (value, sink) => {
  for (const object of objectsIn(value)) {
    if (object.type !== 'indicator' || object.revoked === true || isBenign(object)) continue
    const place = stringOf(object.id) ?? 1
    const pattern = stringOf(object.pattern)
    if (pattern === undefined) {
      if (!sink.skip(place)) return
      continue
    }
    if (object.pattern_type !== undefined && object.pattern_type !== 'stix') continue
    const details = detailsOf(object)
    for (const part of valuesOfPattern(pattern) ?? []) if (!sink.add(part, place, details)) return
  }
}

const maxLength = 1 << 20
const accusing =
  /^(?:ipv4-addr:value|ipv6-addr:value|domain-name:value|url:value|network-traffic:(?:src|dst)_ref\.value)$/

/** A string, a bracket, a comparison sign, or a word: an object path such as `file:hashes.'SHA-256'`, or an operator. */
const token =
  /\s*(?:('(?:[^'\\]|\\.)*')|([[\](),])|(!=|<=|>=|=|<|>)|([\w:*-](?:[\w.:*-]|\[[^\]'\s]{0,40}\]|'[^'\\]{0,64}')*))/y

const tokensOf = (pattern: string): string[] | undefined => {
  const tokens: string[] = []
  const end = pattern.trimEnd().length
  token.lastIndex = 0
  while (token.lastIndex < end) {
    const found = token.exec(pattern)
    if (!found) return undefined
    tokens.push(found[1] ?? found[2] ?? found[3] ?? found[4] ?? '')
  }
  return tokens
}

const textOf = (literal: string): string => literal.slice(1, -1).replace(/\\([^])/g, '$1')

/** The literals of `= 'a'`, `ISSUBSET 'a'` and `IN ('a', 'b')` that start at a token, and the token after them. */
const literalsAt = (tokens: readonly string[], at: number): { literals: string[]; next: number } | undefined => {
  const operator = tokens[at]?.toUpperCase()
  if (operator === '=' || operator === 'ISSUBSET') return { literals: [tokens[at + 1] ?? ''], next: at + 2 }
  if (operator !== 'IN' || tokens[at + 1] !== '(') return undefined
  const end = tokens.indexOf(')', at + 2)
  if (end < 0) return undefined
  return { literals: tokens.slice(at + 2, end).filter((part) => part !== ','), next: end + 1 }
}

/** Brackets only ever surround comparisons here, so counting them is enough: everything between them is joined by OR. */
const skip = (tokens: readonly string[], at: number, brackets: string): number => {
  let next = at
  while (next < tokens.length && brackets.includes(tokens[next] ?? '-')) next++
  return next
}

/**
 * Undefined for a pattern that says more than "one of these was seen": AND, NOT, FOLLOWEDBY, qualifiers, and comparisons
 * that cannot be looked up. Taking a part of such a pattern for the whole would accuse what its author did not.
 * File hashes and the like that are joined by OR are left out.
 */
const valuesOfPattern = (pattern: string): string[] | undefined => {
  const tokens = pattern.length > maxLength ? undefined : tokensOf(pattern)
  if (!tokens?.includes('[')) return undefined
  const values: string[] = []
  let at = 0
  while (at < tokens.length) {
    at = skip(tokens, at, '([')
    const path = tokens[at] ?? ''
    const found = literalsAt(tokens, at + 1)
    if (!found) return undefined
    if (accusing.test(path)) {
      if (!found.literals.every((literal) => literal.startsWith("'"))) return undefined
      for (const literal of found.literals) values.push(textOf(literal))
    }
    at = skip(tokens, found.next, ')]')
    if (at === tokens.length) return values
    if (tokens[at]?.toUpperCase() !== 'OR') return undefined
    at++
  }
  return undefined
}
