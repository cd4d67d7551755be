// Keeps an annotation within its size: at most 16 indicators and 4 KB, and what is left out is counted.
import type { Annotation } from '../domain/annotation.js'
import type { Row } from './row.js'
import { indicatorOf, outweighs, type Weighed } from './weigh.js'
import { writeAnnotation } from './write-annotation.js'

export const maxIndicators = 16
export const maxBytes = 4096
/** For what comes with placing the annotation: its key, `read_as`, `replaced`, `indicators_omitted`. */
const reserved = 192

/** Whether an annotation of that many indicators and bytes needs no fitting. */
export const isSmall = (indicators: number, bytes: number): boolean =>
  indicators <= maxIndicators && bytes <= maxBytes - reserved

/** Lists the indicators. Flat members are bounded where they are set, so that the deciding indicator always has room. */
export const fit = (annotation: Annotation, rows: readonly Told[]): Annotation => {
  let left = maxBytes - reserved - writeAnnotation(annotation).length
  const kept = new Set<Told>()
  for (const one of rows.toSorted((a, b) => (outweighs(a.told, b.told) ? -1 : outweighs(b.told, a.told) ? 1 : 0))) {
    const bytes = one.told.text.length + 1
    if (kept.size === maxIndicators || bytes > left) continue
    left -= bytes
    kept.add(one)
  }
  for (const one of rows) if (kept.has(one)) annotation.indicators.push(indicatorOf(one))
  if (kept.size < rows.length) annotation.indicators_omitted = rows.length - kept.size
  return annotation
}

type Told = Row & { told: Weighed }
