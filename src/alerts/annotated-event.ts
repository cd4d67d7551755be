// An annotated event, as far as alerts need it.
import type { Judged } from '../domain/judged.js'
import type { Annotation } from '../domain/annotation.js'
import { endpointsOf } from '../domain/endpoints.js'

export type AnnotatedEvent = {
  readonly origin: string
  /** Epoch milliseconds, used if the event has no time of its own. */
  readonly time?: number | undefined
  readonly key?: Buffer | null | undefined
  readonly event: { readonly text: string; readonly value?: Readonly<Record<string, unknown>> | undefined }
  readonly extraction: Parameters<typeof endpointsOf>[0]
  readonly annotation: Annotation
  readonly judged: readonly Judged[]
}

/** The event as written: text is in `message`, next to its endpoints. */
export const objectOf = ({
  event,
  extraction,
}: Pick<AnnotatedEvent, 'event' | 'extraction'>): Readonly<Record<string, unknown>> =>
  event.value ?? { message: event.text, ...endpointsOf(extraction) }
