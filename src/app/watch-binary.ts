// Wraps a pipeline to count binary events in text topics and unreadable values, and to log the first of each topic.
import type { Pipeline } from '../pipeline/pipeline.js'
import type { Counters } from '../telemetry/counters.js'
import type { Emit } from '../telemetry/event.js'

export const watchBinary = (
  pipeline: Pipeline,
  { counters, emit }: { readonly counters: Counters; readonly emit: Emit },
): Pipeline => {
  const known = new Set<string>()
  const isFirst = (name: string): boolean => !known.has(name) && known.add(name).size > 0
  return (chunk, use, wait) =>
    pipeline(
      chunk,
      (one, place) => {
        const { bytes, reading } = one.event
        const { format, unread } = chunk[place] ?? {}
        const isPrefixed = bytes[0] === 0
        if (unread) {
          counters.valueNotRead(unread.reason)
          const [topic = ''] = one.origin.split('/')
          if (isFirst(`${topic} ${unread.reason}`))
            emit({ event: 'value_not_read', topic, origin: one.origin, reason: unread.reason })
        } else if (format === undefined && (isPrefixed || reading === 'not_utf8')) {
          counters.binaryRead()
          const [topic = ''] = one.origin.split('/')
          if (isFirst(topic))
            emit({ event: 'binary_event_read', topic, origin: one.origin, prefixed: isPrefixed && bytes.length > 5 })
        }
        use(one, place)
      },
      wait,
    )
}
