// The whole configuration, declared once: types, defaults, environment names, documentation and schemas/ derive from it.
import { Type, type Static } from '@sinclair/typebox'
import { admitSettings } from './settings/admit.js'
import { alertsSettings } from './settings/alerts.js'
import { enrichSettings } from './settings/enrich.js'
import { extractSettings } from './settings/extract.js'
import { feedsSettings } from './settings/feeds.js'
import { gateSettings } from './settings/gate.js'
import { intelSettings } from './settings/intel.js'
import { logSettings } from './settings/log.js'
import { memorySettings } from './settings/memory.js'
import { kafkaSettings } from './settings/kafka.js'
import { opsSettings } from './settings/ops.js'
import { outputSettings } from './settings/output.js'
import { serveSettings } from './settings/serve.js'

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

export type Config = Frozen<Static<typeof configSchema>>

/** Freezes a value and everything in it. */
export const freeze = <Value>(value: Value): Value => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(freeze)
    Object.freeze(value)
  }
  return value
}
