// Samples records of each input topic and reports formats that do not fit, and own addresses found in them.
import { isUtf8 } from 'node:buffer'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import { createOwnAddresses } from '../domain/own-addresses.js'
import { formatOfTopic, type TopicFormat } from '../domain/topic-format.js'
import { withTopicReader, type TopicReader } from '../kafka/topic-reader.js'
import type { TopicRemark } from '../kafka/topics.js'
import type { WireRecord } from '../kafka/wire/record.js'
import { connectedSettingsOf } from './connected-settings.js'
import { openReader } from './open-app.js'
import { openRecordOf, openSchemaValues } from './open-records.js'
import type { SchemaCheck } from './part.js'
import { parts } from './parts.js'

const maxRecords = 5
const maxPartitions = 3

type Value = { readonly topic: string; readonly value: Buffer; readonly headers: WireRecord['headers'] }

export const checkValues = async (
  config: Config,
  topics: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly TopicRemark[] | { readonly refused: string }> => {
  const { input } = config.kafka
  const schemas = await openSchemaCheck(config, env)
  const reading = await openSchemaValues(config, { env, isPatient: true })
  const open = openRecordOf(config, undefined, reading)
  try {
    return await withTopicReader(connectedSettingsOf(config, { env }), topics, async (reader) => {
      const remarks: TopicRemark[] = []
      for (const topic of topics) {
        const values = await lastValues(reader, topic)
        const format = formatOfTopic(input.format, topic)
        await reading?.prepare(values)
        const isUnread = (one: Value): boolean => open?.(one.value, one)?.unread !== undefined
        const message = values.length === 0 ? undefined : await misfit(format, values, schemas, isUnread)
        if (message !== undefined) remarks.push({ topic, level: 'warning', message })
        const ranges = config.gate.ownRanges.length === 0 ? ownRangesIn(values, config) : []
        if (ranges.length > 0)
          remarks.push({
            topic,
            level: 'warning',
            message: `shows by address translation public addresses of yours; if they are, set gate.ownRanges: [${ranges.join(', ')}]`,
          })
      }
      return remarks
    })
  } finally {
    await Promise.all([schemas?.close(), reading?.close()])
  }
}

const openSchemaCheck = async (
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<SchemaCheck | undefined> => {
  for (const { schemaCheck } of parts) if (schemaCheck) return schemaCheck(config, env)
  return undefined
}

const lastValues = async (reader: TopicReader, topic: string): Promise<readonly Value[]> => {
  const values: Value[] = []
  const firsts = await reader.offsetsAt(topic, 'earliest')
  for (const [partition, end] of [...(await reader.offsetsAt(topic, 'latest'))].slice(0, maxPartitions)) {
    const from = Math.max(firsts.get(partition) ?? 0, end - maxRecords)
    if (from >= end) continue
    const { records } = await reader.fetch(topic, partition, from)
    for (const { value, headers } of records.slice(0, maxRecords)) if (value) values.push({ topic, value, headers })
  }
  return values
}

const ownRangesIn = (values: readonly Value[], config: Config): readonly string[] => {
  const { eventsInRecord, decode, extract } = accepted(openReader(config))
  const own = createOwnAddresses()
  for (const bytes of values.flatMap(({ value }) => eventsInRecord(value))) own.see(extract(decode(bytes)))
  return own.ranges()
}

/** Why the format does not fit, as the end of a sentence about the topic. */
const misfit = async (
  format: TopicFormat,
  values: readonly Value[],
  schemas: SchemaCheck | undefined,
  isUnread: (one: Value) => boolean,
): Promise<string | undefined> => {
  const areText = values.every(({ value }) => isUtf8(value) && value[0] !== 0)
  const keys = values.map((one) => schemas?.keyOf(one.value, one))
  if (format === 'text') {
    const key = keys.find((one) => one !== undefined)
    const answer = key === undefined ? undefined : await schemas?.ask(key)
    if (key !== undefined && (answer ? answer.isFound : !areText))
      return `has values with a schema id (${key})${answer ? ' that the registry knows' : ''}, and kafka.input.format says text: set it to registry for this topic`
    return areText ? undefined : 'has values that are not text: set kafka.input.format to what they are'
  }
  if (format === 'binary') return areText ? 'has values of text, and kafka.input.format says binary' : undefined
  if (format === 'otlp_proto') {
    if (areText && values.every(({ value }) => value[0] === 0x7b))
      return 'has values of JSON, and kafka.input.format says otlp_proto: set it to text for this topic'
    return values.some(isUnread)
      ? 'has values that are not requests of OpenTelemetry, and kafka.input.format says otlp_proto'
      : undefined
  }
  if (keys.every((one) => one === undefined))
    return `has values without a schema id${areText ? ', which are text' : ''}, and kafka.input.format says registry`
  for (const [place, one] of values.entries()) {
    const key = keys[place]
    const answer = key === undefined ? undefined : await schemas?.ask(key)
    if (answer?.isFound === false) return `has values of schema ${String(key)}: the registry ${answer.message}`
    if (key !== undefined && isUnread(one)) return `has values that are not what schema ${key} says`
  }
  return undefined
}
