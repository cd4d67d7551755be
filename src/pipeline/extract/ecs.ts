// The ECS names that formats give to pieces of a line: which text fits each name, and how endpoints are read.
import { parseHostname } from '../../domain/hostname.js'
import { eventTime } from '../event-time.js'
import { words } from './characters.js'
import { readField, type Reader } from './reader.js'
import { scanTokens, type Token } from './tokens.js'

/** Each piece is read like a field of that name; the first four may be a whole endpoint. */
export const ecsNames: readonly string[] = words(
  `source destination source.ip destination.ip source.domain source.address source.port destination.domain destination.address destination.port
   source.nat.ip destination.nat.ip source.nat.port destination.nat.port observer.ip observer.hostname dns.question.name dns.resolved_ip dns.answers.data
   url.full url.domain http.request.referrer user.name user.email email.from.address email.to.address related.ip related.hosts event.action event.outcome
   event.reason message http.request.method http.response.status_code user_agent.original network.forwarded_ip smtp.helo time network.transport network.direction rule.name destination.bytes icmp.type
   observer.ingress.zone observer.egress.zone zeek.connection.state zeek.connection.local_orig zeek.connection.local_resp`,
)
const endpointNames = new Set(ecsNames.slice(0, 4))

/**
 * The host and its translation in `192.0.2.1:443`, `inside:192.0.2.1/443(user) (198.51.100.1/443)`, `inside/192.0.2.1(443)`
 * or `[2001:db8::1]#53`.
 */
const hostsIn = (text: string): readonly Token[] => {
  const hosts: Token[] = []
  if (text.length <= longestEndpoint)
    scanTokens(text, (token) => {
      if (hosts.length === 0 || token.type === 'ip') hosts.push(token)
      return hosts.length < 2
    })
  const own = hosts.length === 0 ? ownHost.exec(text) : null
  if (own === null) return hosts
  const [, name = '', port] = own
  const value = (name.includes('.') ? parseHostname(name) : undefined) ?? ''
  return [{ kind: 'name', type: 'domain', value, start: 0, end: 0, port: Number(port) }]
}
/** A host name of a local network: `inside:mail/25`. */
const ownHost = /(?:^|[:@])([\w-]+(?:\.[\w-]+)*)\/(\d{1,5})(?!\d)/
const longestEndpoint = 600
/** `outside:192.0.2.1/443`. */
const interfaceName = /^([A-Za-z]{3,10})[:/]/

/** Returns a test for texts of this name; with a `?` after the name it also accepts a dash or nothing. */
export const fitOf = (name: string): ((text: string) => boolean) => {
  const bare = name.replace(/\?$/, '')
  const fits = endpointNames.has(bare)
    ? (text: string) => isHost(hostsIn(text)[0], bare.endsWith('.ip'))
    : bare === 'time'
      ? (text: string) => text.length <= longestTime && eventTime(text, 0) !== undefined
      : bare.endsWith('.port')
        ? (text: string) => /^\d{1,5}$/.test(text)
        : (text: string) => shapeOf(bare)?.test(text) !== false
  return bare === name ? fits : (text) => text === '-' || text === '' || fits(text)
}
const longestTime = 64
/** The shape of a piece, for names that do not accept every text. */
const shapes: ReadonlyMap<string, RegExp> = new Map([
  ['http.response.status_code', /^\d{3}$/],
  ['network.forwarded_ip', /^(?:[\da-f.:, -]|unknown)+$/i],
  ['user_agent.original', /^(?:[^"\\]|\\.)*$/],
])
const shapeOf = (name: string): RegExp | undefined =>
  shapes.get(name) ?? (name.startsWith('url.') ? urlShape : undefined)
const urlShape = /^-$|[./:]/

const isHost = (token: Token | undefined, isAddress: boolean): boolean =>
  token?.kind === 'address' || (!isAddress && token?.kind === 'name')

/** Reads a piece of a line under the name that its format gives it. */
export const readPiece = (reader: Reader, name: string, text: string, field: string, rule: string): void => {
  if (text === '' || text === '-') return
  // Date and time may be two columns.
  if (name === 'time') reader.time = reader.time === undefined ? text : `${reader.time} ${text}`
  if (name === 'time') return
  const { holds, role, says, flow, activity } = reader.fieldOf(name)
  if (name.includes('.')) reader.note(name, text)
  const [host, translated] = endpointNames.has(name) ? hostsIn(text) : []
  if (host === undefined) {
    readField(reader, field, text.replace(/\.$/, ''), 0, { holds, role, says, flow, activity, rule })
    return
  }
  const [, zone] = interfaceName.exec(text) ?? []
  if (zone !== undefined) reader.flow.see(role === 'source' ? 'sourceZone' : 'destinationZone', name, zone, false)
  reader.findings.add(host.type, host.value, field, role, 'field', rule)
  reader.findings.addPort(role, host.port ?? 0)
  if (translated) reader.findings.add('ip', translated.value, field, 'translated', 'field', rule)
}
