// Says from a field's name how its value is read and which role its indicators play.
import type { Role } from '../../domain/sighting.js'
import { endNames, hostWords, personWords, plainWords, roleWords } from './field-words.js'
import { foreignEnd } from './foreign-ends.js'
import { knownFields } from './known-fields.js'
import { wordsOf } from './name-words.js'

/**
 * none: never an indicator.  host: an address or a name.  address: an address, names are not believed.  url: a URL or a part of one.
 * mail: mail addresses, or a user that may be one.  subject: a certificate's subject.  event: an event inside the event.  text: anything.
 */
export type Reads = 'none' | 'host' | 'address' | 'url' | 'mail' | 'subject' | 'event' | 'text'

export type Rule = { readonly reads: Reads; readonly role: Role }

const none: Rule = { reads: 'none', role: 'other' }
const text: Rule = { reads: 'text', role: 'other' }

/** `isHurried`: well-known names only, no weighing of words, for an event that has more names than anybody gave fields. */
export type FieldRule = (path: string, isHurried?: boolean) => Rule

/** `path` is dotted; the names that a mapping of the user's own gives come first. */
export const createFieldRule = (custom: Readonly<Record<string, Role>>): FieldRule => {
  const mapped = new Map(Object.entries(custom).map(([name, role]) => [name.toLowerCase(), role]))
  return (path, isHurried = false) => {
    const lower = path.toLowerCase()
    const role =
      mapped.size === 0 ? undefined : (mapped.get(lower) ?? mapped.get(lower.slice(lower.lastIndexOf('.') + 1)))
    if (role === undefined)
      return isHurried ? (knownFields.get(compact(path.slice(path.lastIndexOf('.') + 1))) ?? text) : ruleOf(path)
    return { reads: role === 'url' ? 'url' : role === 'mail' ? 'mail' : 'host', role }
  }
}

const ruleOf = (path: string): Rule => {
  if (path.length > 200) return text
  const segments = path.split('.')
  // `DestIP_s`: how a store of logs notes that it is a string.
  const last = (segments.at(-1) ?? '').replace(/(?<=[A-Za-z\d]{2})_[sdgtb]$/, '')
  const before = segments.at(-2)
  if (before !== undefined) {
    const pair = knownFields.get(`${compact(before)}.${compact(last)}`)
    if (pair) return pair
  }
  const w3c = w3cNames.get(last.toLowerCase())
  if (w3c) return w3c
  const foreign = foreignEnd(last)
  if (foreign) return { reads: 'address', role: foreign }
  const isEndsName = last.toLowerCase() === 'name' && isEnd(wordsOf(before ?? ''))
  const exact = isEndsName ? undefined : knownFields.get(compact(last))
  if (exact) {
    // `destination.nat.ip`: what a common name means is said by what it stands in.
    const around =
      exact.reads === 'host' && before !== undefined ? nearestRole(segments.slice(0, -1).flatMap(wordsOf)) : undefined
    if (around === undefined || !commonNames.has(compact(last))) return exact
    return { reads: 'host', role: around === 'url' && addressWords.has(compact(last)) ? 'other' : around }
  }
  const own = wordsOf(last)
  const parents = segments.slice(0, -1).flatMap(wordsOf)
  return byWords(own, parents)
}

/** W3C extended logs name the ends by a letter: client, server, remote; elsewhere `sip` is the source. */
const w3cNames = new Map<string, Rule>([
  ['c-ip', { reads: 'host', role: 'source' }],
  ['s-ip', { reads: 'host', role: 'destination' }],
  ['r-ip', { reads: 'host', role: 'destination' }],
  ['s-supplier-ip', { reads: 'host', role: 'destination' }],
  ['s-dns', { reads: 'host', role: 'other' }],
  ['c-dns', { reads: 'host', role: 'source' }],
  ['r-dns', { reads: 'host', role: 'url' }],
])

/** `who=alice.example`: whoever did it is a person or a program first, and a host where an address says so. */
const isPerson = (role: Role, word: string): boolean =>
  (role === 'source' || role === 'destination') && !endNames.has(word)

/** `destination.name`, but not `target_user.name`. */
const isEnd = (words: readonly string[]): boolean => {
  const role = roleWords.get(words.at(-1) ?? '')
  return role === 'source' || role === 'destination'
}

const endWords = new Set(['ip', 'addr', 'address', 'host'])

const commonNames = new Set([
  'ip',
  'ips',
  'ipv4',
  'ipv6',
  'addr',
  'address',
  'host',
  'hostname',
  'domain',
  'fqdn',
  'ipaddress',
  'ipaddr',
])

