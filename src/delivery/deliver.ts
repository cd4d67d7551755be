// Composes the output records and sends them in order, in batches that fit their topics.
// A refused record is composed again in a smaller form, or as a dead letter.
import type { EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { compose, partsOf, steps, type Item, type Step, type OutputTarget } from './compose.js'
import { placeIn, readPlace, type Incoming, type Send } from '../kafka/records.js'

/** Annotates a record again after its output was refused. */
type Again = (record: Incoming) => EventOut | undefined | Promise<EventOut | undefined>

export type OutputForm = {
  readonly target: OutputTarget
  readonly max: { readonly count: number; readonly bytes: number }
  /** Size limit of a record in a topic; undefined if unknown. */
  readonly maxBytesOf?: (topic: string) => number | undefined
  readonly emit: Emit
  readonly now: () => number
  /** Whether the events of a record may raise alerts. */
  readonly mayAlert?: (event: EventOut) => boolean
}

/** Refused records by place, with the step at which the next attempt begins. */
export type RefusedRecords = ReadonlyMap<string, { readonly step: Step; readonly reason: string }>

/** One item, or one per member for a batch that is split. */
export const composeItem = (
  incoming: Incoming,
  event: EventOut | undefined,
  form: OutputForm,
  now: number,
  refused?: RefusedRecords,
): Item | readonly Item[] =>
  partsOf(incoming, event)?.map((part) => composeOne(part.record, part.event, form, now, refused)) ??
  composeOne(incoming, event, form, now, refused)

const composeOne = (
  incoming: Incoming,
  event: EventOut | undefined,
  { target, emit }: OutputForm,
  now: number,
  refused: RefusedRecords | undefined,
): Item => {
  const known = refused?.get(readPlace(incoming))
  const composed = compose(incoming, event, target, now, known?.step, known?.reason)
  if (composed.step !== 'whole') emitReduced(emit, incoming, composed.step, known?.reason ?? 'too_large')
  return { incoming, composed }
}

export const split = (items: readonly Item[], max: OutputForm['max']): readonly (readonly Item[])[] =>
  splitByCountAndBytes(items, (item) => item.composed.bytes, max)

/** Sends items in order. A refused part is halved until the refused record is alone, which then goes down one step at a time. */
export const deliver = async (items: readonly Item[], send: Send, form: OutputForm, again: Again): Promise<void> => {
  for (const part of split(items, form.max)) await deliverPart(part, send, form, again)
}

const deliverPart = async (part: readonly Item[], send: Send, form: OutputForm, again: Again): Promise<void> => {
  const result = await send(part.map((item) => item.composed.record))
  if (result === 'acknowledged') return
  const records = new Set(result.left)
  const left = part.filter((item) => records.has(item.composed.record))
  const [only] = left
  if (only === undefined) return
  if (left.length > 1) {
    const half = Math.ceil(left.length / 2)
    await deliverPart(left.slice(0, half), send, form, again)
    await deliverPart(left.slice(half), send, form, again)
    return
  }
  const lower = below(only.composed.step, result.refused)
  if (lower === undefined) throw new Error(`even a dead letter that only points was refused: ${result.refused}`)
  const { incoming } = only
  const { whole = incoming, member } = incoming
  const event = await again(whole)
  const own = whole === incoming ? event : partsOf(whole, event)?.find(({ record }) => record.member === member)?.event
  const composed = compose(incoming, own, form.target, form.now(), lower, result.refused.toLowerCase())
  emitReduced(form.emit, incoming, composed.step, result.refused.toLowerCase())
  await deliverPart([{ incoming, composed }], send, form, again)
}

/**
 * The next step for a refused record. A smaller form helps only if the record was too large; any other refusal leads to the dead letters.
 */
export const below = (step: Step, refusal: string): Step | undefined => {
  const next = steps.indexOf(step) + 1
  return steps[/too_large/i.test(refusal) ? next : Math.max(next, steps.indexOf('dead_letter'))]
}

const emitReduced = (emit: Emit, record: Incoming, to: Step, reason: string): void => {
  const { topic, partition } = record
  emit({ event: 'record_reduced', topic, partition, offset: placeIn(record), to, reason })
}

// Splits a list into parts, in order, each bounded in count and bytes. An item over the limit is a part of its own.

export const splitByCountAndBytes = <T>(
  items: readonly T[],
  sizeOf: (item: T) => number,
  max: { readonly count: number; readonly bytes: number },
  countOf: (item: T) => number = one,
): readonly (readonly T[])[] => {
  const parts: T[][] = []
  let part: T[] = []
  let bytes = 0
  let count = 0
  for (const item of items) {
    const size = sizeOf(item)
    const weight = countOf(item)
    if (part.length > 0 && (count + weight > max.count || bytes + size > max.bytes)) {
      parts.push(part)
      part = []
      bytes = 0
      count = 0
    }
    part.push(item)
    bytes += size
    count += weight
  }
  if (part.length > 0) parts.push(part)
  return parts
}

const one = (): number => 1
