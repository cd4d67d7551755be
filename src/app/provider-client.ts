// Opens the provider client for a command that needs one.
import { openClient } from './open-app.js'
import type { Config } from '../config/schema.js'
import type { Client } from '../provider/client.js'
import type { Io } from '../terminal/command.js'
import { accepted } from '../config/load-config.js'
import { ConfigurationError } from '../config/problem.js'

export const providerClient = (config: Config, io: Io): Client => {
  const client = openClient(config, { env: io.env })
  if (client) return accepted<Client>(client)
  throw new ConfigurationError([
    { setting: 'intel.service.apiKey', message: 'is needed for this; set THREATWEAVE_INTEL_SERVICE_API_KEY' },
  ])
}
