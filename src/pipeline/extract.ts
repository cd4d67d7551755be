// Finds the indicators of an event and what was done to it: known fields first, free text last.
import type { Extraction, Role } from '../domain/sighting.js'
import type { Event } from './event.js'
import { createActionFinder } from './read/action.js'
import { createFieldRule, type Rule } from './read/field-rule.js'
import { readLine } from './read/line.js'
import { readLaterText, type Reader } from './read/reader.js'
import { createSightings } from './read/sightings.js'
import { createPlaces, readTree } from './read/tree.js'

export type ExtractSettings = {
  readonly fields: Readonly<Record<string, Role>>
  readonly maxIndicators: number
  readonly maxDepth: number
}

export type Extract = (event: Event) => Extraction

const maxRules = 4096

export const createExtract = (settings: ExtractSettings): Extract => {
  const ruleOf = remembered(createFieldRule(settings.fields))
  const places = createPlaces(createFieldRule(settings.fields))

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

  return (event) => {
    sightings.reset()
    action.reset()
    reader.later.length = 0
    if (event.value) readTree(reader, places, event.value, 0)
    else readLine(reader, places, event.text, 'message', 0)
    readLaterText(reader)
    const truncated = sightings.truncated() || event.reading === 'too_large'
    return { action: action.tell(), sightings: sightings.list(), truncated }
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
    if (path.length < 200) rules.set(path, rule)
    return rule
  }
}
