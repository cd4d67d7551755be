// Walks a JSON object once and reads its strings by what their paths mean.
import { parseAddress } from '../../domain/address.js'
import { portRank } from './action-fields.js'
import { longestLabel, placeOfLabel } from './labelled.js'
import type { Place, Places } from './places.js'
import { readByRule, type Reader } from './reader.js'

export const readTree = (
  reader: Reader,
  places: Places,
  value: Readonly<Record<string, unknown>>,
  level: number,
): void => {
  walkObject(reader, places, value, places.root, 1, level, false)
}

const walkObject = (
  reader: Reader,
  places: Places,
  object: Readonly<Record<string, unknown>>,
  parent: Place,
  depth: number,
  level: number,
  isListed: boolean,
): void => {
  let label: string | undefined
  for (const key in object) {
    const item = object[key]
    const type = typeof item
    if (type === 'number' && !key.endsWith('ort')) continue
    let place = parent.children.get(key) ?? places.find(parent, key)
    if (isListed && place.part !== undefined && type === 'string') {
      const text = item as string
      if (place.part === 'given') place = label === undefined ? place : (placeOfLabel(places, parent, label) ?? place)
      else if (place.part === 'label' || label === undefined) label = text.length > longestLabel ? '' : text
    }
    if (type === 'number') {
      if (place.actionRank === portRank) reader.action.see(portRank, place.name, item)
    } else if (type === 'string') {
      const text = item as string
      if (place.actionRank > 0) reader.action.see(place.actionRank, place.name, text)
      if (place.reads === 'none' || text.length < 3) continue
      if (place.reads === 'host') {
        const address = parseAddress(text)
        if (address !== undefined) {
          reader.sightings.add('ip', address, place.path, place.role, 'field')
          continue
        }
      }
      readByRule(reader, place.rule, place.path, text, level)
    } else if (item !== null && type === 'object') {
      if (place.actionRank > 0 && Array.isArray(item)) reader.action.see(place.actionRank, place.name, item)
      walk(reader, places, item as object, place, depth + 1, level, false)
    } else if (place.actionRank === 4) reader.action.see(4, place.name, item)
  }
}

const walk = (
  reader: Reader,
  places: Places,
  item: object,
  place: Place,
  depth: number,
  level: number,
  isListed: boolean,
): void => {
  if (depth > reader.maxDepth) {
    reader.sightings.markTruncated()
    return
  }
  if (!Array.isArray(item)) {
    walkObject(reader, places, item as Record<string, unknown>, place, depth, level, isListed)
    return
  }
  for (const element of item as readonly unknown[]) {
    if (typeof element === 'string') {
      if (place.reads !== 'none' && element.length >= 3) readByRule(reader, place.rule, place.path, element, level)
    } else if (typeof element === 'object' && element !== null)
      walk(reader, places, element, place, depth + 1, level, true)
  }
}
