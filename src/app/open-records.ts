// Opens records that are not a single text event: other topic formats, batches and envelopes.
import { systemClock } from '../base/clock.js'
import type { Config } from '../config/schema.js'
import { formatOfTopic, topicFormats, usesFormat } from '../domain/topic-format.js'
import { unzstd } from '../kafka/wire/zstd.js'
import { createAnnotationKey } from '../pipeline/annotate/annotation-key.js'
import { bytesOfMember } from '../pipeline/batch/batch-pipeline.js'
import type { CutBatch } from '../pipeline/batch/cut-batch.js'
import { createOpenByTopic, openBinary, type OpenValue } from '../pipeline/batch/open-by-topic.js'
import { createOpenRecord, type OpenOptions } from '../pipeline/batch/open-record.js'
import {
  createReadWritten,
  writtenFormat,
  type ReadWritten,
  type WrittenEvents,
  type WrittenRecord,
} from '../pipeline/batch/read-written.js'
import { createOpenRequest } from '../pipeline/otlp/open-request.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import type { SchemaOptions, SchemaValues } from './part.js'
import { parts } from './parts.js'

type Settings = Pick<Config, 'kafka' | 'output'>

/**
 * `registry` decodes values by their schemas; without it they stay unread. `remove` is for topics that we write, because their values may
 * have any format.
 */
export const openRecordOf = (
  config: Settings,
  onForged?: OpenOptions['onForged'],
  registry?: Pick<SchemaValues, 'open'>,
): CutBatch | undefined =>
  isOnlyText(config) && onForged !== 'remove' ? openTextOf(config, onForged) : openAnyOf(config, onForged, registry)

const openTextOf = ({ kafka, output }: Settings, onForged: OpenOptions['onForged']): CutBatch | undefined =>
  kafka.input.batches === 'off'
    ? undefined
    : createOpenRecord({ unzstd, key: createAnnotationKey(output.key), onForged })

/** Ignores the topic settings, because our own records name their format. */
const openAnyOf = (
  config: Settings,
  onForged: OpenOptions['onForged'],
  registry: Pick<SchemaValues, 'open'> | undefined,
): CutBatch => {
  const { format, batches } = config.kafka.input
  const key = createAnnotationKey(config.output.key)
  return createOpenByTopic(format, openTextOf(config, onForged), {
    registry: registry?.open ?? openUnread,
    otlp_proto: createOpenRequest({ key, onForged, isOneEvent: batches === 'off' }),
    binary: openBinary,
  })
}

const openUnread: OpenValue = (bytes, record) => ({
  ...openBinary(bytes, record),
  format: 'registry',
  unread: { reason: 'no_schema' },
})

const isOnlyText = ({ kafka: { input } }: Settings): boolean =>
  !topicFormats.some((format) => format !== 'text' && usesFormat(input.format, format))

/** Opens the decoder for values with schemas; undefined if no topic needs it. */
export const openSchemaValues = (
  config: Config,
  {
    env,
    clock = systemClock,
    emit = ignoreTelemetry,
    isPatient = false,
  }: Partial<SchemaOptions> & Pick<SchemaOptions, 'env'>,
): Promise<SchemaValues> | undefined => {
  for (const { schemaValues } of parts) {
    const opened = schemaValues?.(config, { env, clock, emit, isPatient })
    if (opened) return opened
  }
  return undefined
}

/** Reads records that we wrote. Our topics mix formats, so a header names the format of each value. */
export const readWrittenOf = (config: Settings, registry?: Pick<SchemaValues, 'open'>): ReadWritten =>
  createReadWritten(openAnyOf(config, undefined, registry), config.output.key)

/** Reads one record. In our own topics a header names the format, elsewhere the topic's setting does. */
export const readWrittenAt = async (
  topic: string,
  { value, headers }: WrittenRecord,
  config: Settings,
  registry: SchemaValues | undefined,
): Promise<WrittenEvents> => {
  const { input, output, correctionsTopic } = config.kafka
  const isOurs = topic === output.topic || topic === correctionsTopic
  const own = isOurs ? 'text' : formatOfTopic(input.format, topic)
  const record = { topic, value, headers, format: own === 'text' ? writtenFormat(headers) : own }
  await registry?.prepare([record])
  return readWrittenOf(config, registry)(record)
}

/** Splits a record into its events, without decoding them. */
export const eventsInRecord = (config: Settings): ((bytes: Buffer) => readonly Buffer[]) => {
  const open = openRecordOf(config)
  return (bytes) => {
    const batch = open?.(bytes)
    return batch ? batch.members.map((_, nth) => bytesOfMember(bytes, batch, nth)) : [bytes]
  }
}
