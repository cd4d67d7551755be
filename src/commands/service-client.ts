// The client that a command calls the lookup service with directly, or a refusal that says which setting is missing.
import { openClient } from '../app.js'
import type { Config } from '../config/schema.js'
import type { Client } from '../intel/service/call.js'
import type { Io } from './command.js'
import { accepted, ConfigurationError } from './load-config.js'

export const serviceClient = (config: Config, io: Io): Client => {
  const client = openClient(config, { env: io.env })
  if (client) return accepted<Client>(client)
  throw new ConfigurationError([
    { setting: 'intel.service.apiKey', message: 'is needed for this; THREATWEAVE_INTEL_SERVICE_API_KEY gives it' },
  ])
}
