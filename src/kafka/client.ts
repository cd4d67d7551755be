// Settings → a kafkajs client: addresses, TLS from files, SASL, and its log turned into telemetry.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { ConnectionOptions } from 'node:tls'
import type { Kafka as KafkaClient, KafkaConfig, LogEntry, RetryOptions, SASLOptions } from 'kafkajs'
import type { Emit } from '../telemetry/event.js'
import { FatalKafkaError } from './failure.js'
import { Kafka, logLevel, refusal } from './patched-kafkajs/patched-kafkajs.js'
import type { KafkaSettings } from './settings.js'

/** The types of kafkajs that others name: the library itself is imported in this folder alone. */
export type { Admin, Kafka, Producer, Transaction } from 'kafkajs'

/** Every caller gets a client of its own: within one, offsets marked by a transaction show before it is committed. */
export const createClient = (settings: KafkaSettings, emit: Emit, retry?: RetryOptions): KafkaClient => {
  if (refusal !== undefined) throw new FatalKafkaError(refusal, true)
  const config: KafkaConfig = {
    clientId: settings.clientId,
    brokers: [...settings.brokers],
    connectionTimeout: 5_000,
    requestTimeout: 30_000,
    ...(retry ? { retry } : {}),
    ...(settings.sockets ? { socketFactory: settings.sockets } : {}),
    logLevel: logLevel.WARN,
    logCreator: () => (entry) => {
      // The error is kept: without it a failed response only names its request.
      const { message, error } = entry.log as LogEntry['log'] & { readonly error?: unknown }
      if (!notLogged.has(message))
        emit({
          event: 'kafka_client_warned',
          about: entry.namespace,
          message: (typeof error === 'string' ? `${message}: ${error}` : message).slice(0, 500),
        })
    },
    ...(settings.tls.enabled ? { ssl: tlsOptions(settings.tls) } : {}),
    ...(settings.sasl.mechanism === 'none' ? {} : { sasl: saslOptions(settings.sasl) }),
  }
  return new Kafka(config)
}

/** A limit on retries is intended: a producer whose send failed is never used again. Nothing depends on the text but the log. */
const notLogged = new Set(['Limiting retries for the idempotent producer may invalidate EoS guarantees'])

const tlsOptions = (tls: KafkaSettings['tls']): ConnectionOptions => ({
  ...(tls.caFile === '' ? {} : { ca: readFileSync(tls.caFile, 'utf8') }),
  ...(tls.certificateFile === '' ? {} : { cert: readFileSync(tls.certificateFile, 'utf8') }),
  ...(tls.keyFile === '' ? {} : { key: readFileSync(tls.keyFile, 'utf8') }),
  ...(tls.keyPassphrase === '' ? {} : { passphrase: tls.keyPassphrase }),
  ...(tls.serverName === '' ? {} : { servername: tls.serverName }),
})

const saslOptions = (sasl: KafkaSettings['sasl']): SASLOptions => {
  const { username, password } = sasl
  switch (sasl.mechanism) {
    case 'plain':
    case 'scram-sha-256':
    case 'scram-sha-512':
      return { mechanism: sasl.mechanism, username, password }
    case 'none':
    case 'oauthbearer':
      return {
        mechanism: 'oauthbearer',
        oauthBearerProvider: async () => ({ value: (await readFile(sasl.tokenFile, 'utf8')).trim() }),
      }
  }
}
