// Opens a record by the format that is set for its topic: text as ever, the others by the reader of that format.
import { formatOfTopic, type FormatSetting, type ValueFormat } from '../../domain/topic-format.js'
import type { Batch, CutBatch, RecordOrigin } from './cut-batch.js'

/** Whatever the bytes are, the record is an event, or many. */
export type OpenValue = (bytes: Buffer, record: RecordOrigin) => Batch

type FormatReaders = Readonly<Record<ValueFormat, OpenValue>>

/** `text` is undefined where every record of text is one event. */
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

/** A value that is searched as it is and comes out as it is, with its annotation in a header. */
export const openBinary: OpenValue = (bytes) => asOneEvent(bytes, 'binary')

/** `content` is what is read of the value. */
export const asOneEvent = (content: Buffer, format: ValueFormat): Batch => ({
  members: [{ from: 0, to: content.length }],
  count: 1,
  content,
  place: 'header',
  isOne: true,
  format,
})
