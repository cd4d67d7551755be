// Places an annotation in its event: spliced into the bytes of a JSON object, or around whatever else the event was.
import { isUtf8 } from 'node:buffer'
import type { Annotation } from '../domain/annotation.js'
import { placeAdditions, type Addition } from './addition.js'
import { applyEdits, type Edit } from './edit.js'
import type { Event } from './event.js'
import { itemsOf, type Item } from './items.js'
import { layerEcs } from './layer-ecs.js'
import { layerOcsf } from './layer-ocsf.js'
import { createOurs } from './ours.js'
import { createPen } from './pen.js'
import type { Writing } from './conclude.js'
import { writeAnnotation } from './write-annotation.js'

export type AnnotateSettings = {
  readonly key: string
  readonly onExisting: 'replace' | 'keep'
  readonly layers: readonly ('ecs' | 'ocsf')[]
  /** The events are known to be annotated by us: what is found is replaced, and not counted as a forgery. */
  readonly isOurInput?: boolean
}

export type Annotate = {
  /** The event with its annotation. `time`, in epoch milliseconds, is for an event that is no JSON object. */
  (event: Event, annotation: Annotation, time?: number): Buffer
  /** The annotation with what only the event can tell: how it was read, how many members of ours it came with. */
  readonly complete: (event: Event, annotation: Annotation) => Annotation
  /** Whether there is nothing to complete in an annotation that was concluded for this event. */
  readonly isComplete: (event: Event) => boolean
  /** Places an annotation that is already complete; `writing` is the annotation as JSON, in pieces. */
  readonly place: (event: Event, annotation: () => Annotation, writing: Writing, time?: number) => Buffer
}

const openBrace = 0x7b
const closeBrace = 0x7d
const layers = { ecs: layerEcs, ocsf: layerOcsf } as const
const none: readonly Addition[] = []

/** Whether the object that ends there has no member; only white space may stand before the bracket. */
const isEmptyBefore = (bytes: Buffer, close: number): boolean => {
  let at = close - 1
  while ((bytes[at] ?? openBrace) <= 0x20) at--
  return bytes[at] === openBrace
}

export const createAnnotate = (settings: AnnotateSettings): Annotate => {
  const { key, layers: wanted, isOurInput = false } = settings
  const onExisting = isOurInput ? 'replace' : settings.onExisting
  const { isOurs, holdsOurs } = createOurs(key)
  const pen = createPen()
  const member = `"${key}":`
  const commaMember = `,${member}`
  const additionsOf = (annotation: Annotation): Addition[] => wanted.flatMap((layer) => layers[layer](annotation))
  const isMine = ({ name }: Item): boolean => name !== undefined && isOurs(name)

  const holds = (event: Event): boolean =>
    event.reading === 'json' && (event.holdsOurs ?? (event.names !== undefined && holdsOurs(event.names)))

  const isComplete = (event: Event): boolean => isOurInput || onExisting === 'keep' || !holds(event)

  const complete = (event: Event, annotation: Annotation): Annotation => {
    const { reading, bytes } = event
    if (reading !== 'json') return annotation.read_as === reading ? annotation : { ...annotation, read_as: reading }
    if (isComplete(event)) return annotation
    return { ...annotation, replaced: itemsOf(bytes, bytes.indexOf(openBrace)).items.filter(isMine).length }
  }

  /** The everyday case: one text before the last bracket. */
  const splice = (bytes: Buffer, writing: Writing): Buffer => {
    let close = bytes.length - 1
    while (bytes[close] !== closeBrace) close--
    pen.begin()
    // The whole event and a step back: a part of a buffer would have to be made into a buffer first.
    pen.bytes(bytes)
    pen.takeBack(bytes.length - close)
    pen.ascii(isEmptyBefore(bytes, close) ? member : commaMember)
    for (const piece of writing) pen.ascii(piece)
    pen.ascii(close === bytes.length - 1 ? '}' : bytes.toString('latin1', close))
    return pen.end()
  }

  const rework = (bytes: Buffer, text: string, additions: readonly Addition[]): Buffer => {
    const { items, close } = itemsOf(bytes, bytes.indexOf(openBrace))
    const others = items.filter((item) => !isMine(item))
    const cuts: Edit[] = items.filter(isMine).map(({ from, to }) => ({ at: from, until: to, text: '' }))
    const { edits, members } = placeAdditions(bytes, others, additions)
    // Where the last member was cut out, the comma before it is still there.
    const last = items.at(-1)
    const comma = others.length > 0 && last !== undefined && !isMine(last)
    const added = { at: close, until: close, text: (comma ? commaMember : member) + text + members }
    return applyEdits(bytes, [...cuts, ...edits, added])
  }

  /** `message` is the text whole, byte order mark included; where it cannot be, the bytes stand in `original_base64`. */
  const wrap = (event: Event, writing: Writing, additions: readonly Addition[], time: number | undefined): Buffer => {
    const { bytes, reading, bom, text } = event
    const isWhole = !bom && (reading === 'text' || reading === 'broken_json')
    pen.begin()
    pen.ascii('{')
    if (time !== undefined && Math.abs(time) <= 8.64e15) pen.ascii(`"@timestamp":"${new Date(time).toISOString()}",`)
    pen.ascii('"message":')
    pen.text(JSON.stringify(isWhole ? text : bytes.toString('utf8')))
    if (!isWhole && !isUtf8(bytes)) pen.ascii(`,"original_base64":"${bytes.toString('base64')}"`)
    pen.ascii(commaMember)
    for (const piece of writing) pen.ascii(piece)
    if (additions.length > 0) pen.text(placeAdditions(bytes, [], additions).members)
    pen.ascii('}')
    return pen.end()
  }

  const place: Annotate['place'] = (event, annotation, writing, time) => {
    const additions = wanted.length === 0 ? none : additionsOf(annotation())
    if (event.reading !== 'json') return wrap(event, writing, additions, time)
    const isThere = holds(event)
    if (isThere && onExisting === 'keep') return event.bytes
    return isThere || additions.length > 0
      ? rework(event.bytes, writing.join(''), additions)
      : splice(event.bytes, writing)
  }

  const annotate = (event: Event, annotation: Annotation, time?: number): Buffer => {
    const completed = complete(event, annotation)
    return place(event, () => completed, [writeAnnotation(completed)], time)
  }
  return Object.assign(annotate, { complete, isComplete, place })
}
