// One sentence of advice for the reader of an alert: what to look at first.
import type { AlertBody } from './alert.js'

type Traffic = Partial<
  Pick<
    AlertBody,
    'value' | 'verdict' | 'peer' | 'peers' | 'role' | 'direction' | 'action' | 'activity' | 'password_accepted'
  >
>

/** Empty if the alert is not about a single indicator. */
export const adviceFor = (traffic: Traffic): string => {
  const { value, verdict, peer, peers = [], role, direction, action, activity } = traffic
  if (value === undefined) return ''
  const host = peer ?? peers[0] ?? 'your side'
  if (role === 'claimed') return `look for other events of that client: it wrote ${value} itself, which proves nothing`
  if (activity === 'login' && action === 'allowed')
    return 'ask whose login it was; if it was not theirs, end the sessions and reset the password'
  if (traffic.password_accepted === true) return 'reset the password: it was right'
  if (role === 'mail' || activity === 'mail') return 'find who received the mail, and whether somebody opened a link'
  if (role === 'answer') return `find which machine asked for the name, and whether it connected to ${value}`
  const isOutbound =
    direction === 'outbound' || (direction !== 'inbound' && ['destination', 'query', 'url'].includes(role ?? ''))
  const first = isOutbound ? `find the program on ${host} that asks for it` : `find what it did on ${host}`
  if (action === 'blocked') return first
  if (verdict === 'suspicious') return `${first}; do not block ${value} on suspicion alone`
  return verdict === 'malicious' ? `${first}; block ${value}` : first
}
