// Reads STIX 2.1: the indicators of a bundle or a TAXII answer; objects that were merely observed are skipped.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { Details, Place, Sink } from './feed.js'
import { listOf, objectsOf, stringOf, stringsOf, type JsonParser } from './json-text.js'
import { readPattern } from './stix-pattern.js'
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
  categories: [...stringsOf(indicator.indicator_types), ...stringsOf(indicator.labels).flatMap(categoryOf)],
  since: parseTimestamp(indicator.valid_from),
  expires: parseTimestamp(indicator.valid_until),
  seen: parseTimestamp(indicator.modified) ?? parseTimestamp(indicator.valid_from),
  tlp: stringsOf(indicator.object_marking_refs)
    .map((id) => stixMarkings.get(id))
    .find((tlp) => tlp !== undefined),
})

/** MISP writes attribute metadata into labels: the category is used, type and to_ids are dropped. */
const categoryOf = (label: string): readonly string[] => {
  const [, name, value = ''] = /^misp:([a-z_-]+)="(.*)"$/i.exec(label) ?? []
  if (name === undefined) return [label]
  return name === 'category' ? [value] : name === 'type' || name === 'to_ids' ? [] : [label]
}

/** `benign` as the only type marks a harmless pattern. */
const isBenign = (indicator: AnyObject): boolean => {
  const types = listOf(indicator.indicator_types)
  return types.length > 0 && types.every((type) => type === 'benign')
}

/** Objects that record observations, which accuse nothing. Other objects only describe and are ignored. */
const observed: ReadonlySet<unknown> = new Set([
  'ipv4-addr',
  'ipv6-addr',
  'domain-name',
  'url',
  'network-traffic',
  'observed-data',
])

/** Of the versions of an object, only the newest counts. */
export const addStix: JsonParser = (value, sink) => {
  const objects = objectsIn(value)
  const newest = newestOf(objects)
  const isNewest = (object: AnyObject, id: string): boolean =>
    newest.get(id) === object && sink.isNewest(id, modifiedAt(object))
  for (const object of objects) {
    const id = stringOf(object.id)
    const place = id ?? 1
    if (id !== undefined && object.type === 'indicator' && !isNewest(object, id)) {
      if (!sink.skip(place, 'superseded')) return
      continue
    }
    if (!(object.type === 'indicator' ? addIndicator(object, place, sink) : skipObserved(object, place, sink))) return
  }
}

const newestOf = (objects: readonly AnyObject[]): ReadonlyMap<string, AnyObject> => {
  const newest = new Map<string, AnyObject>()
  for (const object of objects) {
    const id = stringOf(object.id)
    const known = id === undefined ? undefined : newest.get(id)
    if (id !== undefined && (known === undefined || modifiedAt(object) >= modifiedAt(known))) newest.set(id, object)
  }
  return newest
}

const modifiedAt = ({ modified }: AnyObject): number => parseTimestamp(modified) ?? 0

const skipObserved = ({ type }: AnyObject, place: Place, sink: Sink): boolean =>
  !observed.has(type) || sink.skip(place, 'not_for_detection')

const addIndicator = (indicator: AnyObject, place: Place, sink: Sink): boolean => {
  if (indicator.revoked === true) return sink.skip(place, 'revoked')
  if (isBenign(indicator)) return sink.skip(place, 'harmless')
  const pattern = stringOf(indicator.pattern)
  if (pattern === undefined) return sink.skip(place)
  if (indicator.pattern_type !== undefined && stringOf(indicator.pattern_type)?.toLowerCase() !== 'stix')
    return sink.skip(place, 'other_language', pattern)
  const details = detailsOf(indicator)
  const { values, skipped } = readPattern(pattern)
  return (
    values.every((part) => sink.add(part, place, details)) &&
    skipped.every((reason) => sink.skip(place, reason, pattern))
  )
}
