// The binary-topics part: decodes Avro, Protobuf and JSON values with schemas from a registry.
import type { Part } from '../../app/part.js'
import { usesFormat } from '../../domain/topic-format.js'
import { registryProblems, registrySettings } from './settings.js'

export const binaryTopics: Part = {
  name: 'binary-topics',
  settings: [registrySettings],
  kafkaProblems: registryProblems,
  schemaValues: (config, options) => {
    const registry = registrySettings.of(config)
    if (!registry || registry.url === '' || !usesFormat(config.kafka.input.format, 'registry')) return undefined
    return import('./open-values.js').then(({ openValues }) => openValues(registry, config, options))
  },
  schemaCheck: async (config, env) => (await import('./open-values.js')).openCheck(registrySettings.of(config), env),
}
