// Concludes what one event's indicators and their verdicts amount to: the annotation.
import { createHash } from 'node:crypto'
import type { Annotation, Status } from '../domain/annotation.js'
import type { Decision } from '../domain/decision.js'
import type { Reading } from '../domain/reading.js'
import type { Direction, Extraction, Sighting } from '../domain/sighting.js'
import type { Verdict } from '../domain/verdict.js'
import { clip } from './clip.js'
import { fit, isSmall } from './fit.js'
import { headOf } from './head.js'
import { outweighs, weigh, weights, type Weighed } from './weigh.js'
import { writeAnnotation, writeOwn } from './write-annotation.js'

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

/** Readable where that is short enough, so that an analyst finds the record it names. */
const idOf = (origin: string): string =>
  origin.length <= 160 && clip(origin, 200) === origin ? origin : createHash('sha256').update(origin).digest('hex')

/** An annotation in writing, and as an object for whoever wants one. */
export type Conclusion = { readonly text: string; readonly annotation: () => Annotation }

export const concludeInWriting = ({
  extraction: { action, truncated },
  rows,
  direction,
  origin,
  reading,
  replayId,
}: Findings): Conclusion => {
  const all: Weighed[] = []
  let first: Weighed | undefined
  let asked = 0
  let answered = 0
  let listed = ''
  for (const { sighting, decision, verdict } of rows) {
    const one = weigh(sighting, decision, verdict)
    all.push(one)
    listed += listed === '' ? one.text : `,${one.text}`
    if (one.weight !== weights.left) {
      asked++
      if (one.weight !== weights.failed) answered++
    }
    if (first === undefined || outweighs(one, first)) first = one
  }
  // By the order of weights, a clean one comes first only where all that were asked are clean.
  if (truncated && first?.indicator.verdict === 'clean') first = undefined
  const status = statusOf(asked, answered, truncated)
  const head = headOf(first, { status, direction, action, truncated, reading })
  const own: Own = {}
  if (origin !== undefined) own.enrichment_id = idOf(origin)
  if (replayId !== undefined) own.replay_id = replayId
  const text = `${head.text}${writeOwn(own)},"indicators":[${listed}]}`
  if (isSmall(all.length, text.length))
    return {
      text,
      annotation: () => ({ ...head.annotation, ...own, indicators: all.map(({ indicator }) => indicator) }),
    }
  const annotation = fit({ ...head.annotation, ...own, indicators: [] }, all)
  return { text: writeAnnotation(annotation), annotation: () => annotation }
}

type Own = Pick<Annotation, 'enrichment_id' | 'replay_id'>

export const conclude = (findings: Findings): Annotation => concludeInWriting(findings).annotation()
