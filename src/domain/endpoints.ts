// The two endpoints of an event by their names in the Elastic Common Schema, for events that do not state them in fields of their own.
import type { Extraction } from './sighting.js'

export type Endpoint = { ip?: string; domain?: string; port?: number }
export type Endpoints = { source?: Endpoint; destination?: Endpoint }

/** By the first address and the first name in each of the two roles; the ports where they are known. */
export const endpointsOf = ({
  sightings,
  sourcePort = 0,
  destinationPort = 0,
}: Pick<Extraction, 'sightings' | 'sourcePort' | 'destinationPort'>): Endpoints => {
  const endpoints: Endpoints = {}
  for (const { type, value, role } of sightings)
    if (role === 'source' || role === 'destination') (endpoints[role] ??= {})[type] ??= value
  if (sourcePort > 0 && endpoints.source !== undefined) endpoints.source.port = sourcePort
  if (destinationPort > 0 && endpoints.destination !== undefined) endpoints.destination.port = destinationPort
  return endpoints
}
