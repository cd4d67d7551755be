// Encodes the kinds of sightings of an indicator and the actions of their events as bits, one per pair.
import { seenAsIn, type EventAround } from '../domain/seen-as.js'
import { actions, seenAs, type Action, type Kind, type Role, type SeenAs } from '../domain/sighting.js'
import { trafficIn } from './traffic.js'

const pairs: readonly Kind[] = seenAs.flatMap((seen_as) => actions.map((action) => ({ seen_as, action })))

export const kindBits = 2 ** pairs.length - 1

const bitOf = (seen_as: SeenAs, action: Action): number =>
  1 << (seenAs.indexOf(seen_as) * actions.length + actions.indexOf(action))

export const kindBit = (role: Role, event: EventAround): number => bitOf(seenAsIn(role, event), event.action)

/** Derives the kinds from direction and action, for counts of a version without kinds. */
export const kindsOfTraffic = (traffic: number): number =>
  trafficIn(traffic).reduce(
    (bits, { direction, action }) => bits | bitOf(direction === 'inbound' ? 'peer' : 'called', action),
    0,
  )

const acceptedLogins = actions.reduce(
  (bits, action) => bits | bitOf('login_stopped', action),
  bitOf('login', 'allowed'),
)

/** Whether the kinds include a login with the right password. */
export const hasAcceptedLogin = (bits: number): boolean => (bits & acceptedLogins) !== 0

export const kindsIn = (bits: number): readonly Kind[] => pairs.filter((_, place) => bits & (1 << place))
