// The source and destination of an event as ECS fields, for events without fields of their own.
import type { Extraction } from './sighting.js'

export type Endpoint = { ip?: string; domain?: string; port?: number }
type Endpoints = { source?: Endpoint; destination?: Endpoint }

/** The first address and name in each of the two roles, and known ports. */
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
