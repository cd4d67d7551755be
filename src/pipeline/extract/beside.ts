// Settles the roles that depend on neighbouring fields, once all fields of an event are read.
import type { Role } from '../../domain/sighting.js'
import { wayOfVerb } from './action-words.js'
import type { Finding, Findings } from './findings.js'

type Beside = {
  readonly all: readonly Finding[]
  readonly isRequest: boolean
  /** The local end began the connection. */
  readonly isLocalFirst: boolean
  readonly event: { readonly text: string }
}
/** A field with this name and role gets another role when the rest of the event calls for it. */
type BesideRule = {
  readonly id: string
  readonly field: RegExp
  readonly role: Role
  readonly becomes: Role
  readonly when: (beside: Beside, one: Finding) => boolean
}

const alike = new Set<Role>(['source', 'query', 'answer', 'translated', 'other'])
const isOnly = ({ all }: Beside, one: Finding): boolean =>
  !all.some((other) => other !== one && other.type === 'ip' && alike.has(other.role))
const isLocalFirst = (beside: Beside): boolean => beside.isLocalFirst
const clientIp = /(?:^|[._-])(?:c[_-]?ip|(?:client|source)_?ip)$/i
const hasClient = ({ all }: Beside, one: Finding): boolean =>
  all.some((other) => other !== one && other.role === 'source' && clientIp.test(other.field)) &&
  !all.some(({ type, role }) => type === 'ip' && role === 'destination')
