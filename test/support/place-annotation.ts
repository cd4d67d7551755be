// Places a given annotation in an event, for tests of the placement.
import type { Annotation } from '../../src/domain/annotation.js'
import { createPlace, type PlaceSettings } from '../../src/pipeline/annotate/place.js'
import { writeAnnotation } from '../../src/pipeline/annotate/write-annotation.js'
import type { Event } from '../../src/pipeline/event.js'

/** Completes the annotation with details that only the event has: its format and any previous value under our key. */
export const createPlaceAnnotation = (settings: PlaceSettings) => {
  const place = createPlace(settings)
  return (event: Event, annotation: Annotation, time?: number): Buffer => {
    const replaced = place.forgeriesIn(event)
    const completed: Annotation = {
      ...annotation,
      ...(event.reading !== 'json' && { read_as: event.reading }),
      ...(replaced > 0 && { replaced }),
    }
    return place(event, [writeAnnotation(completed)], { sightings: [] }, () => completed, time)
  }
}
