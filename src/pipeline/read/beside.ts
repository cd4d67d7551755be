// Settles, when all of an event is read, what the few fields mean whose meaning depends on what stands beside them.
import type { Role } from '../../domain/sighting.js'
import type { Finding, Findings } from './findings.js'

/** A name that says no more than that it is an address. */
const bare =
  /^(?!.*(?:threat|indicator|ioc|intel|related))(?:.*\.)?(?:ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i
const clientIp = /(?:^|[._-])(?:c[_-]?ip|(?:client|source)_?ip)$/i
const alike = new Set<Role>(['source', 'query', 'answer', 'translated', 'other'])

/** The role that a field has beside the others, and the rule that says so. */
const besideOthers = (
  { role, field }: Finding,
  others: readonly Finding[],
  isLocalFirst: boolean,
): readonly [Role, string] | undefined => {
  // The only address of an event, under a bare name, is who did it: `addr=192.0.2.1 res=failed`.
  if (role === 'other' && bare.test(field))
    return others.some((one) => one.type === 'ip' && alike.has(one.role)) ? undefined : ['source', 'beside:only']
  // `remote` is who came, unless ports or direction say that the local side began.
  if (isLocalFirst && role === 'source' && /remote|^[fr](?:addr|ip)$/i.test(field))
    return ['destination', 'beside:outbound']
  if (isLocalFirst && role === 'destination' && /local|^l(?:addr|ip)$/i.test(field))
    return ['source', 'beside:outbound']
  // Beside `client_ip`, `origin_ip` and `host_ip` are where the client came to, and `sip` is the server's.
  const mayBeServer =
    role === 'observer' ? /(?:origin|host)_?ip$/i : role === 'source' ? /(?:^|[._-])s[_-]?ip$/i : undefined
  return mayBeServer?.test(field) === true &&
    others.some((one) => one.role === 'source' && clientIp.test(one.field)) &&
    !others.some((one) => one.role === 'destination' && one.type === 'ip')
    ? ['destination', 'beside:client']
    : undefined
}

export const settleBeside = (findings: Findings, isLocalFirst: boolean): void => {
  const list = [...findings.list()]
  for (const [at, one] of list.entries()) {
    if (one.evidence !== 'field') continue
    const [role, rule] =
      besideOthers(
        one,
        list.filter((other) => other !== one),
        isLocalFirst,
      ) ?? []
    if (role && rule !== undefined) findings.outrank(at, role, rule)
  }
}
