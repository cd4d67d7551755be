// Says from a field's name what its value holds, which role its indicators play and what it says of the action.
import { createBoundedCache } from '../../domain/bounded-cache.js'
import { ownText } from '../../domain/own-text.js'
import type { Role } from '../../domain/sighting.js'
import { words } from './characters.js'
import {
  addressWords,
  asksByName,
  endpointWords,
  hostWords,
  joinedWords,
  personWords,
  plainWords,
  roleWords,
  userWords,
} from './field-words.js'
import { compact, knownFields, saysOf, w3cFields, type Holds, type Known, type Says } from './fields.js'
import { actionName, endpointName } from './languages.js'

export type Field = {
  readonly holds: Holds
  readonly role: Role
  readonly says: Says | undefined
  /** The rule that says so: `field:srcip` a name of the table, `words:client+ip` the words of an unknown one. */
  readonly rule: string
}

/** `isHurried`: well-known names only, no weighing of words, for an event that has more names than anybody gave fields. */
export type FieldOf = (path: string, isHurried?: boolean) => Field

const longestPath = 200

/** `path` is dotted. */
export const createFieldOf = (): FieldOf => {
  const cached = createBoundedCache<string, Field>(2048)
  const fieldOf = (path: string, isHurried: boolean): Field => {
    const segments = path.split('.', 32)
    const says = actionName(segments.at(-1) ?? '') ? 'ruling' : saysOf(segments)
    const meaning = isHurried ? knownOnly(segments) : meaningOf(segments)
    const { holds, role } = meaning
    const isKnownToSay = says !== undefined && meaning === unknownName
    return { holds, role, says, rule: isKnownToSay ? `field:${compact(segments.at(-1) ?? '')}` : meaning.rule }
  }
  return (path, isHurried = false) => {
    const known = cached.get(path)
    if (known !== undefined) return known
    if (path.length > longestPath) return { holds: 'text', role: 'other', says: undefined, rule: 'field' }
    const made = fieldOf(path, isHurried)
    if (!isHurried) cached.set(ownText(path), made)
    return made
  }
}

type Meaning = Known & { readonly rule: string }

const unknownName: Meaning = { holds: 'text', role: 'other', rule: 'field' }
const knownOnly = (segments: readonly string[]): Meaning => tableRow(compact(segments.at(-1) ?? '')) ?? unknownName
const tableRow = (name: string): Meaning | undefined => {
  const known = knownFields.get(name)
  return known === undefined ? undefined : { ...known, rule: `field:${name}` }
}

const commonNames = new Set(words('ip ips ipv4 ipv6 addr address host hostname domain fqdn ipaddress ipaddr'))

const meaningOf = (segments: readonly string[]): Meaning => {
  // `DestIP_s`: how a store of logs notes that it is a string.
  const last = (segments.at(-1) ?? '').replace(/(?<=[A-Za-z\d]{2})_[sdgtb]$/, '')
  const before = segments.at(-2)
  const pair = before === undefined ? undefined : `${compact(before)}.${compact(last)}`
  const known =
    pair === undefined ? undefined : (tableRow(`${compact(segments.at(-3) ?? '')}.${pair}`) ?? tableRow(pair))
  if (known) return known
  const w3c = w3cFields.get(last.toLowerCase())
  if (w3c) return { ...w3c, rule: `field:${last.toLowerCase()}` }
  const foreign = endpointName(last)
  if (foreign) return { holds: 'address', role: foreign, rule: 'language:field' }
  const parents = segments.slice(0, -1).flatMap(wordsOf)
  // `destination.name` is a host, `rule.name` a name.
  const parentRole = roleWords.get(parents.at(-1) ?? '')
  const isEndpointName = last.toLowerCase() === 'name' && (parentRole === 'source' || parentRole === 'destination')
  const exact = isEndpointName ? undefined : tableRow(compact(last))
  if (exact === undefined) return byWords(wordsOf(last), parents)
  // `destination.nat.ip`: what a common name means is said by what it stands in.
  const around = exact.holds === 'host' && commonNames.has(compact(last)) ? roleOf(parents) : undefined
  if (around === undefined) return exact
  const isNoPage = around === 'url' && addressWords.has(compact(last))
  return { holds: 'host', role: isNoPage ? 'other' : around, rule: `words:${parents.join('+')}+${compact(last)}` }
}

