// The pieces that formats name, in the words of the Elastic Common Schema: what fits a name, and endpoints as products write them.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import { words } from './characters.js'
import { readField, type Reader } from './reader.js'
import { readHost } from './value.js'

/** Each is read as a field of that name would be; the first four may be a whole endpoint. */
export const ecsNames: readonly string[] = words(
  `source destination source.ip destination.ip source.domain source.address source.port destination.domain destination.address destination.port
   source.nat.ip destination.nat.ip source.nat.port destination.nat.port observer.ip observer.hostname dns.question.name dns.resolved_ip dns.answers.data
   url.full url.domain http.request.referrer user.name user.email email.from.address email.to.address related.ip related.hosts event.action event.outcome
   event.reason message network.transport network.direction rule.name`,
)
const endpointNames = new Set(ecsNames.slice(0, 4))

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
  const bare = name.replace(/\?$/, '')
  const fits = endpointNames.has(bare)
    ? (text: string) => /[.:/]/.test(text) && isEndpoint(endpointOf(text), bare.endsWith('.ip'))
    : bare.endsWith('.port')
      ? (text: string) => /^\d{1,5}$/.test(text)
      : bare.startsWith('url.')
        ? (text: string) => text === '-' || /[./:]/.test(text)
        : () => true
  return bare === name ? fits : (text) => text === '-' || text === '' || fits(text)
}
const isEndpoint = (endpoint: Endpoint | undefined, isAddress: boolean): boolean =>
  endpoint !== undefined && (!isAddress || parseAddress(endpoint.host) !== undefined)

/** A piece of a line under the name that a format gave it. */
export const readPiece = (reader: Reader, name: string, text: string, field: string, rule: string): void => {
  if (text === '' || text === '-') return
  const known = { ...reader.fieldOf(name), rule }
  if (name.includes('.')) reader.note?.(name, text)
  const endpoint = endpointNames.has(name) ? endpointOf(text) : undefined
  if (endpoint === undefined) {
    readField(reader, field, text.replace(/\.$/, ''), 0, known)
    return
  }
  readHost(reader.findings, endpoint.host, { field, role: known.role, rule })
  reader.findings.addPort(known.role, endpoint.port)
  if (endpoint.nat !== undefined) readHost(reader.findings, endpoint.nat, { field, role: 'translated', rule })
}
