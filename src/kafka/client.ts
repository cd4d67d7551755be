// Creates a kafkajs client from the settings: addresses, TLS files, SASL, and its log as telemetry.
import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { ConnectionOptions } from 'node:tls'
import type { Kafka as KafkaClient, KafkaConfig, RetryOptions, SASLOptions } from 'kafkajs'
import { messageOf } from '../base/message-of.js'
import type { Emit } from '../telemetry/event.js'
import { FatalKafkaError } from './failure.js'
import type { Login, LoginToken } from './login.js'
import {
  Kafka,
  KafkaJSConnectionError,
  KafkaJSSASLAuthenticationError,
  logLevel,
  refusal,
} from './patched-kafkajs/patched-kafkajs.js'
import type { KafkaSettings } from './settings.js'

/** The kafkajs types for other folders; only this folder imports the library itself. */
export type { Admin, Kafka, Producer, Transaction } from 'kafkajs'

/** Every caller gets its own client, because a client shows offsets of its own open transactions as committed. */
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
      // Keep the error: without it a failed response names only its request.
      const { message: given, error } = entry.log as { readonly message: unknown; readonly error?: unknown }
      // kafkajs logs some errors in place of a message.
      const message = messageOf(given)
      if (!notLogged.has(message))
        emit({
          event: 'kafka_client_warned',
          about: entry.namespace,
          message: (typeof error === 'string' ? `${message}: ${error}` : message).slice(0, 500),
        })
    },
    ...(settings.tls.enabled ? { ssl: tlsOptions(settings.tls) } : {}),
    ...(settings.sasl.mechanism === 'none' ? {} : { sasl: saslOptions(settings) }),
  }
  return new Kafka(config)
}

/** The limit on retries is intended: a producer is never used again after a failed send. The text only filters the log. */
const notLogged = new Set(['Limiting retries for the idempotent producer may invalidate EoS guarantees'])

const tlsOptions = (tls: KafkaSettings['tls']): ConnectionOptions => ({
  ...(tls.caFile === '' ? {} : { ca: readFileSync(tls.caFile, 'utf8') }),
  ...(tls.certificateFile === '' ? {} : { cert: readFileSync(tls.certificateFile, 'utf8') }),
  ...(tls.keyFile === '' ? {} : { key: readFileSync(tls.keyFile, 'utf8') }),
  ...(tls.keyPassphrase === '' ? {} : { passphrase: tls.keyPassphrase }),
  ...(tls.serverName === '' ? {} : { servername: tls.serverName }),
})

const saslOptions = ({ sasl, login }: Pick<KafkaSettings, 'sasl' | 'login'>): SASLOptions => {
  const { username, password, extensions = {} } = sasl
  switch (sasl.mechanism) {
    case 'plain':
    case 'scram-sha-256':
    case 'scram-sha-512':
      return { mechanism: sasl.mechanism, username, password }
    case 'none':
    case 'oauthbearer':
    case 'aws-msk-iam':
      return {
        mechanism: 'oauthbearer',
        oauthBearerProvider: async () => ({
          ...(login ? await tokenOf(login) : { value: (await readFile(sasl.tokenFile, 'utf8')).trim() }),
          ...(Object.keys(extensions).length > 0 && { extensions }),
        }),
      }
  }
}

/** The declared type has no message. */
const RefusedLogin = KafkaJSSASLAuthenticationError as new (message: string) => Error

/** A missing token counts as an outage, unless only an operator can fix it. */
const tokenOf = async (login: Login): Promise<LoginToken> => {
  const got = await login()
  if (!('code' in got)) return got
  if (got.code === 'refused') throw new RefusedLogin(got.message)
  throw new KafkaJSConnectionError(got.message)
}
