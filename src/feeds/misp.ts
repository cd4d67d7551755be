// MISP events: the attributes meant for detection, alone or in objects, and the manifest of a MISP feed.
import { isObject, type AnyObject } from '../base/json-object.js'
import type { Details } from './feed.js'
import { parsePort } from './parse-port.js'
import { listOf, objectsOf, readJson, stringOf, type JsonParser } from './json-text.js'
import type { SkipReason } from '../domain/skipped.js'
import { parseTimestamp } from '../domain/timestamp.js'
import { tlpOf } from './tlp.js'

/** Attribute type → the parts between `|` that are addresses, names or URLs. */
const parts: ReadonlyMap<string, readonly number[]> = new Map([
  ['ip-src', [0]],
  ['ip-dst', [0]],
  ['ip-src|port', [0]],
  ['ip-dst|port', [0]],
  ['domain', [0]],
  ['hostname', [0]],
  ['hostname|port', [0]],
  ['domain|ip', [0, 1]],
  ['url', [0]],
])

/** The attribute types that can be looked up. */
export const attributeTypes: readonly string[] = [...parts.keys()]

export const looksLikeMisp = (value: unknown): boolean =>
  isObject(value)
    ? isObject(value.Event) || answerIn(value) !== undefined || Array.isArray(value.Attribute)
    : objectsOf(value).some((item) => isObject(item.Event))

/** The content of a search response: events, or attributes in the form of one event. */
const answerIn = ({ response }: AnyObject): readonly unknown[] | undefined => {
  if (Array.isArray(response)) return listOf(response)
  return isObject(response) && Array.isArray(response.Attribute) ? [response] : undefined
}

const eventsIn = (value: unknown): readonly AnyObject[] => {
  const items = Array.isArray(value) ? value : ((isObject(value) ? answerIn(value) : undefined) ?? [value])
  return objectsOf(items).map((item) => (isObject(item.Event) ? item.Event : item))
}

type Attribute = { readonly attribute: AnyObject; readonly isDeleted: boolean; readonly port: number | undefined }

const attributesOf = (event: AnyObject): readonly Attribute[] =>
  [event, ...objectsOf(event.Object)].flatMap((owner) => {
    const attributes = objectsOf(owner.Attribute)
    return attributes.map((attribute) => ({
      attribute,
      isDeleted: attribute.deleted === true || (owner !== event && owner.deleted === true),
      port: portOf(attribute, owner.name === 'ip-port' ? attributes : []),
    }))
  })

/** The port in the value itself; in an ip-port object, the only port at the same end of the connection. */
const portOf = (attribute: AnyObject, beside: readonly AnyObject[]): number | undefined => {
  const { type } = attribute
  if (type === 'ip-src|port' || type === 'ip-dst|port') return parsePort(stringOf(attribute.value)?.split('|', 2)[1])
  const relation = type === 'ip-src' ? 'src-port' : type === 'ip-dst' ? 'dst-port' : undefined
  const ports = beside.filter((other) => relation !== undefined && other.object_relation === relation)
  return ports.length === 1 ? parsePort(stringOf(ports[0]?.value)) : undefined
}

/** Handling instructions are not threat categories; the TLP is read separately. */
const tagsOf = (owner: AnyObject): readonly string[] =>
  objectsOf(owner.Tag)
    .map((tag) => stringOf(tag.name))
    .filter((name) => name !== undefined)
    .filter((name) => !/^(?:tlp|pap|workflow|osint):/i.test(name))

const isForDetection = (attribute: AnyObject): boolean =>
  attribute.to_ids === true || attribute.to_ids === 1 || attribute.to_ids === '1'

/** Why an attribute is not an entry. */
const whyNot = ({ attribute, isDeleted }: Attribute): SkipReason | undefined => {
  if (!parts.has(String(attribute.type))) return 'not_looked_up'
  if (isDeleted) return 'revoked'
  return isForDetection(attribute) ? undefined : 'not_for_detection'
}

const tlpIn = (owner: AnyObject): string | undefined =>
  objectsOf(owner.Tag)
    .map((tag) => tlpOf(stringOf(tag.name)))
    .find((tlp) => tlp !== undefined)

