// Opens the country and network databases from the part that provides them.
import { systemClock } from '../base/clock.js'
import { accepted } from '../config/load-config.js'
import type { Config } from '../config/schema.js'
import type { GeoDatabases } from '../domain/geo.js'
import { ignoreTelemetry } from '../telemetry/event.js'
import type { PlacesOptions } from './part.js'
import { parts } from './parts.js'

/** Undefined if none is configured. Throws a ConfigurationError if a database cannot be used. */
export const openPlaces = async (
  config: Config,
  { clock = systemClock, emit = ignoreTelemetry, pollMs }: Partial<PlacesOptions>,
): Promise<GeoDatabases | undefined> => {
  for (const { places } of parts) {
    const opened = places?.(config, { clock, emit, pollMs })
    if (opened) return accepted<GeoDatabases>(await opened)
  }
  return undefined
}
