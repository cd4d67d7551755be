// What an event has that looks like our annotation, and how the annotation states it.
import type { AnnotationSummary } from '../../domain/annotation.js'

export type Forgeries = {
  /** How many are cut out where the annotation is put into the event. */
  readonly cut: number
  /** How many are still there. */
  readonly left: number
}

/** States what became of forgeries, whatever was stated before. */
export const stating = <Stating extends AnnotationSummary>(
  { replaced: _, forged: __, ...annotation }: Stating,
  { cut, left }: Forgeries,
): Stating =>
  ({ ...annotation, ...(cut > 0 && { replaced: cut }), ...(left > 0 && { forged: left }) }) as unknown as Stating

/** Where the bytes stay as they are. */
export const untouched = ({ cut, left }: Forgeries): Forgeries => ({ cut: 0, left: cut + left })
