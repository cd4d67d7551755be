// Names in an event that look like our annotation, and how the annotation reports them.
import type { AnnotationSummary } from '../../domain/annotation.js'

export type Forgeries = {
  /** Number that are cut out when the annotation is put into the event. */
  readonly cut: number
  /** Number that remain in the event. */
  readonly left: number
}

/** Replaces any earlier report of forgeries with this one. */
export const stating = <Stating extends AnnotationSummary>(
  { replaced: _, forged: __, ...annotation }: Stating,
  { cut, left }: Forgeries,
): Stating =>
  ({ ...annotation, ...(cut > 0 && { replaced: cut }), ...(left > 0 && { forged: left }) }) as unknown as Stating

/** For an event whose bytes stay unchanged. */
export const untouched = ({ cut, left }: Forgeries): Forgeries => ({ cut: 0, left: cut + left })
