// Composition of the lookup service for others, from the same configuration and parts as the line's own lookups.
import { openClient, tableOf, type Surroundings } from './app.js'
import type { Config } from './config/schema.js'
import { systemClock } from './domain/clock.js'
import { openGateway, type Gateway, type GatewayWatch } from './service/gateway/gateway.js'
import { startService, type Service } from './service/start-service.js'
import { tellNobody } from './telemetry/event.js'

export type ServiceSurroundings = Pick<Surroundings, 'env' | 'tell' | 'clock'> & { readonly watch?: GatewayWatch }

/** A gateway to the provider where `serve.upstream` names one. Throws when it cannot start. */
export const openService = (
  config: Config,
  { env, tell = tellNobody, clock = systemClock, watch }: ServiceSurroundings,
  version: string,
): Promise<Service> => {
  const { serve, intel, admit: limits, memory } = config
  const gateway = (folder: string): Promise<Gateway> => {
    const client = openClient(
      { ...config, intel: { ...intel, service: { ...intel.service, baseUrl: serve.upstream } } },
      { env, clock },
    )
    if (!client) throw new Error('a gateway needs intel.service.apiKey, its own key at the provider')
    if ('problems' in client) throw new Error(client.problems.map(({ message }) => message).join('\n'))
    return openGateway(
      {
        admit: { ...limits, inFlight: intel.service.concurrency },
        memory: { ...memory, maxEntries: serve.maxAnswers },
      },
      { client, table: tableOf(config), clock, random: Math.random, folder, tell, ...(watch ? { watch } : {}) },
    )
  }
  return startService(serve, {
    now: () => clock.now(),
    tell,
    version,
    feeds: config.feeds,
    ...(serve.upstream === '' ? {} : { openGateway: gateway }),
  })
}
