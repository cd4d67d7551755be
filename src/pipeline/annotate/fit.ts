// Limits an annotation to 16 indicators and 4 KB, and counts what is left out.
import type { AnnotatedIndicator, Annotation } from '../../domain/annotation.js'
import { outweighs, type Weighed } from './indicator.js'
import { writeAnnotation, writeIndicator } from './write-annotation.js'

const maxIndicators = 16
const maxBytes = 4096
/** Space for the key, `read_as`, `replaced`, `forged` and `indicators_omitted`. */
const reserved = 192

/** Whether an annotation of this size fits as it is. */
export const isSmall = (indicators: number, bytes: number): boolean =>
  indicators <= maxIndicators && bytes <= maxBytes - reserved

/** Adds the indicators. Flat members are limited elsewhere, so the deciding indicator always fits. */
export const fit = (
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
