// Opens the schema registry of the configuration, for events and for `check --online`.
import type { SchemaCheck, SchemaOptions, SchemaValues } from '../../app/part.js'
import { systemClock, type Clock } from '../../base/clock.js'
import { readText } from '../../config/load-config.js'
import type { Config } from '../../config/schema.js'
import { formatOfTopic } from '../../domain/topic-format.js'
import { openRegistry } from './open-registry.js'
import { createRegistryClient, type RegistryClient } from './registry-client.js'
import { schemaIdOf } from './schema-id.js'
import type { Registry } from './settings.js'

/** The time limit for schemas in runs that wait for every answer. */
const patientMs = 30_000

export const openValues = (
  registry: Registry,
  { kafka: { input }, enrich }: Pick<Config, 'kafka' | 'enrich'>,
  { env, clock, emit, isPatient }: SchemaOptions,
): SchemaValues =>
  openRegistry({
    client: clientOf(registry, env, clock),
    isOurs: ({ format, topic }) => (format ?? formatOfTopic(input.format, topic)) === 'registry',
    cuts: input.batches !== 'off',
    deadlineMs: isPatient ? patientMs : enrich.deadlineMs,
    clock,
    emit,
  })

export const openCheck = (registry: Registry | undefined, env: SchemaOptions['env']): SchemaCheck => {
  const client = !registry || registry.url === '' ? undefined : clientOf(registry, env, systemClock)
  return {
    keyOf: (value, record) => schemaIdOf(value, record)?.key,
    ask: async (key) => {
      const answer = await client?.schemaOf(key)
      if (!answer) return undefined
      return answer.status === 'found' ? { isFound: true, message: '' } : { isFound: false, message: answer.message }
    },
    close: async () => client?.close(),
  }
}

/** The files were already checked with the configuration. */
const clientOf = (registry: Registry, env: SchemaOptions['env'], { now }: Pick<Clock, 'now'>): RegistryClient => {
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
