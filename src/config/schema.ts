// The whole configuration, declared once: types, defaults, environment names, documentation and schemas/ derive from it.
import { Type, type Static } from '@sinclair/typebox'
import { admitSettings, feedsSettings, intelSettings, memorySettings } from './settings/intelligence.js'
import { alertsSettings, enrichSettings, extractSettings, gateSettings, outputSettings } from './settings/pipeline.js'
import { logSettings, opsSettings, serveSettings } from './settings/process.js'
import { deriveTopics, type NamedTopics } from './derive-topics.js'
import { kafkaSettings } from './settings/kafka.js'

export const configSchema = Type.Object(
  {
    admit: admitSettings,
    alerts: alertsSettings,
    enrich: enrichSettings,
    extract: extractSettings,
    feeds: feedsSettings,
    gate: gateSettings,
    intel: intelSettings,
    log: logSettings,
    memory: memorySettings,
    kafka: kafkaSettings,
    ops: opsSettings,
    output: outputSettings,
    serve: serveSettings,
  },
  {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Threatweave configuration',
    additionalProperties: false,
    default: {},
  },
)

type Frozen<T> = T extends (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

type Written = Static<typeof configSchema>

export type Config = Frozen<Omit<Written, 'kafka'> & { kafka: NamedTopics }>

/** Adds derived settings, such as default topic names, and freezes the result. */
export const completed = (written: Written): Config => freeze({ ...written, kafka: deriveTopics(written.kafka) })

/** Freezes a value deeply. */
export const freeze = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze)
    Object.freeze(value)
  }
  return value
}
