// Classifies the part an indicator played in an event, for rules about past events.
import type { Activity } from './activity.js'
import type { Action, Direction, Role, SeenAs } from './sighting.js'

/** Ports of remote control, file sharing, directories and databases, the same as in the bundled rules. */
const isAdministration: ReadonlySet<number> = new Set([
  21, 22, 23, 111, 135, 139, 389, 445, 512, 513, 514, 623, 636, 873, 1433, 1434, 1521, 2049, 2222, 2375, 2376, 2379,
  3306, 3389, 5432, 5900, 5901, 5984, 5985, 5986, 6379, 6443, 8291, 9042, 9200, 9300, 10_000, 10_250, 11_211, 27_017,
])

export type EventAround = {
  readonly direction: Direction
  readonly action: Action
  readonly activity?: Activity | undefined
  readonly password_accepted?: true | undefined
  readonly sourcePort?: number | undefined
  readonly destinationPort?: number | undefined
}

/** Follows the bundled rules. */
export const seenAsIn = (role: Role, event: EventAround): SeenAs => {
  const { direction, action, activity, password_accepted, sourcePort = 0, destinationPort = 0 } = event
  if (role === 'claimed' || role === 'answer' || role === 'mail') return role
  if (role === 'url' && activity === 'mail') return 'mail'
  if (role === 'source' && activity === 'login' && action === 'allowed') return 'login'
  if (direction === 'outbound') return 'called'
  const isReply = direction === 'external' && sourcePort > 0 && sourcePort < 1024 && destinationPort > 1023
  if (role === 'source' && isReply && action === 'allowed') return 'called'
  const isCalled = role === 'destination' || role === 'query' || role === 'url'
  if (isCalled && direction !== 'inbound' && !(isReply && role === 'destination')) return 'called'
  if (role === 'source' && activity === 'login') return password_accepted ? 'login_stopped' : 'login'
  if (activity === 'mail') return 'mail_peer'
  if (role === 'query' || role === 'url') return 'peer'
  return isAdministration.has(role === 'destination' ? sourcePort : destinationPort) ? 'administration' : 'peer'
}
