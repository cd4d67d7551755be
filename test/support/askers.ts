// A gateway in front of a provider, and clients of it that behave like workers.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { limits as ownLimits } from '../../src/app/limits.js'
import { openReader } from '../../src/app/open-app.js'
import { openIndicatorLookup, type IndicatorLookup } from '../../src/app/open-indicator-lookup.js'
import { openServer } from '../../src/app/open-server.js'
import { load } from '../../src/config/load.js'
import type { Config } from '../../src/config/schema.js'
import { systemClock, type Clock } from '../../src/base/clock.js'
import type { Finding } from '../../src/domain/finding.js'
import type { Ask } from '../../src/domain/lookup.js'
import type { LookupServer } from '../../src/server/start-server.js'
import { hashKey } from '../../src/server/keys.js'
import { newFolder, sampleKey } from './lookup-service.js'
import { outbound } from './lookup.js'

const configured = (values: Record<string, unknown>): Config => {
  const loaded = load({ values, env: {}, readFile: () => '' })
  return 'config' in loaded ? loaded.config : expect.fail(JSON.stringify(loaded))
}

export type GatewayPlace = {
  readonly state: string
  readonly socket?: string
  readonly port?: number
  /** The gateway's concurrency limit. */
  readonly concurrency?: number
  /** The concurrency limit of one caller. */
  readonly plan?: number
  /** Keys with separate plans, by name. */
  readonly keys?: Readonly<Record<string, { readonly key: string; readonly plan: object }>>
  readonly feeds?: readonly object[]
  /** The key that the gateway sends to its provider. */
  readonly upstreamKey?: string
  readonly clock?: Clock
  readonly gate?: object
}

/** Closed at the end of the test. */
export const startGateway = async (upstream: string, place: GatewayPlace): Promise<LookupServer> => {
  const {
    state,
    socket,
    port = 0,
    concurrency = 8,
    plan,
    keys = plan === undefined ? undefined : { asker: { key: sampleKey, plan: { inFlight: plan } } },
    feeds = [],
    upstreamKey,
    clock = systemClock,
    gate = {},
  } = place
  const keysFile = keys ? join(newFolder(), 'keys.json') : ''
  if (keys)
    writeFileSync(
      keysFile,
      JSON.stringify({
        keys: Object.entries(keys).map(([name, each]) => ({ name, hash: hashKey(each.key), plan: each.plan })),
      }),
    )
  const config = configured({
    feeds,
    gate,
    intel: { service: { apiKey: upstreamKey ?? 'The-gateways-own-key-9876543210', concurrency } },
    serve: { upstream, port, apiKey: keys ? '' : sampleKey, keysFile, state },
  })
  const server = await openServer(config, { env: {}, clock, ...(socket !== undefined && { socket }) }, '0.0.0')
  onTestFinished(server.close)
  return server
}

export const startAsker = async (
  baseUrl: string,
  over: Record<string, unknown> = {},
  callTimeoutMs = 30_000,
  clock: Clock = systemClock,
): Promise<IndicatorLookup> => {
  const config = configured({
    gate: { documentation: true },
    memory: { path: 'none' },
    intel: { service: { baseUrl, apiKey: sampleKey } },
    ...over,
  })
  const reader = openReader(config)
  if ('problems' in reader) return expect.fail(JSON.stringify(reader))
  const limits = { ...ownLimits, admission: { ...ownLimits.admission, callTimeoutMs } }
  const asking = await openIndicatorLookup(config, reader.decide, { env: {}, limits, clock })
  if ('problems' in asking) return expect.fail(JSON.stringify(asking))
  onTestFinished(asking.close)
  return asking
}

/** A distinct documentation address per number. */
export const address = (nth: number): string => `2001:db8::${(nth + 1).toString(16)}`

export const askAll = (asker: IndicatorLookup, from: number, to: number, how: Ask = outbound): Promise<Finding[]> =>
  Promise.all(
    Array.from({ length: to - from }, (_, nth) =>
      Promise.resolve(asker.lookup({ type: 'ip', value: address(from + nth) }, how)),
    ),
  )

export const countKnown = (findings: readonly Finding[]): number =>
  findings.filter(({ status }) => status === 'known').length
