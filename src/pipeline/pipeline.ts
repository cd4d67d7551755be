// The pipeline: a chunk of events in, the same events with their annotations out, in order.
import type { Extraction } from '../domain/sighting.js'
import type { Annotate, EventIn, EventOut } from './annotate.js'
import type { Enrich } from './enrich.js'
import type { Event } from './event.js'
import type { Judged } from './judged.js'
import { keepFormer } from './keep-former.js'

export type { EventIn, EventOut }

/**
 * Never throws and never rejects. Answers at once, without a promise, when nothing has to be waited for.
 * `behind` says that the stream lags: then nothing is waited for.
 */
export type Pipeline = (
  chunk: readonly EventIn[],
  behind: boolean,
) => readonly EventOut[] | Promise<readonly EventOut[]>

export type Steps = {
  readonly decode: (bytes: Buffer) => Event
  readonly extract: (event: Event) => Extraction
  readonly enrich: Enrich
  readonly annotate: Annotate
}

export const createPipeline =
  ({ decode, extract, enrich, annotate }: Steps): Pipeline =>
  (chunk, behind) => {
    const events: Event[] = []
    const extractions: Extraction[] = []
    for (const { bytes } of chunk) {
      const event = decode(bytes)
      events.push(event)
      extractions.push(extract(event))
    }
    const found = enrich(extractions, behind)
    const annotateAll = (all: readonly (readonly Judged[])[]): EventOut[] =>
      chunk.map((one, place) => {
        const judged = all[place] ?? []
        const rows = one.former === undefined ? judged : keepFormer(judged, one.former)
        return annotate(one, events[place] as Event, extractions[place] as Extraction, rows)
      })
    return found instanceof Promise ? found.then(annotateAll) : annotateAll(found)
  }
