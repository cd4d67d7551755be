// Composes the records to send, and sends them in order, in batches their topics take; what is refused goes down the ladder.
import type { EventOut } from '../pipeline/pipeline.js'
import type { Emit } from '../telemetry/event.js'
import { compose, partsOf, steps, type Item, type Step, type OutputTarget } from './compose.js'
import { placeIn, readPlace, type Incoming, type Send } from '../kafka/records.js'

/** The event of a record once more, for one that was refused. */
type Again = (record: Incoming) => EventOut | undefined | Promise<EventOut | undefined>

export type OutputForm = {
  readonly target: OutputTarget
  readonly max: { readonly count: number; readonly bytes: number }
  /** The most bytes a record of a topic may have; undefined where that is not known. */
  readonly maxBytesOf?: (topic: string) => number | undefined
  readonly emit: Emit
  readonly now: () => number
  /** Whether there may be alerts of a record's events. */
  readonly mayAlert?: (event: EventOut) => boolean
}

/** By place: what the broker did not take, and how it is tried next. */
export type RefusedRecords = ReadonlyMap<string, { readonly step: Step; readonly reason: string }>

/** One item, or one for each member of a batch that is split. */
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

/** Sends items in order; halves what is refused until the record is found, which then goes down one step at a time. */
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

/** Where a refused record is tried next: only one that is too large gains by becoming smaller. */
export const below = (step: Step, refusal: string): Step | undefined => {
  const next = steps.indexOf(step) + 1
  return steps[/too_large/i.test(refusal) ? next : Math.max(next, steps.indexOf('dead_letter'))]
}

const emitReduced = (emit: Emit, record: Incoming, to: Step, reason: string): void => {
  const { topic, partition } = record
  emit({ event: 'record_reduced', topic, partition, offset: placeIn(record), to, reason })
}

// Parts of a list, in order, each bounded in count and bytes; an item that alone is larger is a part of its own.

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
