// The line: a chunk of events in, the same events with their annotations out, in order.
import type { Annotation } from '../domain/annotation.js'

export type EventIn = {
  readonly bytes: Buffer
  /** Where the event was first read (`topic/partition/offset`, `file:line`); its enrichment id derives from it. */
  readonly origin: string
  /** Epoch milliseconds, for an event that carries no time of its own. */
  readonly time?: number
}

export type EventOut = {
  readonly annotation: Annotation
  /** The annotation as JSON text, for placements beside the event. */
  readonly annotationText: string
  /** The event with its annotation; built when first read. */
  readonly bytes: Buffer
}

/**
 * Never throws and never rejects. Answers at once, without a promise, when nothing has to be waited for.
 * `behind` says that the stream lags: then nothing is waited for.
 */
export type Pipeline = (
  chunk: readonly EventIn[],
  behind: boolean,
) => readonly EventOut[] | Promise<readonly EventOut[]>
