// Reads the fields of an event by the names that rules use: the event's own, then those extracted from it in any format.
import type { Annotation } from '../domain/annotation.js'
import type { AnyObject } from '../base/json-object.js'
import type { Extraction, Role } from '../domain/sighting.js'
import { createRead } from './sigma/field.js'
import { userInText } from './user-in-text.js'

export type RuleExtraction = Pick<Extraction, 'sightings' | 'sourcePort' | 'destinationPort' | 'noted'>

export type RuleEvent = {
  /** The event's own object; text is in `message`. */
  readonly object: AnyObject
  /** The values that the reader extracted from the event. */
  readonly extraction?: RuleExtraction
  /** Keys and values of key=value, CEF and similar text as written, if the extraction did not note them; called at most once. */
  readonly named?: () => AnyObject
}

type Found = (extraction: RuleExtraction, annotation: Readonly<Annotation>) => unknown

const none: readonly string[] = []
const valuesIn =
  (role: Role | undefined, type?: 'ip' | 'domain'): ((extraction: RuleExtraction) => readonly string[]) =>
  ({ sightings }) => {
    let values = none
    for (const one of sightings)
      if ((role === undefined || one.role === role) && (type === undefined || one.type === type))
        values = values.length === 0 ? [one.value] : [...values, one.value]
    return values
  }

/** The first value, as in the output fields of text events. */
const first = (role: Role, type?: 'ip' | 'domain'): Found => {
  const values = valuesIn(role, type)
  return (extraction) => values(extraction)[0]
}
const all = (role: Role | undefined, type?: 'ip' | 'domain'): Found => {
  const values = valuesIn(role, type)
  return (extraction) => {
    const found = values(extraction)
    return found.length > 0 ? found : undefined
  }
}
const told = <Text extends string>(text: Text): Text | undefined => (text === 'unknown' ? undefined : text)
const portOf = (port = 0): number | undefined => (port > 0 ? port : undefined)
const urlPart =
  (part: 0 | 1): Found =>
  ({ sightings }) => {
    const found = sightings.flatMap(({ paths = [] }) => paths.flatMap((path) => path.split(/\?(.*)/s)[part] || []))
    return found.length > 0 ? found : undefined
  }

/** ECS names of extracted values. */
const readerFields: ReadonlyMap<string, Found> = new Map([
  ['source.ip', first('source', 'ip')],
  ['source.domain', first('source', 'domain')],
  ['source.address', first('source')],
  ['source.port', ({ sourcePort }) => portOf(sourcePort)],
  ['destination.ip', first('destination', 'ip')],
  ['destination.domain', first('destination', 'domain')],
  ['destination.address', first('destination')],
  ['destination.port', ({ destinationPort }) => portOf(destinationPort)],
  // The host that an outside client requests has the role claimed.
  ['url.domain', (...found) => all('url')(...found) ?? all('claimed')(...found)],
  ['url.path', urlPart(0)],
  ['url.query', urlPart(1)],
  ['dns.question.name', all('query')],
  ['dns.answers.data', all('answer')],
  ['dns.resolved_ip', all('answer', 'ip')],
  ['observer.ip', all('observer', 'ip')],
  ['observer.hostname', all('observer', 'domain')],
  ['related.ip', all(undefined, 'ip')],
  ['related.hosts', all(undefined, 'domain')],
  ['event.action', (_, { action }) => told(action)],
  ['network.direction', (_, { direction }) => told(direction)],
])

/** ECS names that formats give to other parts of a line, which the reader does not examine. */
const pieceFields = [
  'observer.name',
  'url.full',
  'user.name',
  'rule.name',
  'network.transport',
  'event.outcome',
  'event.reason',
]

/** Field name → its aliases: ECS names for those in Sigma's rules for firewalls, DNS, proxies, web servers, Zeek and Sysmon. */
const sigmaNames: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      ['source.ip', 'src_ip c-ip SourceIp id.orig_h'],
      ['source.port', 'src_port c-port SourcePort id.orig_p'],
      ['source.domain', 'SourceHostname'],
      ['destination.ip', 'dst_ip dest_ip s-ip r-ip DestinationIp id.resp_h'],
      ['destination.port', 'dst_port dest_port s-port DestinationPort id.resp_p'],
      ['destination.domain', 'DestinationHostname'],
      ['dns.question.name', 'query QueryName'],
      ['dns.question.type', 'record_type qtype_name'],
      ['dns.answers.data', 'answer answers'],
      ['event.action', 'action'],
      ['url.domain', 'cs-host r-dns'],
      ['url.full url.original', 'c-uri cs-uri'],
      ['url.path', 'cs-uri-stem c-uri-stem'],
      ['url.query', 'cs-uri-query c-uri-query'],
      ['url.extension', 'c-uri-extension'],
      ['user.name', 'username cs-username'],
      // Names in Okta, Entra ID, Google Workspace, CloudTrail, Microsoft 365 and Windows, followed by common names.
      [
        'user.email actor.alternateId userPrincipalName properties.userPrincipalName actor.email userIdentity.userName userIdentity.arn UserId TargetUserName username user user_name userName sasl_username suser duser',
        'user.name',
      ],
      ['user_agent.original', 'c-useragent cs-user-agent'],
      ['http.request.method', 'cs-method'],
      ['http.request.referrer', 'cs-referrer cs-referer'],
      ['http.response.status_code', 'sc-status'],
      ['network.transport', 'Protocol'],
    ] as const
  ).flatMap(([ecs, names]) => names.split(' ').map((name): [string, readonly string[]] => [name, ecs.split(' ')])),
)

export type ReadEvent = (event: RuleEvent, annotation: Readonly<Annotation>) => unknown

/** Reads a field under its own name, then under its aliases; `user.name` also from the words of a text. */
export const createReadEvent = (path: string): ReadEvent => {
  const read = createReadNamed(path)
  const others = (sigmaNames.get(path) ?? []).map(createReadNamed)
  if (path === 'user.name') others.push(({ object }) => userInText(object.message))
  if (others.length === 0) return read
  return (event, annotation) => {
    const own = read(event, annotation)
    if (own !== undefined) return own
    for (const other of others) {
      const under = other(event, annotation)
      if (under !== undefined) return under
    }
    return undefined
  }
}

/** Reads one name: from the event itself, then from the extraction, then from the named values of a text. */
const createReadNamed = (path: string): ReadEvent => {
  const read = createRead(path)
  const found = readerFields.get(path)
  return (event, annotation) => {
    const own = read(event.object)
    if (own !== undefined) return own
    const value = event.extraction && found?.(event.extraction, annotation)
    if (value !== undefined) return value
    const noted = event.extraction?.noted
    const values = noted?.names.has(path) === true ? noted.values : event.named?.()
    return values && read(values)
  }
}

/** The names under which text may contain the value of a field: the path and its aliases, each with its prefixes. */
export const namesOf = (path: string): readonly string[] =>
  [path, ...(sigmaNames.get(path) ?? [])].flatMap((name) => {
    const parts = name.split('.')
    return parts.map((_, last) => parts.slice(0, last + 1).join('.'))
  })

/** Names that an event can provide without having a field of that name. */
export const readerNames: readonly string[] = ['message', ...readerFields.keys(), ...pieceFields, ...sigmaNames.keys()]