/** Confidence as a score, with the numbers of MISP's taxonomies. Tags for "cannot be judged" have none. */
const confidences: ReadonlyMap<string, number> = new Map([
  ['misp:confidence-level="completely-confident"', 100],
  ['misp:confidence-level="usually-confident"', 75],
  ['misp:confidence-level="fairly-confident"', 50],
  ['misp:confidence-level="rarely-confident"', 25],
  ['misp:confidence-level="unconfident"', 0],
  ['admiralty-scale:information-credibility="1"', 100],
  ['admiralty-scale:information-credibility="2"', 75],
  ['admiralty-scale:information-credibility="3"', 50],
  ['admiralty-scale:information-credibility="4"', 25],
  ['admiralty-scale:information-credibility="5"', 0],
])

const scoreOf = (tags: readonly AnyObject[]): number | undefined =>
  tags.map((tag) => confidences.get(stringOf(tag.name)?.toLowerCase() ?? '')).find((score) => score !== undefined)

const detailsOf = (
  attribute: AnyObject,
  eventTags: readonly string[],
  eventTlp: string | undefined,
  eventScore: number | undefined,
): Details => {
  const category = stringOf(attribute.category)
  const score = scoreOf([...objectsOf(attribute.Tag), ...objectsOf(attribute.EventTag)]) ?? eventScore
  return {
    ...(score !== undefined && { score }),
    categories: [...(category === undefined ? [] : [category]), ...tagsOf(attribute), ...eventTags],
    firstSeen: parseTimestamp(attribute.first_seen),
    seen: parseTimestamp(attribute.last_seen) ?? parseTimestamp(attribute.timestamp),
    tlp: tlpIn(attribute) ?? eventTlp,
  }
}

export const addMisp: JsonParser = (json, sink) => {
  for (const event of eventsIn(json)) {
    const eventTags = tagsOf(event)
    const eventTlp = tlpIn(event)
    const eventScore = scoreOf(objectsOf(event.Tag))
    for (const one of attributesOf(event)) {
      const { attribute } = one
      const places = parts.get(String(attribute.type)) ?? []
      const value = stringOf(attribute.value)
      const uuid = stringOf(attribute.uuid)
      const place = uuid ?? value ?? 1
      const why =
        uuid === undefined || sink.isNewest(uuid, Number(attribute.timestamp) || 0) ? whyNot(one) : 'superseded'
      if (why !== undefined) {
        if (!sink.skip(place, why, `${String(attribute.type)} ${value ?? ''}`)) return
        continue
      }
      const values = attribute.type === 'url' ? [value] : value?.split('|', 2)
      const details = { ...detailsOf(attribute, eventTags, eventTlp, eventScore), port: one.port }
      for (const at of places) {
        const part = values?.[at]
        if (!(part === undefined ? sink.skip(place) : sink.add(part, place, details))) return
      }
    }
  }
}

export type Manifest =
  | {
      readonly ok: true
      readonly files: readonly string[]
      /** When each file last changed, according to the manifest. */
      readonly timestamps: ReadonlyMap<string, string>
    }
  | { readonly ok: false; readonly message: string }

const maxEvents = 100_000

/** The event files in a feed's manifest. Ids are validated before they become part of a path. */
export const readManifest = (bytes: Buffer): Manifest => {
  const json = readJson(bytes)
  if (!json.ok || !isObject(json.value)) return { ok: false, message: 'is no manifest of a MISP feed' }
  const ids = Object.keys(json.value)
  if (ids.length > maxEvents) return { ok: false, message: `names more than ${maxEvents} events` }
  const bad = ids.find((id) => !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id))
  if (bad !== undefined)
    return { ok: false, message: `names an event that is no UUID: ${JSON.stringify(bad.slice(0, 64))}` }
  const timestamps = Object.entries(json.value).flatMap(([id, event]): [string, string][] => {
    const timestamp = isObject(event) ? event.timestamp : undefined
    return typeof timestamp === 'string' || typeof timestamp === 'number' ? [[`${id}.json`, String(timestamp)]] : []
  })
  return { ok: true, files: ids.map((id) => `${id}.json`), timestamps: new Map(timestamps) }
}
