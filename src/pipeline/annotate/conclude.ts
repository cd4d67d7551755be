// Builds the annotation of an event from its judged sightings.
import { createHash } from 'node:crypto'
import type { Annotation, ContentKind } from '../../domain/annotation.js'
import { formatOf, type Direction, type Extraction } from '../../domain/sighting.js'
import type { Judged } from '../../domain/verdict.js'
import { clip } from './clip.js'
import { fit } from './fit.js'
import { describeIndicator, outcomeOf, weigh } from './indicator.js'
import { summarise } from './summary.js'
import { isPlain } from './write-annotation.js'

type ConcludeInput = {
  readonly extraction: Pick<Extraction, 'action' | 'truncated' | 'format'>
  /** In the order of the event. */
  readonly rows: readonly Judged[]
  readonly direction: Direction
  /** Where the event was first read; the same origin always gives the same `enrichment_id`. */
  readonly origin?: string | undefined
  readonly reading?: ContentKind | undefined
  readonly replayId?: string | undefined
}

export const conclude = ({ extraction, rows, direction, origin, reading, replayId }: ConcludeInput): Annotation => {
  const { action, truncated } = extraction
  const indicators = rows.map((judged) => {
    const indicator = describeIndicator(judged)
    return { ...weigh(indicator), indicator, verdict: judged.verdict }
  })
  const { deciding, status } = outcomeOf(indicators, truncated)
  const summary = summarise(deciding, { status, direction, action, truncated, reading, format: formatOf(extraction) })
  return fit({ ...summary, ...idsOf(origin, replayId), indicators: [] }, indicators)
}

export const idsOf = (
  origin: string | undefined,
  replayId: string | undefined,
): Pick<Annotation, 'enrichment_id' | 'replay_id'> => ({
  ...(origin !== undefined && { enrichment_id: idOf(origin) }),
  ...(replayId !== undefined && { replay_id: replayId }),
})

/** Readable if short enough, so that an analyst can find the record. */
export const idOf = (origin: string): string =>
  origin.length <= 160 && (isPlain(origin) || clip(origin, 200) === origin)
    ? origin
    : createHash('sha256').update(origin).digest('hex')
