// Finds the indicators of an event and what was done to it: known fields first, free text last.
import { ownText } from '../domain/own-text.js'
import type { Extraction, Role } from '../domain/sighting.js'
import { ObjectEvent, type Event } from './event.js'
import { createActionFinder } from './read/action.js'
import { createFieldRule, type Rule } from './read/field-rule.js'
import { readLine } from './read/line.js'
import { readLaterText, type Reader } from './read/reader.js'
import { createSightings } from './read/sightings.js'
import { createPlaces } from './read/places.js'
import { createScan } from './read/scan.js'
import { readTree } from './read/tree.js'
import { createW3cFields } from './read/w3c-fields.js'

export type ExtractSettings = {
  readonly fields: Readonly<Record<string, Role>>
  readonly maxIndicators: number
  readonly maxDepth: number
  /** The events are the lines of one source in their order, so that a header tells what stands in the lines behind it. */
  readonly isOneSource?: boolean
  /** Tells a name that would be taken for our annotation at the top of an event; looked at once for each name. */
  readonly isOurs?: (name: string) => boolean
}

export type Extract = (event: Event) => Extraction

const maxRules = 4096

export const createExtract = (settings: ExtractSettings): Extract => {
  const ruleOf = remembered(createFieldRule(settings.fields))
  const places = createPlaces(createFieldRule(settings.fields), settings.isOurs)

  // One event is read at a time and to its end, so what gathers its findings is made once.
  const sightings = createSightings(settings.maxIndicators)
  const action = createActionFinder()
  const reader: Reader = {
    sightings,
    action,
    ruleOf,
    maxDepth: settings.maxDepth,
    later: [],
    readLine: (text, field, level) => readLine(reader, places, text, field, level),
  }

  const scanObject = createScan(reader, places)
  const headers = settings.isOneSource === true ? createW3cFields() : undefined

  const begin = (): void => {
    sightings.reset()
    action.reset()
    reader.later.length = 0
    places.begin()
  }
  const end = (isCut: boolean): Extraction => {
    readLaterText(reader)
    sightings.settle(action.isLocalFirst())
    return { action: action.tell(), sightings: sightings.list(), truncated: sightings.truncated() || isCut }
  }

  /** The usual JSON object, read and checked in one pass over its bytes; nothing where a parser has to decide. */
  const scan = (event: ObjectEvent): Extraction | undefined => {
    begin()
    const scanned = scanObject(event.bytes, event.bom ? 3 : 0)
    if (scanned === undefined) return undefined
    const holdsOurs = settings.isOurs === undefined ? undefined : scanned.holdsOurs
    return event.confirm({ holdsOurs, isAscii: scanned.isAscii }) ? end(false) : undefined
  }

  return (event) => {
    const scanned = event instanceof ObjectEvent && event.isOpen ? scan(event) : undefined
    if (scanned !== undefined) return scanned
    begin()
    if (event.value) readTree(reader, places, event.value, 0)
    else if (headers?.read(reader, event.text) !== true) readLine(reader, places, event.text, 'message', 0)
    return end(event.reading === 'too_large')
  }
}

/** Keys come from events, so their number is bounded: a full memory starts anew. */
const remembered = (ruleOf: (path: string) => Rule): ((path: string) => Rule) => {
  const rules = new Map<string, Rule>()
  return (path) => {
    const known = rules.get(path)
    if (known) return known
    if (rules.size >= maxRules) rules.clear()
    const rule = ruleOf(path)
    if (path.length < 200) rules.set(ownText(path), rule)
    return rule
  }
}
