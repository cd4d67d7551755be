// Inserts an annotation into the bytes of a JSON object, or wraps any other event.
import { isUtf8 } from 'node:buffer'
import type { Annotation } from '../../domain/annotation.js'
import { endpointsOf, type Endpoint } from '../../domain/endpoints.js'
import type { Event } from '../event.js'
import { placeAdditions, type Addition } from './addition.js'
import { createAnnotationKey } from './annotation-key.js'
import { applyEdits, createCuts } from './edit.js'
import { visitItems, type JsonItem } from './json-items.js'
import { layerEcs, layerOcsf } from './layers.js'
import { createSlabWriter } from './slab-writer.js'
import { quote } from './write-annotation.js'

export type PlaceSettings = {
  readonly key: string
  readonly onExisting: 'replace' | 'keep'
  readonly layers: readonly ('ecs' | 'ocsf')[]
  /** The events were annotated by us: existing annotations are replaced and not counted as forgeries. */
  readonly isAnnotatedInput?: boolean
}

type Seen = Parameters<typeof endpointsOf>[0]

export type PlaceAnnotation = {
  /**
   * The event with its annotation. `text` is the annotation as pieces of ASCII JSON; its value is created only for ECS and OCSF.
   * An event that is not a JSON object gets the endpoints from `seen` as fields, and `time` in epoch milliseconds.
   */
  (event: Event, text: readonly string[], seen: Seen, annotation: () => Annotation, time?: number): Buffer
  /** The number of members that look like our annotation and are replaced. */
  readonly forgeriesIn: (event: Event) => number
}

const openBrace = 0x7b
const closeBrace = 0x7d
const layers = { ecs: layerEcs, ocsf: layerOcsf } as const
const none: readonly Addition[] = []

/** Whether the object that ends at `close` is empty. */
const isEmptyBefore = (bytes: Buffer, close: number): boolean => {
  let at = close - 1
  while ((bytes[at] ?? openBrace) <= 0x20) at--
  return bytes[at] === openBrace
}

const writeEndpoint = ({ ip, domain, port }: Endpoint): string => {
  let text = ip === undefined ? '' : `,"ip":${quote(ip)}`
  if (domain !== undefined) text += `,"domain":${quote(domain)}`
  if (port !== undefined) text += `,"port":${port}`
  return `{${text.slice(1)}}`
}

export const createPlace = (settings: PlaceSettings): PlaceAnnotation => {
  const { key, layers: wanted, isAnnotatedInput = false } = settings
  const onExisting = isAnnotatedInput ? 'replace' : settings.onExisting
  const { isAnnotationName } = createAnnotationKey(key)
  const writer = createSlabWriter()
  const member = `"${key}":`
  const commaMember = `,${member}`
  const isAnnotation = ({ name }: JsonItem): boolean => name !== undefined && isAnnotationName(name)
  const annotationsIn = (bytes: Buffer): number => {
    let count = 0
    visitItems(bytes, bytes.indexOf(openBrace), (item) => {
      if (isAnnotation(item)) count++
    })
    return count
  }

  const holds = ({ reading, hasAnnotationName, bytes }: Event): boolean =>
    reading === 'json' && (hasAnnotationName ?? annotationsIn(bytes) > 0)

  const forgeriesIn = (event: Event): number =>
    isAnnotatedInput || onExisting === 'keep' || !holds(event) ? 0 : annotationsIn(event.bytes)

  /** The usual case: one insertion before the last bracket. */
  const splice = (bytes: Buffer, text: readonly string[]): Buffer => {
    let close = bytes.length - 1
    while (bytes[close] !== closeBrace) close--
    writer.begin()
    // Copies the whole event and steps back, which avoids creating a subarray.
    writer.bytes(bytes)
    writer.takeBack(bytes.length - close)
    writer.ascii(isEmptyBefore(bytes, close) ? member : commaMember)
    for (const piece of text) writer.ascii(piece)
    writer.ascii(close === bytes.length - 1 ? '}' : bytes.toString('latin1', close))
    return writer.end()
  }

  const rework = (bytes: Buffer, text: string, additions: readonly Addition[]): Buffer => {
    const cuts = createCuts()
    const others: JsonItem[] = []
    const { last, close } = visitItems(bytes, bytes.indexOf(openBrace), (item) => {
      const { name } = item
      if (isAnnotation(item)) cuts.add(item)
      else if (additions.some(({ path }) => name === path[0] || name === path.join('.'))) others.push(item)
    })
    const { edits, members } = placeAdditions(bytes, others, additions)
    // If the last member was removed, the comma before it is still there.
    const comma = last !== undefined && !isAnnotation(last)
    const added = { at: close, until: close, text: (comma ? commaMember : member) + text + members }
    return applyEdits(bytes, [...cuts.edits, ...edits, added])
  }

  /** `message` is the whole text with byte order mark; bytes that are not UTF-8 are in `original_base64`. */
  const wrap = (
    event: Event,
    text: readonly string[],
    seen: Seen,
    additions: readonly Addition[],
    time: number | undefined,
  ): Buffer => {
    const { bytes, reading, bom } = event
    const isWhole = !bom && (reading === 'text' || reading === 'broken_json')
    writer.begin()
    writer.ascii('{')
    if (time !== undefined && Math.abs(time) <= 8.64e15) writer.ascii(`"@timestamp":"${new Date(time).toISOString()}",`)
    writer.ascii('"message":')
    writer.text(JSON.stringify(isWhole ? event.text : bytes.toString('utf8')))
    if (!isWhole && !isUtf8(bytes)) writer.ascii(`,"original_base64":"${bytes.toString('base64')}"`)
    const { source, destination } = endpointsOf(seen)
    if (source !== undefined) writer.ascii(`,"source":${writeEndpoint(source)}`)
    if (destination !== undefined) writer.ascii(`,"destination":${writeEndpoint(destination)}`)
    writer.ascii(commaMember)
    for (const piece of text) writer.ascii(piece)
    if (additions.length > 0) writer.text(placeAdditions(bytes, [], additions).members)
    writer.ascii('}')
    return writer.end()
  }

  const place = (
    event: Event,
    text: readonly string[],
    seen: Seen,
    annotation: () => Annotation,
    time?: number,
  ): Buffer => {
    const value = wanted.length === 0 ? undefined : annotation()
    const additions = value === undefined ? none : wanted.flatMap((layer) => layers[layer](value))
    if (event.reading !== 'json') return wrap(event, text, seen, additions, time)
    const isThere = holds(event)
    if (isThere && onExisting === 'keep') return event.bytes
    return isThere || additions.length > 0 ? rework(event.bytes, text.join(''), additions) : splice(event.bytes, text)
  }
  return Object.assign(place, { forgeriesIn })
}