/** The words of an unknown name: the last one says what it holds, the one that scores highest whose it is. */
const byWords = (own: readonly string[], parents: readonly string[]): Meaning => {
  const all = [...parents, ...own]
  const is = (holds: Holds, role: Role): Meaning => ({ holds, role, rule: `words:${all.join('+')}` })
  let last = own.at(-1) ?? ''
  // `source_host_name`, `dns.question.name`: a name of something; `rule_name`: the name of that thing. `client_ip_port`: both in one.
  if ((last === 'name' || last === 'value' || last === 'data') && all.length > 1) last = all.at(-2) ?? ''
  else if (last === 'port' && /^(?:ip|addr|address|host)$/.test(own.at(-2) ?? '')) last = own.at(-2) ?? ''
  if (last === 'port') return is('none', roleOf(all) ?? 'other')
  if (plainWords.has(last) || last.endsWith('version') || (last === 'agent' && all.includes('user')))
    return is('none', 'other')
  if (last === 'nat') return is('host', 'translated')
  if (userWords.has(last)) return is('mail', 'mail')
  const named = roleWords.get(last)
  if (named === 'url' || named === 'mail') return is(named, named)
  if (named === 'answer' || named === 'query') return is('host', named)
  if (hostWords.has(last)) return is('host', roleOfHost(last, own, parents))
  // `ip_client`; a forwarding header however it is called.
  if (named !== undefined && own.some((word) => hostWords.has(word))) return is('host', named)
  if (own.includes('forwarded') || own.includes('xff')) return is('host', 'source')
  // `outer_src`; a longer word may be the source of anything, and `who` a person first.
  if (named && (own.length === 1 || last === 'src' || last === 'dst'))
    return is((named === 'source' || named === 'destination') && !endpointWords.has(last) ? 'address' : 'host', named)
  if (last === 'subject' || last === 'issuer' || last === 'dn') return is('subject', 'other')
  // `attack_source`, `traffic.target`: whose it is, and not what; an address there is that endpoint's.
  const role = roleOf(own) ?? roleOf(parents)
  return role === 'source' || role === 'destination' ? is('address', role) : unknownName
}

const roleOfHost = (last: string, own: readonly string[], parents: readonly string[]): Role => {
  const isAddress = addressWords.has(last)
  // `tls.server_name`: what the client asked for by name.
  if (last === 'server' && own.at(-1) === 'name' && [...parents, ...own].some((word) => asksByName.has(word)))
    return 'query'
  const role = roleOf(own)
  // `user_ip`, `request_ip`, `query_address` are whose it was; `request_host` is what was asked for.
  if (isAddress && own.some((word) => personWords.has(word)) && (role === undefined || role === 'query'))
    return 'source'
  if (!isAddress && own.length > 1 && (own.includes('request') || own.includes('req'))) return 'url'
  const best = role ?? roleOf(parents)
  // `location.ip` is nobody's address of a page.
  if (best !== undefined) return best === 'url' && isAddress && role !== 'url' ? 'other' : best
  return last === 'domain' || last === 'sni' ? 'query' : 'other'
}

/** What was done to an address counts more than whose it is (`nat_source_ip`), and whose gateway it is more than that it is one (`dst_gw`). */
const scoreOf = (word: string, role: Role): number =>
  role === 'translated' ? 300 : word === 'gw' || word === 'gateway' ? 100 : 200

/** The role whose word scores highest; of equal ones the last, which stands nearest to the value. */
const roleOf = (all: readonly string[]): Role | undefined => {
  let best: Role | undefined
  let most = 0
  all.forEach((word, at) => {
    const role = roleWords.get(word)
    const score = role === undefined ? 0 : scoreOf(word, role) + at
    if (score > most) {
      most = score
      best = role
    }
  })
  return best
}

/** `srcIPAddress_v4` → src ip address v4; `dstip` → dst ip; `sourceIPs` → source ips. */
export const wordsOf = (name: string): string[] => {
  const parts = name
    .replace(/IPv(?=[46])/g, 'Ipv')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z](?!s(?![a-z]))[a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((part) => part !== '')
  return parts.flatMap(splitJoined)
}

const splitJoined = (part: string): string[] => {
  if (part.length > 40) return [part]
  const found: string[] = []
  let at = 0
  while (at < part.length) {
    const word = joinedWords.find((candidate) => part.startsWith(candidate, at))
    // A plural or a number may end it (`dstips`, `ip1`); anything else makes it one word of its own.
    if (word === undefined) return found.length > 0 && /^(?:s|es|\d+|v[46])$/.test(part.slice(at)) ? found : [part]
    found.push(word)
    at += word.length
  }
  return found
}
