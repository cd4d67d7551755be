// The part of an annotation before its list: what decided, in the same words for every event that it decides in the same way.
import type { Annotation, Status } from '../domain/annotation.js'
import type { Level } from '../domain/finding.js'
import type { Reading } from '../domain/reading.js'
import type { Action, Direction } from '../domain/sighting.js'
import { clip } from './clip.js'
import { keep, weights, type Weighed } from './weigh.js'
import { flat, writeHead } from './write-annotation.js'

/** What of an event the head depends on, beside the indicator that decided. */
export type Circumstances = {
  readonly status: Status
  readonly direction: Direction
  readonly action: Action
  readonly truncated: boolean
  readonly reading: Reading | undefined
}

export type Head = Circumstances & {
  /** Without what only the event itself can add: its id and its indicators. */
  readonly annotation: Annotation
  readonly text: string
  /** With what stands before the event's id. */
  readonly opening: string
  /** How the same was told in other circumstances. */
  readonly next: Head | undefined
}

const maxHeads = 8
/** Of events in which nothing decided. */
const undecided: { head: Head | undefined } = { head: undefined }

export const countHeads = (first: Head | undefined): number => {
  let count = 0
  for (let head = first; head !== undefined; head = head.next) count++
  return count
}

export const headOf = (
  deciding: Weighed | undefined,
  status: Status,
  direction: Direction,
  action: Action,
  truncated: boolean,
  reading: Reading | undefined,
  /** Called where a head was made that stays with what decided. */
  grew?: () => void,
): Head => {
  const owner = deciding ?? undecided
  for (let head = owner.head; head !== undefined; head = head.next)
    if (
      head.status === status &&
      head.direction === direction &&
      head.action === action &&
      head.truncated === truncated &&
      head.reading === reading
    )
      return head
  const about = { status, direction, action, truncated, reading }
  const annotation = describe(deciding, about)
  const text = writeHead(annotation)
  // Past so many all are forgotten: an event says few things in so many ways.
  const next = countHeads(owner.head) < maxHeads ? owner.head : undefined
  owner.head = { ...about, annotation, text: flat(text), opening: flat(`${text},"enrichment_id":"`), next }
  grew?.()
  return owner.head
}

const describe = (deciding: Weighed | undefined, about: Circumstances): Annotation => {
  const { status, direction, action, truncated, reading } = about
  const verdict: Level = deciding?.indicator.verdict ?? 'unknown'
  const annotation: Annotation = {
    schema_version: 1,
    status,
    verdict,
    direction,
    action,
    summary: summarise(deciding, truncated),
    indicators: [],
  }
  if (verdict === 'malicious') annotation.malicious = true
  else if (verdict === 'clean') annotation.malicious = false
  if (deciding !== undefined) copyDeciding(annotation, deciding)
  else if (truncated) annotation.reason = 'truncated'
  if (truncated) annotation.truncated = true
  if (reading !== undefined && reading !== 'json') annotation.read_as = reading
  return annotation
}

const summarise = (deciding: Weighed | undefined, truncated: boolean): string => {
  const cut = 'not every indicator was looked at'
  if (deciding === undefined) return truncated ? cut : 'no indicators found'
  const { indicator, weight, verdict } = deciding
  const verb = weight === weights.left ? 'was not asked about' : `is ${indicator.verdict}`
  const why = clip(verdict?.because ?? '', 180) || indicator.reason?.replaceAll('_', ' ')
  let text = `${indicator.field} ${indicator.value} ${verb}`
  if (why !== undefined) text += `: ${why}`
  if (indicator.stale === true) text += ', stale'
  return truncated ? `${text}; ${cut}` : text
}

const copyDeciding = (annotation: Annotation, { indicator, verdict }: Weighed): void => {
  annotation.type = indicator.type
  annotation.value = indicator.value
  annotation.field = indicator.field
  annotation.role = indicator.role
  if (indicator.score !== undefined) annotation.score = indicator.score
  if (indicator.reason !== undefined) annotation.reason = indicator.reason
  if (indicator.source !== undefined) annotation.source = indicator.source
  if (indicator.feed !== undefined) annotation.feed = indicator.feed
  if (indicator.entry !== undefined) annotation.entry = indicator.entry
  if (indicator.at !== undefined) annotation.verdict_time = indicator.at
  if (indicator.stale !== undefined) annotation.stale = indicator.stale
  if (verdict === undefined) return
  for (const flag of keep(verdict).stated) {
    const stated = verdict.flags[flag]
    if (stated !== undefined) annotation[flag] = stated
  }
}
