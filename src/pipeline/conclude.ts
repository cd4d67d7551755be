// Concludes what one event's indicators and their verdicts amount to: the annotation, as an object.
import { createHash } from 'node:crypto'
import type { Annotation, Status } from '../domain/annotation.js'
import type { Decision } from '../domain/decision.js'
import type { Level } from '../domain/finding.js'
import type { Reading } from '../domain/reading.js'
import type { Direction, Extraction, Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { clip } from './clip.js'
import { fit } from './fit.js'
import { keep, outweighs, weigh, weights, type Weighed } from './weigh.js'

export type Row = {
  readonly sighting: Sighting
  readonly decision: Decision
  /** Where it is missing the answer is still pending. */
  readonly verdict?: Verdict | undefined
}
export type Findings = {
  readonly extraction: Pick<Extraction, 'action' | 'truncated'>
  /** In the order of the event. */
  readonly rows: readonly Row[]
  readonly direction: Direction
  /** Where the event was first read; the same origin always gives the same `enrichment_id`. */
  readonly origin?: string | undefined
  readonly reading?: Reading | undefined
  readonly replayId?: string | undefined
}

const statusOf = (asked: number, answered: number, truncated: boolean): Status => {
  if (asked > 0 && answered === 0) return 'failed'
  if (answered < asked || truncated) return 'partial'
  return asked === 0 ? 'skipped' : 'complete'
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

/** Readable where that is short enough, so that an analyst finds the record it names. */
const idOf = (origin: string): string =>
  origin.length <= 160 && clip(origin, 200) === origin ? origin : createHash('sha256').update(origin).digest('hex')

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

export const conclude = ({ extraction, rows, direction, origin, reading, replayId }: Findings): Annotation => {
  const { truncated } = extraction
  const all: Weighed[] = []
  let first: Weighed | undefined
  let asked = 0
  let answered = 0
  for (const { sighting, decision, verdict } of rows) {
    const one = weigh(sighting, decision, verdict)
    all.push(one)
    if (one.weight !== weights.left) asked++
    if (one.weight !== weights.left && one.weight !== weights.failed) answered++
    if (first === undefined || outweighs(one, first)) first = one
  }
  // By the order of weights, a clean one comes first only where all that were asked are clean.
  let verdict: Level = first?.indicator.verdict ?? 'unknown'
  if (verdict === 'clean' && truncated) {
    verdict = 'unknown'
    first = undefined
  }
  const annotation: Annotation = {
    schema_version: 1,
    status: statusOf(asked, answered, truncated),
    verdict,
    direction,
    action: extraction.action,
    summary: summarise(first, truncated),
    indicators: [],
  }
  if (verdict === 'malicious') annotation.malicious = true
  else if (verdict === 'clean') annotation.malicious = false
  if (first !== undefined) copyDeciding(annotation, first)
  else if (truncated) annotation.reason = 'truncated'
  if (truncated) annotation.truncated = true
  if (reading !== undefined && reading !== 'json') annotation.read_as = reading
  if (origin !== undefined) annotation.enrichment_id = idOf(origin)
  if (replayId !== undefined) annotation.replay_id = replayId
  return fit(annotation, all)
}
