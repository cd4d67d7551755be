// How records are opened that hold many events or carry them in an envelope, as the configuration says.
import type { Config } from '../config/schema.js'
import { unzstd } from '../kafka/wire/zstd.js'
import { createAnnotationKey } from '../pipeline/annotate/annotation-key.js'
import { bytesOfMember } from '../pipeline/batch/batch-pipeline.js'
import type { CutBatch } from '../pipeline/batch/cut-batch.js'
import { createOpenRecord, type OpenOptions } from '../pipeline/batch/open-record.js'
import { createReadWritten, type ReadWritten } from '../pipeline/batch/read-written.js'

type Settings = Pick<Config, 'kafka' | 'output'>

/** Undefined where every record is one event. */
export const openRecordOf = ({ kafka, output }: Settings, onForged?: OpenOptions['onForged']): CutBatch | undefined =>
  kafka.input.batches === 'off'
    ? undefined
    : createOpenRecord({ unzstd, key: createAnnotationKey(output.key), onForged })

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