const byWords = (own: readonly string[], parents: readonly string[]): Rule => {
  const all = [...parents, ...own]
  let last = own.at(-1) ?? ''
  // `source_host_name`, `dns.question.name`: a name of something; `rule_name`: the name of that thing.
  if ((last === 'name' || last === 'value' || last === 'data') && all.length > 1) last = all.at(-2) ?? ''
  // `client_ip_port`: both in one value.
  if (last === 'port' && own.length > 1 && endWords.has(own.at(-2) ?? '')) last = own.at(-2) ?? ''
  if (last === 'agent' && all.includes('user')) return none
  if (plainWords.has(last) || last.endsWith('version')) return none
  const role = roleIn(own, parents, last)
  if (last === 'nat') return { reads: 'host', role: 'translated' }
  if (
    last === 'user' ||
    last === 'username' ||
    last === 'account' ||
    last === 'upn' ||
    last === 'principal' ||
    last === 'actor'
  )
    return { reads: 'mail', role: 'mail' }
  const named = roleWords.get(last)
  if (named === 'url') return { reads: 'url', role: 'url' }
  if (named === 'mail') return { reads: 'mail', role: 'mail' }
  if (named === 'answer' || named === 'query') return { reads: 'host', role: named }
  if (hostWords.has(last)) {
    if (role === 'mail') return { reads: 'host', role: 'mail' }
    return { reads: 'host', role: role ?? roleOfHost(last, own) }
  }
  // `ip_client`; a forwarding header however it is called.
  if (named !== undefined && own.some((word) => hostWords.has(word))) return { reads: 'host', role: named }
  if (own.includes('forwarded') || own.includes('xff')) return { reads: 'host', role: 'source' }
  // `outer_src`; a longer word may be the source of anything.
  if (named && (own.length === 1 || last === 'src' || last === 'dst'))
    return { reads: isPerson(named, last) ? 'address' : 'host', role: named }
  if (last === 'subject' || last === 'issuer' || last === 'dn') return { reads: 'subject', role: 'other' }
  // `attack_source`, `traffic.target`: whose it is, and not what; an address there is that end's.
  return role === 'source' || role === 'destination' ? { reads: 'address', role } : text
}

const roleOfHost = (last: string, own: readonly string[]): Role =>
  last === 'domain' || last === 'sni'
    ? 'query'
    : addressWords.has(last) && own.some((word) => personWords.has(word))
      ? 'source'
      : 'other'

/** `request_host` is what was asked for, `request_ip` who asked; `location.ip` is nobody's address of a page. */
const roleIn = (own: readonly string[], parents: readonly string[], last: string): Role | undefined => {
  const isAsked = own.length > 1 && (own.includes('request') || own.includes('req'))
  if (isAsked && hostWords.has(last)) return addressWords.has(last) ? (nearestRole(own) ?? 'source') : 'url'
  if (addressWords.has(last) && (own.includes('user') || own.includes('users'))) return nearestRole(own) ?? 'source'
  // `query_address` is whose query it was.
  if (addressWords.has(last) && own.length === 2 && queryWords.has(own[0] ?? '')) return 'source'
  // `tls.server_name`: what the client asked for by name.
  if (last === 'server' && own.at(-1) === 'name' && [...parents, ...own].some((word) => asksByName.has(word)))
    return 'query'
  const role = nearestRole(own) ?? nearestRole(parents)
  return role === 'url' && addressWords.has(last) && !own.some((word) => roleWords.get(word) === 'url')
    ? undefined
    : role
}
const addressWords = new Set([
  'ip',
  'ips',
  'ipv4',
  'ipv6',
  'ip4',
  'ip6',
  'addr',
  'addrs',
  'address',
  'addresses',
  'ipaddr',
  'ipaddress',
  'v4',
  'v6',
])
const queryWords = new Set(['query', 'question'])
const asksByName = new Set(['tls', 'ssl', 'sni', 'handshake', 'requested'])

const nearestRole = (words: readonly string[]): Role | undefined => {
  // Where a name says both, what was done to the address counts more than whose it is: `nat_source_ip`.
  for (const word of words) if (roleWords.get(word) === 'translated') return 'translated'
  let gateway: Role | undefined
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at] ?? ''
    const role = roleWords.get(word)
    // `dst_gw`: which end it is the gateway of says more.
    if (role && word !== 'gw' && word !== 'gateway')
      return role === 'source' || role === 'destination' ? role : (gateway ?? role)
    gateway ??= role
  }
  return gateway
}

const compact = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')
