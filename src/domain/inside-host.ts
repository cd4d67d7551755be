// Inside hosts: machines of our own side, by the reason for which their address was not looked up.
import type { Annotation } from './annotation.js'
import type { Reason } from './reason.js'
import type { Role } from './sighting.js'

export const isInsideReason = (reason: Reason | undefined): boolean =>
  reason === 'private_address' || reason === 'own_range'

/** An endpoint of the event; an inside address that is only mentioned, such as a resolver's, met nobody. */
export const isInsideHost = (role: Role, reason: Reason | undefined): boolean =>
  (role === 'source' || role === 'destination') && isInsideReason(reason)

/** Those that met what the annotation is about. */
export const insideHostsOf = ({ indicators, value }: Annotation): readonly string[] =>
  indicators.filter((one) => one.value !== value && isInsideHost(one.role, one.reason)).map((one) => one.value)
