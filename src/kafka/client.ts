// Settings → a kafkajs client: addresses, TLS from files, SASL, and its log turned into telemetry.
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
      const { message: given, error } = entry.log as { readonly message: unknown; readonly error?: unknown }
      // kafkajs logs some errors as they are, in place of a message.
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

/** A limit on retries is intended: a producer whose send failed is never used again. Nothing depends on the text but the log. */
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

/** Its declared type has no message. */
const RefusedLogin = KafkaJSSASLAuthenticationError as new (message: string) => Error

/** Without a token the brokers count as away, unless only an operator can change that. */
const tokenOf = async (login: Login): Promise<LoginToken> => {
  const got = await login()
  if (!('code' in got)) return got
  if (got.code === 'refused') throw new RefusedLogin(got.message)
  throw new KafkaJSConnectionError(got.message)
}
