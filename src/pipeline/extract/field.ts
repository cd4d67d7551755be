// Maps a field's name to what its value holds, the role of its indicators and the evidence it gives about the action.
import { createBoundedCache, ownText } from '../../base/bounded-cache.js'
import type { Role } from '../../domain/sighting.js'
import { activityFieldOf, type ActivityField } from './activity-fields.js'
import { actionFieldOf, type ActionField } from './action-fields.js'
import { compact } from './characters.js'
import {
  type Holds,
  type FieldMeaning,
  addressWords,
  dictionary,
  hostWords,
  knownNames,
  plainWords,
  roleWords,
  userWords,
} from './field-words.js'
import { flowFieldOf, type FlowField } from './flow-fields.js'
import { endpointName } from './languages.js'

export type Field = FieldMeaning & {
  readonly says: ActionField | undefined
  /** Its evidence about the flow. */
  readonly flow: FlowField | undefined
  /** Its evidence about the kind of event. */
  readonly activity: ActivityField | undefined
  /** The rule that decided: `field:msgsrc` for a known name, `words:client+ip` for the words of any other. */
  readonly rule: string
}

/** `isHurried`: looks up well-known names and does not weigh words, for an event with more names than any real one has. */
export type FieldOf = (path: string, isHurried?: boolean) => Field

const longestPath = 200

/** `path` is dotted. */
export const createFieldOf = (): FieldOf => {
  const cached = createBoundedCache<string, Field>(2048)
  return (path, isHurried = false) => {
    const known = cached.get(path)
    if (known !== undefined) return known
    if (path.length > longestPath) return { ...unknownName, says: undefined, flow: undefined, activity: undefined }
    const segments = path.split('.', 32)
    const isHeader = headers.test(segments.at(-2) ?? '')
    const says = isHeader ? undefined : actionFieldOf(segments)
    const named = isHurried ? (namedIn(segments) ?? unknownName) : meaningOf(segments)
    // A request header tells neither the action nor the ends of the connection, unless a proxy wrote it.
    const isClaim = isHeader && /^(?:source|destination)$/.test(named.role) && !ofProxy.test(named.rule)
    const meaning = isClaim ? unknownName : named
    const isKnownToSay = says !== undefined && meaning === unknownName
    const flow = flowFieldOf(segments)
    const made = {
      ...meaning,
      says,
      flow,
      activity: activityFieldOf(segments),
      rule: isKnownToSay ? `field:${compact(segments.at(-1) ?? '')}` : meaning.rule,
    }
    if (!isHurried) cached.set(ownText(path), made)
    return made
  }
}

/** Objects that hold the names and values a client sent. */
const headers =
  /^(?:(?:https?|req(?:uest)?)[._-]?)?(?:headers?|cookies?|queryparam(?:eter)?s|querystring(?:param(?:eter)?s)?)$/i
const ofProxy = /forwarded|xff|real|connecting|client/

type Meaning = FieldMeaning & { readonly rule: string }
const unknownName: Meaning = { holds: 'text', role: 'other', rule: 'field' }

const namedIn = (segments: readonly string[]): Meaning | undefined => {
  const name = segments.at(-1) ?? ''
  const last = compact(name)
  const pair = `${compact(segments.at(-2) ?? '')}.${last}`
  for (const key of [`${compact(segments.at(-3) ?? '')}.${pair}`, pair, name.toLowerCase(), last]) {
    const known = knownNames.get(key)
    if (known) return { ...known, rule: `field:${key}` }
  }
  return undefined
}

const meaningOf = (segments: readonly string[]): Meaning => {
  const foreign = endpointName(segments.at(-1) ?? '')
  if (foreign) return { holds: 'address', role: foreign, rule: 'language:field' }
  return namedIn(segments) ?? byWords(wordsOf(segments.at(-1) ?? ''), segments.slice(0, -1).flatMap(wordsOf))
}

