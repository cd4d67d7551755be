// Reads events like `run`: the extraction detects the format of the bytes.
import type { Extraction } from '../../src/domain/sighting.js'
import { decode } from '../../src/pipeline/decode.js'
import { ObjectEvent, type Event } from '../../src/pipeline/event.js'
import { createExtract } from '../../src/pipeline/extract/extract.js'
import { openFormats } from '../../src/app/open-formats.js'
import { createAnnotationKey } from '../../src/pipeline/annotate/annotation-key.js'

export type Read = {
  readonly event: Event
  readonly extraction: Extraction
  /** Whether one pass over the bytes was enough; otherwise they were parsed or are no JSON object. */
  readonly isOnePass: boolean
}

const limits = { maxIndicators: 64, maxDepth: 64, maxEventBytes: 1_048_576 }

export const createReading = (): ((bytes: Buffer) => Read) => {
  const annotationKey = createAnnotationKey('threatweave')
  const extract = createExtract({ ...limits, annotationKey, formats: openFormats([]).formats })
  return (bytes) => {
    const event = decode(bytes, limits)
    const isOpen = event instanceof ObjectEvent && event.isOpen
    const extraction = extract(event)
    return { event, extraction, isOnePass: isOpen && event.hasAnnotationName !== undefined }
  }
}
