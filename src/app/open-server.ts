// Builds the lookup server, or the gateway, from the configuration.
import { openClient, readText, tableOf, type Refused, type AppOptions } from './open-app.js'
import { describeProblem } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { systemClock } from '../domain/clock.js'
import { loadSafeguard } from '../feeds/load-lists.js'
import type { Client } from '../provider/client.js'
import type { LookupWatch } from '../lookup/open-lookup.js'
import { openGateway, type Gateway } from '../server/gateway/gateway.js'
import { startServer, type LookupServer } from '../server/start-server.js'
import { ignoreTelemetry } from '../telemetry/event.js'

export type ServerOptions = Pick<AppOptions, 'env' | 'emit' | 'clock'> & { readonly watch?: LookupWatch }

/** The client of a gateway: like the pipeline's, but for `serve.upstream`. */
export const openUpstream = (config: Config, options: Pick<ServerOptions, 'env' | 'clock'>): Client | Refused => {
  const { serve, intel } = config
  const client = openClient(
    { ...config, intel: { ...intel, service: { ...intel.service, baseUrl: serve.upstream } } },
    options,
  )
  if (!client)
    return {
      problems: [{ setting: 'intel.service.apiKey', message: 'is needed by a gateway: its own key at the provider' }],
    }
  if (!('problems' in client)) return client
  return {
    problems: client.problems.map((problem) =>
      problem.setting === 'intel.service.baseUrl' ? { ...problem, setting: 'serve.upstream' } : problem,
    ),
  }
}

/** A gateway if `serve.upstream` is set. Throws if it cannot start. */
export const openServer = async (
  config: Config,
  { env, emit = ignoreTelemetry, clock = systemClock, watch }: ServerOptions,
  version: string,
): Promise<LookupServer> => {
  const { serve, intel, admit: limits, memory } = config
  const gateway = (folder: string): Promise<Gateway> => {
    const client = openUpstream(config, { env, clock })
    if ('problems' in client) throw new Error(client.problems.map(describeProblem).join('\n'))
    return openGateway(
      {
        admit: { ...limits, inFlight: intel.service.concurrency },
        memory: {
          ...memory,
          maxEntries: serve.maxAnswers,
          cooldown: { ...memory.cooldown, forOutages: config.enrich.mode !== 'complete' },
        },
      },
      { client, table: tableOf(config), clock, random: Math.random, folder, emit, ...(watch ? { watch } : {}) },
    )
  }
  const safeguard = loadSafeguard(intel.safeguard, readText)
  if ('problems' in safeguard) throw new Error(safeguard.problems.map(describeProblem).join('\n'))
  return startServer(serve, {
    now: () => clock.now(),
    emit,
    version,
    feeds: config.feeds,
    safeguard,
    ...(serve.upstream === '' ? {} : { openGateway: gateway }),
  })
}