/** Weighs the words of an unknown name: the last one tells what the value holds, the nearest role word tells its role. */
const byWords = (own: readonly string[], parents: readonly string[]): Meaning => {
  const all = [...parents, ...own]
  // The fields of an autonomous system hold its routes and its owner, not endpoints.
  if (/^asn?$/.test(parents.at(-1) ?? '')) return { holds: 'none', role: 'other', rule: `words:${all.join('+')}` }
  const is = (holds: Holds, role: Role): Meaning => ({ holds, role, rule: `words:${all.join('+')}` })
  const before = all.at(-2) ?? ''
  let last = own.at(-1) ?? ''
  let count = own.length
  // `source_host_name`, `dns.question.name`, `rule_name`: the word before decides. `client_ip_port`: address and port in one.
  if (
    (/^(?:name|value|data)$/.test(last) && before !== '') ||
    (last === 'id' && userWords.has(before)) ||
    (last === 'port' && count > 1 && (addressWords.has(before) || before === 'host'))
  ) {
    last = before
    count--
  }
  if (last === 'port') return is('none', roleOf(all) ?? 'other')
  if (userWords.has(last)) return is('mail', 'mail')
  if (plainWords.has(last) || last.endsWith('version')) return is('none', 'other')
  const named = roleWords.get(last)
  if (named === 'url' || named === 'mail') return is(named, named)
  // `cs-uri-query`, `url.query`: the query part of a URL, not a DNS question.
  if (last === 'query' && /^(?:ur[il]|http|request)$/.test(before)) return unknownName
  if (named === 'answer' || named === 'query' || last === 'nat') return is('host', named ?? 'other')
  // A forwarding header under any name; `X-Forwarded-Host` is the requested host.
  if ((own.includes('forwarded') || own.includes('xff')) && last !== 'host') return is('forwarded', 'source')
  if (hostWords.has(last)) return is('host', roleOfHost(last, own, parents))
  // `outer_src`; a longer word may be the source of anything.
  if (named && (count <= 1 || last === 'src' || last === 'dst')) return is('host', named)
  // `attack_source`, `traffic.target` name an end but not the kind of value; an address there is that end's.
  const role = roleOf(own) ?? roleOf(parents)
  return role === 'source' || role === 'destination' ? is('address', role) : unknownName
}

const roleOfHost = (last: string, own: readonly string[], parents: readonly string[]): Role => {
  const isAddress = addressWords.has(last)
  const role = roleOf(own)
  // `user_ip`, `request_ip` and `query_address` belong to the client; `request_host` is the requested host.
  const isAsked = own.length > 1 && (own.includes('request') || own.includes('req'))
  if (isAddress && (isAsked || role === 'query' || (role === undefined && own.some((word) => userWords.has(word)))))
    return 'source'
  if (isAsked) return 'url'
  return role ?? roleOf(parents) ?? (/^(?:host|hostname|fqdn|domain)$/.test(last) ? 'url' : 'other')
}

/** The role word nearest to the value. A translation outranks it (`nat_source_ip`); a device word gives way to any other (`dst_gw`). */
const roleOf = (all: readonly string[]): Role | undefined => {
  const roles = all.map((word) => roleWords.get(word))
  if (roles.includes('translated')) return 'translated'
  return (
    roles.findLast((role) => role !== undefined && role !== 'observer') ?? roles.findLast((role) => role !== undefined)
  )
}

/**
 * `srcIPAddress_v4` → src ip address v4; `dstip` → dst ip; `sourceIPs` → source ips; `DestIP_s` → dest ip, without the suffix by which a
 * log store marks a type.
 */
export const wordsOf = (name: string): string[] =>
  name
    .replace(/(?<=[A-Za-z\d]{2})_[sdgtb]$/, '')
    .replace(/IPv(?=[46])/g, 'Ipv')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z](?!s(?![a-z]))[a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .flatMap((part) => (part === '' ? [] : part.length > 40 ? [part] : (cut(part, 0) ?? [part])))

const longestWord = 14

/** Splits a name into dictionary words, longest first; a plural or a number may end it (`dstips`, `ip1`). */
const cut = (part: string, from: number): string[] | undefined => {
  if (/^(?:e?s|\d*)$/.test(part.slice(from))) return from === 0 ? undefined : []
  for (let end = Math.min(part.length, from + longestWord); end > from; end--) {
    if (!dictionary.has(part.slice(from, end))) continue
    const rest = cut(part, end)
    if (rest) return [part.slice(from, end), ...rest]
  }
  return undefined
}
