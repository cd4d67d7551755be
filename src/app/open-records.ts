// How records are opened: those of a format that is set for their topic, those that hold many events or carry them in an envelope.
import { systemClock, type Clock } from '../base/clock.js'
import { readText } from '../config/load-config.js'
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
import { openRegistry, type Registry } from '../registry/open-registry.js'
import { createRegistryClient, type RegistryClient } from '../registry/registry-client.js'
import { ignoreTelemetry, type Emit } from '../telemetry/event.js'

type Settings = Pick<Config, 'kafka' | 'output'>

/**
 * `registry` reads values by schemas; absent where there is none, and then nobody can read them. `remove` is for topics that we have written,
 * where a value of any format may be.
 */
export const openRecordOf = (
  config: Settings,
  onForged?: OpenOptions['onForged'],
  registry?: Pick<Registry, 'open'>,
): CutBatch | undefined =>
  isOnlyText(config) && onForged !== 'remove' ? openTextOf(config, onForged) : openAnyOf(config, onForged, registry)

const openTextOf = ({ kafka, output }: Settings, onForged: OpenOptions['onForged']): CutBatch | undefined =>
  kafka.input.batches === 'off'
    ? undefined
    : createOpenRecord({ unzstd, key: createAnnotationKey(output.key), onForged })

/** Whatever the topics are set to: what we wrote says its format itself. */
const openAnyOf = (
  config: Settings,
  onForged: OpenOptions['onForged'],
  registry: Pick<Registry, 'open'> | undefined,
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

type RegistryParts = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  readonly emit?: Emit
  /** Whether nothing is lost by waiting. */
  readonly isPatient?: boolean
}

/** Whoever waits for all answers waits for schemas as well, within reason. */
const patientMs = 30_000

/** The registry of the configuration; undefined where no topic needs one. */
export const openRegistryOf = (
  { kafka, enrich }: Pick<Config, 'kafka' | 'enrich'>,
  { env, clock = systemClock, emit = ignoreTelemetry, isPatient = false }: RegistryParts,
): Registry | undefined => {
  const { input, registry } = kafka
  if (!usesFormat(input.format, 'registry') || registry.url === '') return undefined
  return openRegistry({
    client: registryClientOf(registry, env, clock),
    isOurs: ({ format, topic }) => (format ?? formatOfTopic(input.format, topic)) === 'registry',
    cuts: input.batches !== 'off',
    deadlineMs: isPatient ? patientMs : enrich.deadlineMs,
    clock,
    emit,
  })
}

/** Its files were read when the configuration was checked. */
export const registryClientOf = (
  registry: Config['kafka']['registry'],
  env: RegistryParts['env'],
  { now }: Pick<Clock, 'now'>,
): RegistryClient => {
  const { caFile, certificateFile, keyFile, keyPassphrase } = registry
  return createRegistryClient(registry, {
    env,
    now,
    ...(caFile !== '' && { ca: readText(caFile) }),
    ...(certificateFile !== '' && {
      certificate: {
        cert: readText(certificateFile),
        key: readText(keyFile),
        ...(keyPassphrase !== '' && { passphrase: keyPassphrase }),
      },
    }),
  })
}

/** Reads what we wrote: its format is in a header, for our topics have values of all. */
export const readWrittenOf = (config: Settings, registry?: Pick<Registry, 'open'>): ReadWritten =>
  createReadWritten(openAnyOf(config, undefined, registry), config.output.key)

/** Reads one record of a topic, by the topic's format unless we write to it. */
export const readWrittenAt = async (
  topic: string,
  { value, headers }: WrittenRecord,
  config: Settings,
  registry: Registry | undefined,
): Promise<WrittenEvents> => {
  const { input, output, correctionsTopic } = config.kafka
  const isOurs = topic === output.topic || topic === correctionsTopic
  const own = isOurs ? 'text' : formatOfTopic(input.format, topic)
  const record = { topic, value, headers, format: own === 'text' ? writtenFormat(headers) : own }
  await registry?.prepare([record])
  return readWrittenOf(config, registry)(record)
}

/** The events of a record, as they are read. */
export const eventsInRecord = (config: Settings): ((bytes: Buffer) => readonly Buffer[]) => {
  const open = openRecordOf(config)
  return (bytes) => {
    const batch = open?.(bytes)
    return batch ? batch.members.map((_, nth) => bytesOfMember(bytes, batch, nth)) : [bytes]
  }
}
