// Builds the annotation of an event from its judged sightings.
import { createHash } from 'node:crypto'
import type { AnnotatedIndicator, Annotation, ContentKind } from '../../domain/annotation.js'
import { formatOf, type Direction, type Extraction } from '../../domain/sighting.js'
import type { Judged } from '../../domain/verdict.js'
import { clip } from './clip.js'
import { outweighs, describeIndicator, outcomeOf, weigh, type Weighed } from './indicator.js'
import { writeAnnotation, writeIndicator, isPlain } from './write-annotation.js'
import { summarise } from './summary.js'

type ConcludeInput = {
  readonly extraction: Pick<Extraction, 'action' | 'activity' | 'passwordAccepted' | 'truncated' | 'unread' | 'format'>
  /** In the order of the event. */
  readonly rows: readonly Judged[]
  /** The same rows in the form of the annotation, if already described. */
  readonly described?: readonly AnnotatedIndicator[]
  readonly direction: Direction
  /** Where the event was first read; the same origin always gives the same `enrichment_id`. */
  readonly origin?: string | undefined
  readonly reading?: ContentKind | undefined
  readonly replayId?: string | undefined
}

export const conclude = (input: ConcludeInput): Annotation => {
  const { extraction, rows, described, direction, origin, reading, replayId } = input
  const { action, activity = 'other', passwordAccepted = false, truncated, unread } = extraction
  const indicators = rows.map((judged, place) => {
    const indicator = described?.[place] ?? describeIndicator(judged)
    return { ...weigh(indicator), indicator, verdict: judged.verdict }
  })
  const { deciding, status } = outcomeOf(indicators, extraction)
  const summary = summarise(deciding, {
    status,
    direction,
    action,
    activity,
    passwordAccepted,
    truncated,
    unread,
    reading,
    format: formatOf(extraction),
  })
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

/** An annotation is limited to 16 indicators and 4 KB; those left out are counted. */
const maxIndicators = 16
const maxBytes = 4096
/** Space for the key, `read_as`, `replaced`, `forged` and `indicators_omitted`. */
const reserved = 192

/** Whether an annotation of this size fits as it is. */
export const isSmall = (indicators: number, bytes: number): boolean =>
  indicators <= maxIndicators && bytes <= maxBytes - reserved

/** Adds the indicators. Flat members are limited elsewhere, so the deciding indicator always fits. */
const fit = (
  annotation: Annotation,
  indicators: readonly (Weighed & { readonly indicator: AnnotatedIndicator })[],
): Annotation => {
  let left = maxBytes - reserved - writeAnnotation(annotation).length
  const kept = new Set<Weighed>()
  for (const one of indicators.toSorted((a, b) => (outweighs(a, b) ? -1 : outweighs(b, a) ? 1 : 0))) {
    const bytes = writeIndicator(one.indicator).length + 1
    if (kept.size === maxIndicators || bytes > left) continue
    left -= bytes
    kept.add(one)
  }
  for (const one of indicators) if (kept.has(one)) annotation.indicators.push(one.indicator)
  if (kept.size < indicators.length) annotation.indicators_omitted = indicators.length - kept.size
  return annotation
}
