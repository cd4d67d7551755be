// Keeps an annotation within its size: at most 16 indicators and 4 KB, and what is left out is counted.
import type { AnnotatedIndicator, Annotation } from '../domain/annotation.js'
import { outweighs, type Weighed } from './weigh.js'
import { writeAnnotation, writeIndicator } from './write-annotation.js'

export const maxIndicators = 16
export const maxBytes = 4096
/** For what comes with placing the annotation: its key, `read_as`, `replaced`, `indicators_omitted`. */
const reserved = 192

// Never too low, so that nothing has to be measured where there is plenty of room.
const roughly = (one: AnnotatedIndicator): number =>
  260 +
  22 * (one.flags?.length ?? 0) +
  6 * (one.field.length + (one.feed?.length ?? 0) + (one.entry?.length ?? 0)) +
  (one.value.length + (one.source?.length ?? 0))
const roughHead = (a: Annotation): number =>
  950 +
  6 * (a.summary.length + (a.field?.length ?? 0) + (a.feed?.length ?? 0) + (a.entry?.length ?? 0)) +
  ((a.value?.length ?? 0) + (a.source?.length ?? 0) + (a.enrichment_id?.length ?? 0) + (a.replay_id?.length ?? 0))

/** Lists the indicators. Flat members are bounded where they are set, so that the deciding indicator always has room. */
export const fit = (annotation: Annotation, all: readonly Weighed[]): Annotation => {
  let rough = roughHead(annotation)
  for (const { indicator } of all) rough += roughly(indicator)
  if (all.length <= maxIndicators && rough <= maxBytes) {
    for (const { indicator } of all) annotation.indicators.push(indicator)
    return annotation
  }
  let left = maxBytes - reserved - writeAnnotation(annotation).length
  const kept = new Set<Weighed>()
  for (const one of all.toSorted((a, b) => (outweighs(a, b) ? -1 : outweighs(b, a) ? 1 : 0))) {
    const bytes = writeIndicator(one.indicator).length + 1
    if (kept.size === maxIndicators || bytes > left) continue
    left -= bytes
    kept.add(one)
  }
  for (const one of all) if (kept.has(one)) annotation.indicators.push(one.indicator)
  if (kept.size < all.length) annotation.indicators_omitted = all.length - kept.size
  return annotation
}
