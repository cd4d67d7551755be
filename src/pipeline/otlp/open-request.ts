// Opens an OpenTelemetry request in Protobuf; every log record is an event.
import type { AnnotationKey } from '../annotate/annotation-key.js'
import { batchLimits, type Batch } from '../batch/cut-batch.js'
import { asOneEvent, type OpenValue } from '../batch/open-by-topic.js'
import type { OpenOptions } from '../batch/open-record.js'
import { findLogRecords, withoutAttributes } from './find-log-records.js'
import { readableRest } from './readable-log-record.js'

type RequestOptions = {
  readonly key: AnnotationKey
  readonly onForged?: OpenOptions['onForged']
  /** Whether to treat the whole request as one event, which is written unchanged. */
  readonly isOneEvent: boolean
}

const format = 'otlp_proto'

export const createOpenRequest = ({ key, onForged, isOneEvent }: RequestOptions): OpenValue => {
  const { isAnnotationName } = key

  const open = (
    bytes: Buffer,
  ): { readonly batch: Batch; readonly forged: number; readonly hidden: number } | undefined => {
    const { maxMembers, maxBytes } = batchLimits
    // One more than the limit, because a single last log record is an ordinary member.
    const found = bytes.length > maxBytes ? undefined : findLogRecords(bytes, key, maxMembers + 1)
    if (!found) return undefined
    const { frames, count, to, forged, hidden } = found
    if (isOneEvent || count === 0) return { batch: asOneEvent(readableRest(bytes, 0), format), forged, hidden }
    const about = { count, place: 'attributes', format } as const
    if (count <= frames.length) return { batch: { ...about, members: frames, logRecords: frames }, forged, hidden }
    const logRecords = frames.slice(0, maxMembers)
    const rest = { from: frames[maxMembers]?.from ?? 0, to }
    return { batch: { ...about, members: [...logRecords, rest], logRecords }, forged, hidden }
  }

  return (bytes) => {
    const opened = open(bytes)
    const isCounted = onForged === 'replace'
    if (!opened) {
      const forgeries = isCounted && key.mayHold(bytes) ? { forgeries: { cut: 0, left: 1 } } : {}
      return { ...asOneEvent(bytes, format), unread: { reason: 'not_decoded' }, ...forgeries }
    }
    const { batch, forged, hidden } = opened
    if (forged + hidden === 0 || onForged === undefined) return batch
    if (forged === 0 || batch.place === 'header')
      return isCounted ? { ...batch, forgeries: { cut: 0, left: forged + hidden } } : batch
    const record = withoutAttributes(bytes, isAnnotationName)
    const again = open(record)?.batch ?? batch
    return { ...again, record, ...(isCounted && { forgeries: { cut: forged, left: hidden } }) }
  }
}
