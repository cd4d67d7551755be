// The port of an address in an event, which is compared with feed entries for one port.
import type { Activity } from './activity.js'
import type { Action, Sighting } from './sighting.js'

/** The event has no port. */
export const unknownPort = 0
/** Matches entries for any port: the event is worse than a connection, and its port is not that of a server. */
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

/** `isFirst`: the first address with this role; an event has one port per end. */
export const portSeen = ({ role, port }: Sighting, event: Seen, isFirst: boolean): number => {
  const { sourcePort = unknownPort, destinationPort = unknownPort } = event
  if (role === 'answer') return anyPort
  if (role === 'source') return isAcceptedLogin(event) ? anyPort : isFirst ? sourcePort : unknownPort
  if (port !== undefined) return port
  if (role === 'url') return destinationPort
  return role === 'destination' && isFirst ? destinationPort : unknownPort
}

/** A right password counts as accepted, even if a second factor stopped the login. */
const isAcceptedLogin = ({ activity, action, passwordAccepted, password_accepted }: Seen): boolean =>
  activity === 'login' && (action === 'allowed' || passwordAccepted === true || password_accepted === true)
