// Opens the provider's client from the configuration, for the pipeline, the gateway and commands that call it directly.
import { accepted, readText } from '../config/load-config.js'
import { ConfigurationError, type Problem, type Refused } from '../config/problem.js'
import type { Config } from '../config/schema.js'
import { mostInFlight } from '../lookup/admission/in-flight-limit.js'
import { systemClock, type Clock } from '../base/clock.js'
import { messageOf } from '../base/message-of.js'
import { createClient, type Client } from '../provider/client.js'
import { bundledProfile, openProfile } from './open-profile.js'
import { oneOfSeveral } from '../provider/one-of-several.js'
import { UnusableSettings, type HttpDispatcher } from '../provider/connect.js'
import type { Io } from '../terminal/command.js'
import { limits as ownLimits, type Limits } from './limits.js'

export type ClientOptions = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock?: Clock
  readonly urgency?: 'live' | 'replay'
  readonly limits?: Limits
  /** Sends the requests; by default a connection pool. */
  readonly dispatcher?: HttpDispatcher | undefined
}

/** Returns the client, or throws an error that names the missing setting. */
export const providerClient = (config: Config, io: Io): Client => {
  const client = openClient(config, { env: io.env })
  if (client) return accepted<Client>(client)
  throw new ConfigurationError([
    { setting: 'intel.service.apiKey', message: 'is needed for this; set THREATWEAVE_INTEL_SERVICE_API_KEY' },
  ])
}

/** Undefined without a key. */
export const openClient = (
  { intel: { service } }: Config,
  { env, clock = systemClock, urgency = 'live', limits = ownLimits, dispatcher }: ClientOptions,
): Client | Refused | undefined => {
  if (service.apiKey === '') return undefined
  const opened = openProfile(service)
  const problems: Problem[] = 'problems' in opened ? [...opened.problems] : []
  const profile = 'profile' in opened ? opened.profile : bundledProfile()
  let ca: string | undefined
  try {
    if (service.caFile !== '') ca = readText(service.caFile)
  } catch (error) {
    problems.push({ setting: 'intel.service.caFile', message: `cannot be read: ${messageOf(error)}` })
  }
  try {
    const clientOf = (baseUrl: string): Client =>
      createClient(
        { ...limits.client, ...service, concurrency: mostInFlight(service.concurrency), baseUrl, profile },
        {
          env,
          now: () => clock.now(),
          urgency,
          dispatcher,
          ...(ca === undefined ? {} : { ca }),
        },
      )
    const { baseUrl, otherUrls } = service
    const first = clientOf(baseUrl)
    const client = otherUrls.length === 0 ? first : oneOfSeveral([first, ...otherUrls.map(clientOf)], Math.random)
    if (problems.length === 0) return client
    void client.close()
  } catch (error) {
    if (error instanceof UnusableSettings) problems.push(...error.problems)
    else problems.push({ setting: 'intel.service', message: `cannot be used: ${messageOf(error)}` })
  }
  return { problems }
}
