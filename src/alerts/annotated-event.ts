// An event as it left the line, as far as alerts care.
import type { Judged } from '../domain/judged.js'
import type { Annotation } from '../domain/annotation.js'
import { endpointsOf } from '../domain/endpoints.js'

export type AnnotatedEvent = {
  readonly origin: string
  /** Epoch milliseconds, for an event that carries no time of its own. */
  readonly time?: number | undefined
  readonly key?: Buffer | null | undefined
  readonly event: { readonly text: string; readonly value?: Readonly<Record<string, unknown>> | undefined }
  readonly extraction: Parameters<typeof endpointsOf>[0]
  readonly annotation: Annotation
  readonly judged: readonly Judged[]
}

/** As it comes out: what was no JSON object stands in `message`, beside its endpoints. */
export const objectOf = ({
  event,
  extraction,
}: Pick<AnnotatedEvent, 'event' | 'extraction'>): Readonly<Record<string, unknown>> =>
  event.value ?? { message: event.text, ...endpointsOf(extraction) }
