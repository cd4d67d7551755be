// How records are opened: those of a format that is set for their topic, those that hold many events or carry them in an envelope.
import type { Config } from '../config/schema.js'
import { usesFormat, type TopicFormat } from '../domain/topic-format.js'
import { unzstd } from '../kafka/wire/zstd.js'
import { createAnnotationKey } from '../pipeline/annotate/annotation-key.js'
import { bytesOfMember } from '../pipeline/batch/batch-pipeline.js'
import type { CutBatch } from '../pipeline/batch/cut-batch.js'
import { createOpenByTopic, openBinary, type FormatReaders } from '../pipeline/batch/open-by-topic.js'
import { createOpenRecord, type OpenOptions } from '../pipeline/batch/open-record.js'
import { createReadWritten, type ReadWritten } from '../pipeline/batch/read-written.js'
import { createOpenRequest } from '../pipeline/otlp/open-request.js'

type Settings = Pick<Config, 'kafka' | 'output'>

const openText = ({ kafka, output }: Settings, onForged?: OpenOptions['onForged']): CutBatch | undefined =>
  kafka.input.batches === 'off'
    ? undefined
    : createOpenRecord({ unzstd, key: createAnnotationKey(output.key), onForged })

/** Undefined where every record is one event of text. */
export const openRecordOf = (config: Settings, onForged?: OpenOptions['onForged']): CutBatch | undefined => {
  const { format } = config.kafka.input
  const text = openText(config, onForged)
  return onlyText(config) ? text : createOpenByTopic(format, text, readersOf(config, onForged))
}

const onlyText = ({ kafka: { input } }: Settings): boolean =>
  !(['registry', 'otlp_proto', 'binary'] satisfies TopicFormat[]).some((format) => usesFormat(input.format, format))

/** Where a reader for a format is put. */
const readersOf = ({ kafka, output }: Settings, onForged?: OpenOptions['onForged']): FormatReaders => ({
  registry: openBinary,
  otlp_proto: createOpenRequest({
    key: createAnnotationKey(output.key),
    onForged,
    isOneEvent: kafka.input.batches === 'off',
  }),
  binary: openBinary,
})

export const readWrittenOf = (config: Settings): ReadWritten =>
  createReadWritten(openRecordOf(config), config.output.key)

/** The events of a record, as they are read. */
export const eventsInRecord = (config: Settings): ((bytes: Buffer) => readonly Buffer[]) => {
  const open = openRecordOf(config)
  return (bytes) => {
    const batch = open?.(bytes)
    return batch ? batch.members.map((_, nth) => bytesOfMember(bytes, batch, nth)) : [bytes]
  }
}
