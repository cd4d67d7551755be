// Wraps a pipeline to notice events that are not text, such as Avro: all are counted, and the first of each topic is logged.
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Counters } from '../telemetry/counters.js'
import type { Emit } from '../telemetry/event.js'

export const watchBinary = (
  pipeline: Pipeline,
  { counters, emit }: { readonly counters: Pick<Counters, 'binaryRead'>; readonly emit: Emit },
): Pipeline => {
  const known = new Set<string>()
  return (chunk, use, wait) =>
    pipeline(
      chunk,
      (one, place) => {
        const { bytes, reading } = one.event
        const isPrefixed = bytes[0] === 0
        if (isPrefixed || reading === 'not_utf8') {
          counters.binaryRead()
          const [topic = ''] = one.origin.split('/')
          if (!known.has(topic)) {
            known.add(topic)
            emit({ event: 'binary_event_read', topic, origin: one.origin, prefixed: isPrefixed && bytes.length > 5 })
          }
        }
        use(one, place)
      },
      wait,
    )
}
