// Marks values that an outside client wrote as `claimed`, and finds the client in X-Forwarded-For.
import { parseAddress, readAddress } from '../../domain/address.js'
import type { Activity } from '../../domain/activity.js'
import { parseHostname } from '../../domain/hostname.js'
import { isInside } from '../../domain/special-ranges.js'
import type { RangeSet } from '../../domain/range-set.js'
import type { Finding, Findings } from './findings.js'
import { authorityAt, plainText } from './url.js'

/** Text with the field it came from. */
export type Written = { readonly text: string; readonly field: string }

const maxWritten = 64
const maxHops = 64
const maxUrls = 16
const rule = 'client:wrote'

/** Keeps text up to a limit far above any real event. */
export const keepWritten = (list: Written[], text: string, field: string): void => {
  if (list.length < maxWritten) list.push({ text: text.slice(0, 4096), field })
}

/**
 * Reads the header from the right, since each proxy appends the address that called it. Private addresses and trusted proxies
 * are skipped. The next address is the client; the client may have written everything to the left of it.
 */
export const settleForwarded = (
  findings: Findings,
  headers: readonly Written[],
  trusted: RangeSet | undefined,
): void => {
  if (headers.length === 0) return
  const isPassed = (value: string): boolean => {
    const address = readAddress(value)
    return address === undefined || isInside(address) || trusted?.has(address) === true
  }
  const peer = findings.list().find(({ type, role }) => type === 'ip' && role === 'source')
  const hops = headers.flatMap(hopsOf).slice(-maxHops)
  if (hops.length === 0) return
  const isProxied = peer === undefined || isPassed(peer.value)
  const client = isProxied ? hops.findLastIndex(({ value }) => !isPassed(value)) : -1
  // If every hop is ours, no outsider wrote any of them, and the first is the client.
  if (isProxied && client < 0) {
    hops.forEach(({ value, field }, at) => {
      findings.add('ip', value, field, at === 0 ? 'source' : 'observer', 'field', 'field:forwarded')
    })
    if (peer && peer.value !== hops[0]?.value) changeRole(findings, peer, 'observer', 'field:forwarded')
    return
  }
  hops.forEach(({ value, field }, at) => {
    if (value === peer?.value && at !== client) return
    const role = at === client ? 'source' : at < client || !isProxied ? 'claimed' : 'observer'
    findings.add('ip', value, field, role, 'field', role === 'claimed' ? rule : 'field:forwarded')
  })
  if (peer && isProxied) changeRole(findings, peer, 'observer', 'field:forwarded')
}

type Hop = { readonly value: string; readonly field: string }

const hopsOf = ({ text, field }: Written): readonly Hop[] =>
  text.split(/[\s,;"']+/, maxHops * 2).flatMap((part) => {
    const bare = part.replace(/^for=/i, '')
    const value = parseAddress(bare) ?? parseAddress(authorityAt(bare, 0).host)
    return value === undefined ? [] : [{ value, field }]
  })

const changeRole = (findings: Findings, one: Finding, role: Finding['role'], by: string): void => {
  const at = findings.list().indexOf(one)
  if (at >= 0) findings.outrank(at, role, by)
}

/** The server name in TLS, which the client chooses too. */
export const isServerName = (field: string): boolean => /sni|server_?name/i.test(field)

type Client = {
  readonly activity: Activity
  /** A login failed without the right password. */
  readonly isFailedLogin: boolean
  /** The server is one of ours. */
  readonly isInbound: boolean
}

/** For an event that an outside client began. `written`: its user agent and the path it requested. */
export const settleClaims = (
  findings: Findings,
  written: readonly Written[],
  { activity, isFailedLogin, isInbound }: Client,
): void => {
  const isClaim = ({ role, field }: Finding): boolean =>
    isFailedLogin
      ? role === 'mail'
      : isInbound && activity !== 'mail' && (role === 'url' || (role === 'query' && isServerName(field)))
  for (const one of [...findings.list()]) if (isClaim(one)) changeRole(findings, one, 'claimed', rule)
  if (isInbound) for (const one of written) addUrls(findings, one)
}

/** Finds hosts after `://`, also escaped or in a Log4j lookup: `${jndi:ldap://host/a}`. */
const addUrls = (findings: Findings, { text, field }: Written): void => {
  const plain = plainText(text.replace(/%3a/gi, ':').replace(/%2f/gi, '/'))
  let at = plain.indexOf('://')
  for (let count = 0; at >= 0 && count < maxUrls; count++) {
    const { host, end } = authorityAt(plain, at + 3)
    const address = parseAddress(host)
    const name = address === undefined && host.includes('.') ? parseHostname(host) : undefined
    if (address !== undefined) findings.add('ip', address, field, 'claimed', 'field', rule)
    else if (name !== undefined) findings.add('domain', name, field, 'claimed', 'field', rule)
    at = plain.indexOf('://', Math.max(end, at + 3))
  }
}
