// Settles, when all of an event is read, what the roles of its addresses are beside each other.
import type { Entry } from './sightings.js'

/**
 * A lone address is the source's; beside a client's address (`cip`) an `sip` is the server's, though alone it is the source's;
 * `remote` is who came, unless the ports say that the local end began.
 */
export const settle = (entries: readonly Entry[], isLocalFirst: boolean): void => {
  let hasQuery = false
  let hasOther = false
  let hasObserver = false
  let hasSource = false
  let hasAnswer = false
  let hasDestination = false
  let hasSourceAddress = false
  for (const { role, type } of entries) {
    if (role === 'source') {
      hasSource = true
      if (type === 'ip') hasSourceAddress = true
    } else if (role === 'destination') hasDestination = true
    else if (role === 'observer') hasObserver = true
    else if (role === 'other') hasOther = true
    else if (role === 'query') hasQuery = true
    else if (role === 'answer') hasAnswer = true
  }
  if (hasOther && !hasSourceAddress && (settleOnly(entries) || settleInside(entries))) hasSource = true
  if (entries.length < 2) return
  if (hasQuery && hasOther) settleAnswers(entries)
  if (hasAnswer && hasSource && !hasDestination) settleResolver(entries)
  if (isLocalFirst) {
    for (const entry of entries) {
      if (entry.role === 'source' && remoteField.test(entry.field)) entry.role = 'destination'
      else if (entry.role === 'destination' && localField.test(entry.field)) entry.role = 'source'
    }
    return
  }
  if (!hasSource || hasDestination) return
  if (hasObserver) settleOrigin(entries)
  settleServer(entries)
}

/** `private_ip` beside `public_ip`, and nobody else: the same end, as it is inside and as it is seen from outside. */
const settleInside = (entries: readonly Entry[]): boolean => {
  let inside: Entry | undefined
  let outside: Entry | undefined
  for (const entry of entries) {
    if (entry.type !== 'ip' || entry.value.startsWith('::ffff:')) continue
    if (entry.role !== 'other' || entry.evidence !== 'field') return false
    if (inside === undefined && insideField.test(entry.field)) inside = entry
    else if (outside === undefined && outsideField.test(entry.field)) outside = entry
    else return false
  }
  if (inside === undefined || outside === undefined) return false
  inside.role = 'source'
  outside.role = 'translated'
  return true
}
const insideField = /(?:private|internal|inside)_?(?:client_?)?ip(?:_?addr(?:ess)?)?$/i
const outsideField = /(?:public|external|outside)_?(?:client_?)?ip(?:_?addr(?:ess)?)?$/i

const remoteField = /remote|^[fr](?:addr|ip)$/i
const localField = /local|^l(?:addr|ip)$/i

const settleServer = (entries: readonly Entry[]): void => {
  let server: Entry | undefined
  for (const entry of entries)
    if (server === undefined && entry.role === 'source' && isServerField(entry.field)) server = entry
  if (!server) return
  if (entries.some((entry) => entry.role === 'source' && clientField.test(entry.field))) server.role = 'destination'
}

/**
 * The only address of an event, under a name that says no more than that it is one, is who did it: `addr=192.0.2.1 res=failed`;
 * where it came to and who tells of it do not count: `laddr=198.51.100.1 addr=192.0.2.1`.
 */
const settleOnly = (entries: readonly Entry[]): boolean => {
  let only: Entry | undefined
  for (const entry of entries) {
    if (entry.role === 'query' || entry.role === 'answer') return false
    if (entry.type !== 'ip' || entry.role === 'destination' || entry.role === 'observer') continue
    // An inside address that is listed as it was written, too.
    if (entry.value.startsWith('::ffff:')) continue
    if (only !== undefined || entry.role !== 'other' || entry.evidence !== 'field') return false
    only = entry
  }
  if (only === undefined || !onlyField.test(only.field) || aboutField.test(only.field)) return false
  only.role = 'source'
  return true
}
const onlyField = /(?:^|\.)(?:ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i
const aboutField = /threat|indicator|ioc|intel|related/i

/**
 * Where someone came to a proxy, the origin is the server behind it; beside `client_ip`, `host_ip` is where the client came to. Elsewhere
 * both are of who tells of it, or of a host that is neither end.
 */
const settleOrigin = (entries: readonly Entry[]): void => {
  const origin = entries.find((entry) => entry.role === 'observer' && originField.test(entry.field))
  if (origin === undefined) return
  if (hostIpField.test(origin.field) && !entries.some(isClient)) return
  origin.role = 'destination'
}
const isClient = (entry: Entry): boolean => entry.role === 'source' && clientIpField.test(entry.field)
const originField = /(?:origin|host)_?ip$/i
const hostIpField = /host_?ip$/i
const clientIpField = /client_?ip$/i

const serverField = /(?:^|[._-])s[_-]?ip$/i
/** `sip` and the like are short behind the last dot: a look at the letter before spares nearly all fields the expression. */
const isServerField = (field: string): boolean => {
  const { length } = field
  if ((field.charCodeAt(length - 1) | 0x20) !== 0x70 || (field.charCodeAt(length - 2) | 0x20) !== 0x69) return false
  const before = field.charCodeAt(length - 3) | 0x20
  return (before === 0x73 || field.charCodeAt(length - 3) === 0x5f || before === 0x2d) && serverField.test(field)
}
const clientField = /(?:^|[._-])c[_-]?ip$/i

/** Where something was asked for, a field that says no more than `ipaddr` holds what it resolved to. */
const settleAnswers = (entries: readonly Entry[]): void => {
  for (const entry of entries) if (entry.role === 'other' && answerField.test(entry.field)) entry.role = 'answer'
}
const answerField = /(?:^|\.)ip_?addr$/i

/** Beside `query_address`, `response_address` is who answered, and not what. */
const settleResolver = (entries: readonly Entry[]): void => {
  if (!entries.some((entry) => entry.role === 'source' && queryField.test(entry.field))) return
  for (const entry of entries)
    if (entry.role === 'answer' && responseField.test(entry.field)) entry.role = 'destination'
}
const queryField = /query[-_]?(?:ip|addr(?:ess)?)$/i
const responseField = /response[-_]?(?:ip|addr(?:ess)?)$/i
