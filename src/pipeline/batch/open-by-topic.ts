// Opens a record with the reader for the format of its topic.
import { formatOfTopic, type FormatSetting, type ValueFormat } from '../../domain/topic-format.js'
import type { Batch, CutBatch, RecordOrigin } from './cut-batch.js'

/** Never fails: any bytes are at least one event. */
export type OpenValue = (bytes: Buffer, record: RecordOrigin) => Batch

type FormatReaders = Readonly<Record<ValueFormat, OpenValue>>

/** `text`: undefined if every text record is one event. */
export const createOpenByTopic = (
  setting: FormatSetting,
  text: CutBatch | undefined,
  readers: FormatReaders,
): CutBatch => {
  return (bytes, record) => {
    const format = record === undefined ? 'text' : (record.format ?? formatOfTopic(setting, record.topic))
    return record === undefined || format === 'text' ? text?.(bytes, record) : readers[format](bytes, record)
  }
}

/** A value that is searched and written unchanged, with its annotation in a header. */
export const openBinary: OpenValue = (bytes) => asOneEvent(bytes, 'binary')

/** `content`: the readable form of the value. */
export const asOneEvent = (content: Buffer, format: ValueFormat): Batch => ({
  members: [{ from: 0, to: content.length }],
  count: 1,
  content,
  place: 'header',
  isOne: true,
  format,
})
