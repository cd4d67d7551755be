// The port of an address that an event shows: what an entry for one port of the address is compared with.
import type { Activity } from './activity.js'
import type { Action, Sighting } from './sighting.js'

/** The event does not say it. */
export const unknownPort = 0
/** Every entry for a port of the address counts: the event is worse than a connection, and its port is not the server's. */
export const anyPort = -1

/** The members of an extraction, or of a summary, that say it. */
type Seen = {
  readonly action: Action
  readonly activity?: Activity | undefined
  readonly sourcePort?: number | undefined
  readonly destinationPort?: number | undefined
  readonly passwordAccepted?: boolean | undefined
  readonly password_accepted?: true | undefined
}

/** `isFirst`: no other address before it has the role; an event has one port for each end. */
export const portSeen = ({ role, port }: Sighting, event: Seen, isFirst: boolean): number => {
  const { sourcePort = unknownPort, destinationPort = unknownPort } = event
  if (role === 'answer') return anyPort
  if (role === 'source') return isAcceptedLogin(event) ? anyPort : isFirst ? sourcePort : unknownPort
  if (port !== undefined) return port
  if (role === 'url') return destinationPort
  return role === 'destination' && isFirst ? destinationPort : unknownPort
}

/** Where the password was right the client is let in, or was nearly. */
const isAcceptedLogin = ({ activity, action, passwordAccepted, password_accepted }: Seen): boolean =>
  activity === 'login' && (action === 'allowed' || passwordAccepted === true || password_accepted === true)
