// Joins this gateway to the others: an election over Kafka picks the caller, and the other gateways pass lookups on to it.
import { readFileSync } from 'node:fs'
import { hostname, networkInterfaces } from 'node:os'
import type { Clock } from '../base/clock.js'
import { openParts, type Scope } from '../base/scope.js'
import { budgetOf } from '../config/budget.js'
import type { Config } from '../config/schema.js'
import type { Download } from '../domain/download.js'
import type { Election } from '../election/election.js'
import { joinElection } from '../election/join-election.js'
import { bundledProfile } from './open-profile.js'
import { createClient, type Client } from '../provider/client.js'
import { createPassOnOperation } from '../server/gateway/pass-on-operations.js'
import type { Others } from '../server/start-server.js'
import type { Emit } from '../telemetry/event.js'
import type { KafkaSettings } from '../kafka/settings.js'
import type { Limits } from './limits.js'

export type Gateways = JoinedGateways & { readonly close: () => Promise<void> }

type JoinedGateways = {
  readonly election: Election
  readonly others: Others
  /** Delays a download until this gateway is the elected caller. */
  readonly whenCalling: (download: Download) => Download
}

/** Connections to the calling gateway, for each caller's key. */
const connections = 256

type Surroundings = { readonly clock: Clock; readonly limits: Limits; readonly emit: Emit }

/** Throws if the other gateways could not reach this one. Closing twice is safe. */
export const joinGateways = (config: Config, kafka: KafkaSettings, surroundings: Surroundings): Promise<Gateways> =>
  openParts((scope) => Promise.resolve(joinIn(scope, config, kafka, surroundings)))

const joinIn = (
  scope: Scope,
  config: Config,
  kafka: KafkaSettings,
  { clock, limits, emit }: Surroundings,
): JoinedGateways => {
  const { sessionTimeoutMs: sessionMs } = config.serve
  const { perHour, perDay } = budgetOf(config.admit)
  const { connectTimeoutMs, headersTimeoutMs, bodyTimeoutMs } = limits.client
  const callMs = Math.max(limits.admission.callTimeoutMs, connectTimeoutMs + headersTimeoutMs + bodyTimeoutMs)
  const address = addressOf(config)
  const clients = scope.use(createClients(config, limits, clock))
  const election = scope.use(
    joinElection(kafka, {
      address,
      sessionMs,
      callMs,
      budget: { perHour, perDay },
      clock,
      emit,
    }),
  )
  election.changed(() => clients.keepOnly(election.role()))
  const passed = (): void => emit({ event: 'question_passed_on' })
  const others: Others = {
    election,
    connect: (to, apiKey, settings) => clients.of(to, apiKey, 'live').bulk.connect(settings),
    passed,
    // Longer than a takeover, so the next calling gateway can answer requests made during one.
    giveUpMs: 2 * sessionMs + callMs,
    maxOpen: 60_000,
    clock,
    passOn: createPassOnOperation({ election, clientFor: clients.of, waitMs: callMs, clock, passed }),
    status: () => {
      const role = election.role()
      return { address, role: role.kind, caller: role.kind === 'passes_on' ? role.address : undefined }
    },
  }
  return {
    election,
    others,
    whenCalling: (download) => async (request) => {
      await untilCalling(election, request.signal)
      return download(request)
    },
  }
}

const everyAddress = new Set(['0.0.0.0', '::', '[::]'])

const addressOf = ({ serve: { address, host, port, tls } }: Config): string => {
  if (address !== '') return address
  if (port === 0) throw new Error('serve.address or serve.port must be set: other gateways have to reach this one')
  const name = everyAddress.has(host) ? ownAddress() : host
  return `${tls.certFile === '' ? 'http' : 'https'}://${name.includes(':') ? `[${name}]` : name}:${port}`
}

/** The first address that other machines can reach, or else the host name. */
const ownAddress = (): string => {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  return all.find(({ internal, address }) => !internal && !address.startsWith('fe80'))?.address ?? hostname()
}

const createClients = ({ serve }: Config, limits: Limits, clock: Clock) => {
  const { certFile } = serve.tls
  const ca = certFile === '' ? undefined : readFileSync(certFile, 'utf8')
  const clients = new Map<string, { readonly address: string; readonly client: Client }>()
  const drop = async (isKept: (address: string) => boolean): Promise<void> => {
    for (const [key, { address, client }] of clients) {
      if (isKept(address)) continue
      clients.delete(key)
      await client.close()
    }
  }
  return {
    of: (address: string, apiKey = '', urgency: 'live' | 'replay'): Client => {
      const key = `${urgency} ${address} ${apiKey}`
      const known = clients.get(key)
      if (known) return known.client
      const client = createClient(
        {
          ...limits.client,
          baseUrl: address,
          apiKey,
          profile: bundledProfile(),
          concurrency: connections,
          // Gateways connect like callers: over plain HTTP if no certificate is configured.
          allowHttp: true,
        },
        { env: {}, now: () => clock.now(), urgency, isPassedOn: true, ...(ca !== undefined && { ca }) },
      )
      clients.set(key, { address, client })
      return client
    },
    keepOnly: (role: ReturnType<Election['role']>): void =>
      void drop((address) => role.kind === 'passes_on' && role.address === address),
    close: () => drop(() => false),
  }
}

const untilCalling = (election: Election, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (election.role().kind !== 'calls' && !signal.aborted) return
      unsubscribe()
      signal.removeEventListener('abort', look)
      resolve()
    }
    const unsubscribe = election.changed(look)
    signal.addEventListener('abort', look)
    look()
  })
