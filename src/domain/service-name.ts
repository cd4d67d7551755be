// Names used for service discovery, and labels that only select a DNS record type.

/** A closed list, because a DNS tunnel could otherwise hide data in a label before `_tcp`. */
const services = new Set([
  '_autodiscover',
  '_caldav',
  '_caldavs',
  '_carddav',
  '_carddavs',
  '_gc',
  '_imap',
  '_imaps',
  '_ipp',
  '_ipps',
  '_jabber',
  '_kerberos',
  '_kerberos-master',
  '_kpasswd',
  '_ldap',
  '_ldaps',
  '_mongodb',
  '_ntp',
  '_pop3',
  '_pop3s',
  '_sip',
  '_sipfederationtls',
  '_sipinternal',
  '_sipinternaltls',
  '_sips',
  '_stun',
  '_submission',
  '_submissions',
  '_turn',
  '_vlmcs',
  '_xmpp-client',
  '_xmpp-server',
])
const transports = new Set(['_tcp', '_udp', '_sctp', '_tls'])
const controllers = new Set(['dc', 'gc', 'pdc'])
const browsers = new Set(['b', 'db', 'r', 'dr', 'lb'])

/** Recognises service discovery names, such as `wpad.example.com` or `_sip._tcp.example.com`. */
export const isServiceName = (name: string): boolean => {
  // Windows queries these names below every domain of its search list.
  if (!name.includes('_')) return name.startsWith('wpad.') || name.startsWith('isatap.')
  const first = name.slice(0, name.indexOf('.'))
  const rest = name.slice(first.length + 1)
  const second = rest.slice(0, rest.indexOf('.'))
  return (
    (services.has(first) && transports.has(second)) ||
    (second === '_msdcs' && controllers.has(first)) ||
    (second === '_dns-sd' && browsers.has(first))
  )
}

/** Removes service labels: `selector._domainkey.example.com` → `example.com`. */
export const withoutServiceLabels = (name: string): string => {
  if (!name.includes('_')) return name
  const labels = name.split('.')
  const last = labels.findLastIndex((label) => label.startsWith('_'))
  return labels.slice(last + 1).join('.')
}
