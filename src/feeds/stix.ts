// STIX 2.1: the indicators of a bundle or of a TAXII answer.
import type { Details, Parser } from './feed.js'
import { isObject, listOf, objectsOf, readJson, stringOf, stringsOf, type JsonObject } from './json-text.js'
import { valuesOfPattern } from './stix-pattern.js'
import { parseTimestamp } from './timestamp.js'

export const looksLikeStix = (value: unknown): boolean =>
  (isObject(value) && (value.type === 'bundle' || Array.isArray(value.objects))) ||
  objectsOf(value).some((item) => item.type === 'bundle' || item.type === 'indicator')

const objectsIn = (value: unknown): readonly JsonObject[] => {
  const bundles = Array.isArray(value) ? objectsOf(value) : [value].filter(isObject)
  return bundles.flatMap((item) => (Array.isArray(item.objects) ? objectsOf(item.objects) : [item]))
}

const detailsOf = (indicator: JsonObject): Details => ({
  score: typeof indicator.confidence === 'number' ? indicator.confidence : undefined,
  categories: [...stringsOf(indicator.indicator_types), ...stringsOf(indicator.labels)],
  since: parseTimestamp(indicator.valid_from),
  expires: parseTimestamp(indicator.valid_until),
  seen: parseTimestamp(indicator.modified) ?? parseTimestamp(indicator.valid_from),
})

/** `benign` alone says that the pattern is harmless: a feed that tells what not to accuse. */
const isBenign = (indicator: JsonObject): boolean => {
  const types = listOf(indicator.indicator_types)
  return types.length > 0 && types.every((type) => type === 'benign')
}

export const parseStix: Parser = (bytes, sink) => {
  const json = readJson(bytes)
  if (!json.ok) return json.problem
  if (!looksLikeStix(json.value)) return { place: 1, message: 'is no STIX bundle' }
  for (const object of objectsIn(json.value)) {
    if (object.type !== 'indicator' || object.revoked === true || isBenign(object)) continue
    const place = stringOf(object.id) ?? 1
    const pattern = stringOf(object.pattern)
    if (pattern === undefined) {
      if (!sink.junk(place)) return undefined
      continue
    }
    if (object.pattern_type !== undefined && object.pattern_type !== 'stix') continue
    const details = detailsOf(object)
    for (const value of valuesOfPattern(pattern) ?? []) if (!sink.add(value, place, details)) return undefined
  }
  return undefined
}
