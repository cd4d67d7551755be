// The part of an annotation before its list: what decided, in the same words for every event that it decides in the same way.
import type { AnnotatedIndicator, Annotation, Status } from '../domain/annotation.js'
import type { Level } from '../domain/finding.js'
import type { Reading } from '../domain/reading.js'
import type { Action, Direction } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { clip } from './clip.js'
import type { Row } from './row.js'
import { describeIndicator, indicatorOf, statedFlags, weightOf, weights } from './weigh.js'
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
  /** In writing, up to the event's id. */
  readonly opening: string
  /** Without what only the event itself can add, its id and its indicators; once somebody wanted it. */
  annotation: Annotation | undefined
  /** How the same was told in other circumstances. */
  readonly next: Head | undefined
}

/** Behind the head in writing. */
export const beforeId = ',"enrichment_id":"'

const maxHeads = 8
/** Of events in which nothing decided. */
const undecided: { head: Head | undefined } = { head: undefined }

/** The characters of all heads. */
export const sizeOfHeads = (first: Head | undefined): number => {
  let size = 0
  for (let head = first; head !== undefined; head = head.next) size += head.opening.length
  return size
}
const countHeads = (first: Head | undefined): number => {
  let count = 0
  for (let head = first; head !== undefined; head = head.next) count++
  return count
}

export const headOf = (
  deciding: Row | undefined,
  status: Status,
  direction: Direction,
  action: Action,
  truncated: boolean,
  reading: Reading | undefined,
): Head => {
  const owner = deciding?.told ?? undecided
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
  const opening = flat(writeHead(describe(deciding, deciding && describeIndicator(deciding), about)) + beforeId)
  // Past so many all are forgotten: an event says few things in so many ways.
  const next = countHeads(owner.head) < maxHeads ? owner.head : undefined
  owner.head = { ...about, opening, annotation: undefined, next }
  deciding?.grew?.(opening.length)
  return owner.head
}

export const annotationOf = (head: Head, deciding: Row | undefined): Annotation =>
  (head.annotation ??= describe(deciding, deciding && indicatorOf(deciding), head))

const describe = (
  deciding: Row | undefined,
  indicator: AnnotatedIndicator | undefined,
  about: Circumstances,
): Annotation => {
  const { status, direction, action, truncated, reading } = about
  const verdict: Level = indicator?.verdict ?? 'unknown'
  const annotation: Annotation = {
    schema_version: 1,
    status,
    verdict,
    direction,
    action,
    summary: summarise(deciding, indicator, truncated),
    indicators: [],
  }
  if (verdict === 'malicious') annotation.malicious = true
  else if (verdict === 'clean') annotation.malicious = false
  if (deciding !== undefined && indicator !== undefined) copyDeciding(annotation, indicator, deciding.verdict)
  else if (truncated) annotation.reason = 'truncated'
  if (truncated) annotation.truncated = true
  if (reading !== undefined && reading !== 'json') annotation.read_as = reading
  return annotation
}

const summarise = (
  deciding: Row | undefined,
  indicator: AnnotatedIndicator | undefined,
  truncated: boolean,
): string => {
  const cut = 'not every indicator was looked at'
  if (deciding === undefined || indicator === undefined) return truncated ? cut : 'no indicators found'
  const { verdict } = deciding
  const verb = weightOf(indicator) === weights.left ? 'was not asked about' : `is ${indicator.verdict}`
  const why = clip(verdict?.because ?? '', 180) || indicator.reason?.replaceAll('_', ' ')
  let text = `${indicator.field} ${indicator.value} ${verb}`
  if (why !== undefined) text += `: ${why}`
  if (indicator.stale === true) text += ', stale'
  return truncated ? `${text}; ${cut}` : text
}

const copyDeciding = (annotation: Annotation, indicator: AnnotatedIndicator, verdict: Verdict | undefined): void => {
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
  for (const flag of statedFlags(verdict)) {
    const stated = verdict.flags[flag]
    if (stated !== undefined) annotation[flag] = stated
  }
}
