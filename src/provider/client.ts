// The client of the provider: calls of its operations, and a bulk connection if the provider offers one.
import type { Duplex } from 'node:stream'
import { bulkHeader, bulkTarget, passedOnHeader, writeBulkSettings, type BulkSettings } from '../bulk/protocol.js'
import { buildRequest, type GivenParameters } from './build-request.js'
import { badInput, givenUp, type CallFailure } from './classify.js'
import { connect, isSocket, refuseUnusable, type ConnectSettings, type ConnectDependencies } from './connect.js'
import type { OperationName, Parameters } from '../domain/operations.js'
import type { ServiceProfile } from '../domain/service-profile.js'
import { createAnswerReader, type AnswerReader } from './answer-reader.js'
import { createEnvelope } from './envelope.js'
import { createRedact, type Redact } from './redact.js'
import { createRotatingLookup } from './rotating-lookup.js'
import { unsent } from './exchange.js'
import { failed, send, type ProviderAnswer, type Reply, type SendSettings } from './send.js'

export type { ProviderAnswer, Reply }

export type ProviderSettings = ConnectSettings &
  SendSettings & {
    readonly baseUrl: string
    readonly profile: ServiceProfile
  }

/** A slower provider counts as down; no operation has a larger or deeper answer. */
export const clientLimits = {
  connectTimeoutMs: 5_000,
  headersTimeoutMs: 15_000,
  bodyTimeoutMs: 15_000,
  maxAnswerBytes: 4_194_304,
  maxAnswerDepth: 32,
} as const satisfies Partial<ProviderSettings>

type ClientDependencies = ConnectDependencies & {
  readonly now: () => number
  /** A gateway prefers live traffic over replayed history. */
  readonly urgency?: 'live' | 'replay'
  /** The requests are forwarded from other clients to the leading gateway. */
  readonly isPassedOn?: boolean
}

export type Client = {
  readonly call: <Name extends OperationName>(name: Name, parameters: Parameters<Name>) => Promise<Reply>
  /** For an operation name and parameters in text form. */
  readonly callNamed: (name: OperationName, parameters: GivenParameters) => Promise<Reply>
  /** Reads its answers. */
  readonly reader: AnswerReader
  readonly bulk: BulkClient
  readonly redact: Redact
  readonly close: () => Promise<void>
}

/** `threatweave serve` announces its bulk protocol with every answer; a Unix socket always leads to it. */
type BulkClient = {
  readonly isOffered: () => boolean
  /** Opens a connection for the lines of `lookup/bulk`; rejects if that fails. */
  readonly connect: (settings: BulkSettings, among?: { readonly isOneOfSeveral: boolean }) => Promise<Duplex>
  /** Whether another gateway is known as an alternative. */
  readonly isOneOfSeveral: () => boolean
}

/** The failover timeout for a first response when another gateway exists. */
const firstSignMs = 1_000

/** Throws when the settings cannot work. */
export const createClient = (settings: ProviderSettings, outside: ClientDependencies): Client => {
  const base = new URL(settings.baseUrl)
  refuseUnusable(settings, base)
  const redact = createRedact(settings.apiKey)
  const addresses = createRotatingLookup(base.hostname)
  const dispatcher = connect(settings, base, { ...outside, lookup: addresses.lookup })
  const { profile, apiKey } = settings
  const envelope = createEnvelope(profile.envelope)
  const reader = createAnswerReader(profile)
  const { header, prefix: keyPrefix = '', query: keyQuery } = profile.key
  const headers = {
    accept: 'application/json',
    'user-agent': 'threatweave',
    ...(outside.urgency === 'replay' ? { 'x-threatweave-urgency': 'replay' } : {}),
    ...(outside.isPassedOn === true ? { [passedOnHeader]: '1' } : {}),
    ...(apiKey !== '' && header !== undefined && { [header.toLowerCase()]: keyPrefix + apiKey }),
  }
  const prefix = isSocket(base) ? '' : base.pathname.replace(/\/+$/, '')
  const withKey = (path: string): string =>
    keyQuery === undefined || apiKey === ''
      ? path
      : `${path}${path.includes('?') ? '&' : '?'}${keyQuery}=${encodeURIComponent(apiKey)}`
  let isBulkOffered = isSocket(base)
  let closed = false
  let hasSeveral = false
  const isClosed = (): boolean => closed
  const callNamed = async (name: OperationName, parameters: GivenParameters): Promise<Reply> => {
    if (isClosed()) return failed(unsent(givenUp))
    const built = buildRequest(name, parameters, profile)
    if ('problem' in built) return failed(unsent(badInput(built.problem)))
    const reply = await send(
      { ...built, path: withKey(prefix + built.path) },
      {
        base,
        headers,
        dispatcher,
        settings,
        redact,
        envelope,
        reader,
        errors: profile.errors,
        now: outside.now,
        offered: () => void (isBulkOffered = true),
      },
    )
    if (reply.status === 'answer') return reply
    const { isUnsent } = reply.failure
    const failure = isClosed() ? { ...givenUp, ...(isUnsent && { isUnsent }) } : redactFailure(reply.failure, redact)
    return { ...reply, failure }
  }
  const close = (): Promise<void> => {
    closed = true
    return dispatcher.destroy()
  }
  const connectBulk = async (source: BulkSettings, limitMs: number): Promise<Duplex> => {
    const { statusCode, socket } = await dispatcher.connect({
      path: bulkTarget,
      headers: { ...headers, [bulkHeader]: writeBulkSettings(source) },
      signal: AbortSignal.timeout(limitMs),
    })
    if (statusCode === 200) return socket
    socket.destroy()
    throw new Error(`bulk is refused with HTTP ${statusCode}`)
  }
  const bulk: BulkClient = {
    isOffered: () => isBulkOffered && !closed,
    isOneOfSeveral: () => hasSeveral,
    connect: async (source, { isOneOfSeveral } = { isOneOfSeveral: false }) => {
      const count = isSocket(base) ? 1 : await addresses.count()
      hasSeveral = count > 1
      const usualMs = settings.connectTimeoutMs + settings.headersTimeoutMs
      const limitMs = isOneOfSeveral || hasSeveral ? firstSignMs : usualMs
      for (let tries = 1; ; tries++)
        try {
          return await connectBulk(source, limitMs)
        } catch (error) {
          addresses.moveOn()
          if (tries >= count) throw error
        }
    },
  }
  return { call: callNamed, callNamed, reader, bulk, redact, close }
}

const redactFailure = ({ detail, said, ...rest }: CallFailure, redact: Redact): CallFailure => ({
  ...rest,
  detail: redact.text(detail),
  ...(said && { said: { ...said, message: redact.text(said.message) } }),
})