const isEndpoint = ({ isRequest }: Beside, { type }: Finding): boolean => type === 'ip' && !isRequest
const has = ({ all }: Beside, role: Role): boolean => all.some((other) => other.type === 'ip' && other.role === role)
const hasNoEnds = (beside: Beside): boolean => !has(beside, 'source') && !has(beside, 'destination')
const hasPort = ({ event: { text } }: Beside): boolean => /(?<![a-z_-])port["']?\s{0,2}[=:]/i.test(text)
const isCalled = ({ event: { text } }: Beside): boolean => wayOfVerb(text.slice(0, 600)) === 'out'
const isObject = ({ event: { text } }: Beside): boolean => text.startsWith('{')
/** Names that tell which end an address belongs to. */
const endOfCall = /src|source|client|remote|caller|peer|attack/i
const hasNamedSource = ({ all }: Beside, one: Finding): boolean =>
  all.some((other) => other !== one && other.type === 'ip' && other.role === 'source' && endOfCall.test(other.field))

const isUnset = ({ all }: Beside, { value, role }: Finding): boolean =>
  (value === '0.0.0.0' || value === '::') &&
  all.some((other) => other.type === 'ip' && other.role === role && other.value !== value)

/** Members that only this collector writes. A string in the event cannot match, because its quotes are escaped. */
const isOfVector = ({ event: { text } }: Beside): boolean =>
  /"source_type"\s?:\s?"syslog"/.test(text) && /"message"\s?:/.test(text)
const isOfSyslogNg = ({ event: { text } }: Beside): boolean =>
  /"HOST_FROM"\s?:/.test(text) && /"MESSAGE"\s?:/.test(text)

/** Linux audit writes `hostname=192.0.2.1 addr=192.0.2.1` when it has no host name. */
const isAddr = ({ event }: Beside, { type, value }: Finding): boolean =>
  type === 'ip' && event.text.includes(` addr=${value} `)

/** A name that only means "address". */
const bare =
  /^(?!.*(?:threat|indicator|ioc|intel|related))(?:.*\.)?(?:(?:internal|private|public|external)_?ip|ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i

const hostField = /(?:^|[._-])host$/i

const rules: readonly BesideRule[] = [
  // The only address of an event, under a bare name, is the actor's: `addr=192.0.2.1 res=failed`.
  { id: 'only', field: bare, role: 'other', becomes: 'source', when: isOnly },
  // `ACCEPT host=192.0.2.1 port=40001`: an endpoint, not a requested host.
  {
    id: 'host',
    field: hostField,
    role: 'url',
    becomes: 'source',
    when: (beside, one) =>
      isEndpoint(beside, one) &&
      !has(beside, 'source') &&
      (has(beside, 'destination') || (isOnly(beside, one) && hasPort(beside) && !isCalled(beside))),
  },
  {
    id: 'host',
    field: hostField,
    role: 'url',
    becomes: 'destination',
    when: (beside, one) =>
      isEndpoint(beside, one) &&
      !has(beside, 'destination') &&
      hasPort(beside) &&
      (isOnly(beside, one) ? isCalled(beside) : has(beside, 'source') && !isObject(beside)),
  },
  // Of a machine's two addresses, the public one is the one others see.
  {
    id: 'public',
    field: /(?:^|[._])public_?ip(?:_?addr(?:ess)?)?$/i,
    role: 'other',
    becomes: 'source',
    when: hasNoEnds,
  },
  // `0.0.0.0` means no address if the same end has another one.
  ...(['source', 'destination'] as const).map((role): BesideRule => ({
    id: 'unset',
    field: /./,
    role,
    becomes: 'other',
    when: isUnset,
  })),
  // Next to `sourceIp`, a plain `ipAddress` belongs to another party.
  {
    id: 'second',
    field: /ip_?address$/i,
    role: 'source',
    becomes: 'other',
    when: (beside, one) => !endOfCall.test(one.field) && hasNamedSource(beside, one),
  },
  { id: 'addr', field: /^hostname$/, role: 'url', becomes: 'source', when: isAddr },
  // `remote` is the client unless ports or the direction show that the local end began.
  {
    id: 'outbound',
    field: /remote|(?:^|\.)[fr](?:addr|ip)$/i,

    role: 'source',
    becomes: 'destination',
    when: isLocalFirst,
  },
  {
    id: 'outbound',
    field: /local|(?:^|\.)l(?:addr|ip)$/i,

    role: 'destination',
    becomes: 'source',
    when: isLocalFirst,
  },
  // Next to `client_ip`, `origin_ip` and `host_ip` are the destination, and `sip` is the server's address.
  { id: 'client', field: /(?:origin|host)_?ip$/i, role: 'observer', becomes: 'destination', when: hasClient },
  { id: 'client', field: /(?:^|[._-])s[_-]?ip$/i, role: 'source', becomes: 'destination', when: hasClient },
  // The sender of a line to a collector; some collectors call it the source.
  { id: 'sender', field: /^source_ip$/, role: 'source', becomes: 'observer', when: isOfVector },
  { id: 'sender', field: /^SOURCEIP$/, role: 'source', becomes: 'observer', when: isOfSyslogNg },
]

const rulesOf = (given: readonly BesideRule[]): Readonly<Partial<Record<Role, readonly BesideRule[]>>> =>
  Object.fromEntries(given.map(({ role }) => [role, given.filter((rule) => rule.role === role)]))
const allRules = rulesOf(rules)
/** For events that the local end did not begin, which are most. */
const inboundRules = rulesOf(rules.filter(({ id }) => id !== 'outbound'))

export const settleBeside = (findings: Findings, facts: Omit<Beside, 'all'>): void => {
  const byRole = facts.isLocalFirst ? allRules : inboundRules
  const beside = { all: [...findings.list()], ...facts }
  let isOutbound = false
  for (const [at, one] of beside.all.entries()) {
    const rule =
      one.evidence === 'field'
        ? byRole[one.role]?.find(({ field, when }) => field.test(one.field) && when(beside, one))
        : undefined
    if (!rule) continue
    findings.outrank(at, rule.becomes, `beside:${rule.id}`)
    isOutbound ||= rule.id === 'outbound'
  }
  // Ports carry the same local and remote names, so they swap ends too.
  if (isOutbound) findings.exchangePorts()
}
