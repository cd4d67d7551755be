// The names that formats may give to the pieces of a line: the Elastic Common Schema's, each with how its value is read.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import type { Role } from '../../domain/sighting.js'
import { table } from './characters.js'
import { readLater, type Reader } from './reader.js'
import { readHost, readMail, readUrl } from './value.js'

type Kind = 'endpoint' | 'address' | 'host' | 'port' | 'url' | 'mail' | 'action' | 'result' | 'text' | 'nothing'
type Meaning = { readonly kind: Kind; readonly role: Role }
const meaning = (kind: Kind, role: Role = 'other'): Meaning => ({ kind, role })

const names = table<Meaning>(
  [meaning('endpoint', 'source'), 'source'],
  [meaning('endpoint', 'destination'), 'destination'],
  [meaning('address', 'source'), 'source.ip'],
  [meaning('host', 'source'), 'source.domain source.address'],
  [meaning('port', 'source'), 'source.port'],
  [meaning('address', 'destination'), 'destination.ip'],
  [meaning('host', 'destination'), 'destination.domain destination.address'],
  [meaning('port', 'destination'), 'destination.port'],
  [meaning('address', 'translated'), 'source.nat.ip destination.nat.ip'],
  [meaning('host', 'observer'), 'observer.ip observer.hostname'],
  [meaning('host', 'query'), 'dns.question.name'],
  [meaning('host', 'answer'), 'dns.resolved_ip dns.answers.data'],
  [meaning('url', 'url'), 'url.full http.request.referrer'],
  [meaning('host', 'url'), 'url.domain'],
  [meaning('mail', 'mail'), 'user.name user.email email.from.address email.to.address'],
  [meaning('host', 'other'), 'related.ip related.hosts'],
  [meaning('action'), 'event.action'],
  [meaning('result'), 'event.outcome event.reason'],
  [meaning('text'), 'message'],
  [meaning('nothing'), 'source.nat.port destination.nat.port network.transport network.direction rule.name'],
)

export const isEcsName = (name: string): boolean => names.has(name)
export const roleOfName = (name: string): Role | undefined => names.get(name)?.role
export const ecsNames = (): readonly string[] => [...names.keys()]

export type Endpoint = { readonly host: string; readonly port: number; readonly nat: string | undefined }

const hostOf = (text: string): string | undefined =>
  parseAddress(text) ?? (/\.[a-z][a-z\d-]*$/i.test(text) ? parseHostname(text) : undefined)

/** `192.0.2.1:443`, `inside:192.0.2.1/443(user) (198.51.100.1/443)`, `inside/192.0.2.1(443)`, `[2001:db8::1]#53`; nothing where it is none. */
export const endpointOf = (text: string): Endpoint | undefined => {
  if (text.length > 600) return undefined
  // A piece is looked at once to see whether it fits and once more to be read.
  if (!met.has(text)) {
    if (met.size >= maxMet) met.clear()
    met.set(text, readEndpoint(text))
  }
  return met.get(text)
}
const met = new Map<string, Endpoint | undefined>()
const maxMet = 64
/** `192.0.2.1:443`, `inside:192.0.2.1/443`: nearly all are written like this. */
const usual = /^(?:[A-Za-z][\w.-]{0,40}[:/])?(\d{1,3}(?:\.\d{1,3}){3})(?:[:/#](\d{1,5}))?$/

const readEndpoint = (text: string): Endpoint | undefined => {
  const plain = usual.exec(text)
  if (plain) return { host: plain[1] ?? '', port: Number(plain[2] ?? 0), nat: undefined }
  const aside = text.includes(' (') ? /^(\S+) \(([^\s()]+)(?:\([^()]*\))?\)/.exec(text) : null
  const nat = aside?.[2] === undefined ? undefined : readEndpoint(aside[2])?.host
  const bare = (aside?.[1] ?? text).replace(/^[<["']|(?<!:):$|[>"',;]$/g, '')
  const open = bare.indexOf('(')
  let port = open < 0 ? 0 : Number(/^\d{1,5}/.exec(bare.slice(open + 1))?.[0] ?? 0)
  let host = open < 0 ? bare : bare.slice(0, open)
  const end = parseAddress(host) === undefined ? /^(.+?)\]?[/#:](\d{1,6})$/.exec(host) : null
  if (end) {
    host = end[1] ?? ''
    port ||= Number(end[2])
  }
  host = host.replace(/\]$/, '')
  // An interface stands before the address.
  for (let tries = 0; tries < 4; tries++) {
    const found = hostOf(host)
    if (found !== undefined) return { host: found, port, nat }
    const sign = /[:/@[]/.exec(host)
    // A host that only its own network knows: `inside:mail/25`.
    if (!sign) return end && /^[\w-]{1,63}$/.test(host) ? { host: '', port, nat } : undefined
    host = host.slice(sign.index + 1)
  }
  return undefined
}

/** Tells whether a text can be what it is called; behind a name, `?` says that a dash may stand for nothing. */
export const fitOf = (name: string): ((text: string) => boolean) => {
  const test = fits[names.get(name.replace(/\?$/, ''))?.kind ?? 'nothing'] ?? (() => true)
  return name.endsWith('?') ? (text) => text === '-' || text === '' || test(text) : test
}

const fits: Readonly<Partial<Record<Kind, (text: string) => boolean>>> = {
  endpoint: (text) => /[.:/]/.test(text) && endpointOf(text) !== undefined,
  address: (text) => /[.:].*[.:]/.test(text) && parseAddress(endpointOf(text)?.host ?? '') !== undefined,
  url: (text) => text === '-' || /[./:]/.test(text),
  port: (text) => /^\d{1,5}$/.test(text),
}

/** `(3)www(7)example(3)com(0)`, as Microsoft's DNS server writes a name. */
const labelled = (text: string): string => text.replace(/^\(\d+\)|\(0\)$/g, '').replace(/\(\d+\)/g, '.')

/** A piece of a line under the name that a format gave it. */
export const readPiece = (reader: Reader, name: string, text: string, field: string, rule: string): void => {
  const known = names.get(name)
  if (known === undefined || text === '' || text === '-') return
  const { findings, action } = reader
  const { kind, role } = known
  if (kind !== 'endpoint') reader.note?.(name, text)
  const endpoint = kind === 'endpoint' || kind === 'address' ? endpointOf(text) : undefined
  if (endpoint) {
    readHost(findings, endpoint.host, field, role, rule)
    findings.addPort(role, endpoint.port)
    if (endpoint.nat !== undefined) readHost(findings, endpoint.nat, field, 'translated', rule)
  } else if (kind === 'host')
    readHost(findings, text.startsWith('(') ? labelled(text) : text.replace(/\.$/, ''), field, role, rule)
  else if (kind === 'port') findings.addPort(role, Number(text) || 0)
  else if (kind === 'url') readUrl(findings, text, field, rule)
  else if (kind === 'mail') readMail(findings, text, field, rule)
  else if (kind === 'action') action.see('action', name, text, rule)
  else if (kind === 'result') action.seeText(text)
  else if (kind === 'text') {
    action.seeText(text)
    readLater(reader, text, field, true)
  }
}
