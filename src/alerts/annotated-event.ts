// An event as it left the line, as far as alerts care.
import type { Annotation } from '../domain/annotation.js'
import type { Decision } from '../domain/decision.js'
import type { Finding } from '../domain/finding.js'
import type { Sighting } from '../domain/sighting.js'
import { endpointsOf } from '../domain/endpoints.js'
import type { Verdict } from '../domain/verdict.js'

export type JudgedRow = {
  readonly sighting: Sighting
  readonly decision: Decision
  readonly verdict: Verdict
  /** The answer that came too late, when it comes. */
  readonly late?: Promise<Finding> | undefined
}

export type AnnotatedEvent = {
  readonly origin: string
  /** Epoch milliseconds, for an event that carries no time of its own. */
  readonly time?: number | undefined
  readonly key?: Buffer | null | undefined
  readonly event: { readonly text: string; readonly value?: Readonly<Record<string, unknown>> | undefined }
  readonly extraction: Parameters<typeof endpointsOf>[0]
  readonly annotation: Annotation
  readonly judged: readonly JudgedRow[]
}

/** As it comes out: what was no JSON object stands in `message`, beside its endpoints. */
export const objectOf = ({
  event,
  extraction,
}: Pick<AnnotatedEvent, 'event' | 'extraction'>): Readonly<Record<string, unknown>> =>
  event.value ?? { message: event.text, ...endpointsOf(extraction) }
