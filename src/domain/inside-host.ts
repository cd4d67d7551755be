// Identifies inside hosts (our own machines) by the reason their address was not looked up.
import type { Annotation } from './annotation.js'
import type { Reason } from './reason.js'
import type { Role } from './sighting.js'

export const isInsideReason = (reason: Reason | undefined): boolean =>
  reason === 'private_address' || reason === 'own_range'

/** Only endpoints count; an inside address that is merely mentioned, such as a resolver, had no contact. */
export const isInsideHost = (role: Role, reason: Reason | undefined): boolean =>
  (role === 'source' || role === 'destination') && isInsideReason(reason)

/** The inside hosts that had contact with the deciding indicator. */
export const insideHostsOf = ({ indicators, value }: Annotation): readonly string[] =>
  indicators.filter((one) => one.value !== value && isInsideHost(one.role, one.reason)).map((one) => one.value)
