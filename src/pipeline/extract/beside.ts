// Settles, when all fields of an event are read, what the few mean whose meaning depends on what is next to them.
import type { Role } from '../../domain/sighting.js'
import { wayOfVerb } from './action-words.js'
import type { Finding, Findings } from './findings.js'

type Beside = {
  readonly all: readonly Finding[]
  readonly isRequest: boolean
  /** The local endpoint began the connection. */
  readonly isLocalFirst: boolean
  readonly event: { readonly text: string }
}
/** A field of this name and role is in another role where the rest of the event says so. */
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
/** Whose it is has a name that says so. */
const endOfCall = /src|source|client|remote|caller|peer|attack/i
const hasNamedSource = ({ all }: Beside, one: Finding): boolean =>
  all.some((other) => other !== one && other.type === 'ip' && other.role === 'source' && endOfCall.test(other.field))

const isUnset = ({ all }: Beside, { value, role }: Finding): boolean =>
  (value === '0.0.0.0' || value === '::') &&
  all.some((other) => other.type === 'ip' && other.role === role && other.value !== value)

/** What only such a collector writes; a string in the event cannot hold it, for its quotation marks are escaped. */
const isOfVector = ({ event: { text } }: Beside): boolean =>
  /"source_type"\s?:\s?"syslog"/.test(text) && /"message"\s?:/.test(text)
const isOfSyslogNg = ({ event: { text } }: Beside): boolean =>
  /"HOST_FROM"\s?:/.test(text) && /"MESSAGE"\s?:/.test(text)

/** `hostname=192.0.2.1 addr=192.0.2.1`, as Linux audit writes it where nobody knows a name. */
const isAddr = ({ event }: Beside, { type, value }: Finding): boolean =>
  type === 'ip' && event.text.includes(` addr=${value} `)

/** A name that says no more than that it is an address. */
const bare =
  /^(?!.*(?:threat|indicator|ioc|intel|related))(?:.*\.)?(?:(?:internal|private|public|external)_?ip|ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i

const hostField = /(?:^|[._-])host$/i

const rules: readonly BesideRule[] = [
  // The only address of an event, under a bare name, is who did it: `addr=192.0.2.1 res=failed`.
  { id: 'only', field: bare, role: 'other', becomes: 'source', when: isOnly },
  // `ACCEPT host=192.0.2.1 port=40001`: an endpoint, and no host that was asked for.
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
  // Of a machine's two addresses, the one it is seen by.
  {
    id: 'public',
    field: /(?:^|[._])public_?ip(?:_?addr(?:ess)?)?$/i,
    role: 'other',
    becomes: 'source',
    when: hasNoEnds,
  },
  // `0.0.0.0` stands for no address where there is another one.
  ...(['source', 'destination'] as const).map((role): BesideRule => ({
    id: 'unset',
    field: /./,
    role,
    becomes: 'other',
    when: isUnset,
  })),
  // Beside `sourceIp`, `ipAddress` is somebody else's.
  {
    id: 'second',
    field: /ip_?address$/i,
    role: 'source',
    becomes: 'other',
    when: (beside, one) => !endOfCall.test(one.field) && hasNamedSource(beside, one),
  },
  { id: 'addr', field: /^hostname$/, role: 'url', becomes: 'source', when: isAddr },
  // `remote` is who came, unless ports or direction say that the local side began.
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
  // Beside `client_ip`, `origin_ip` and `host_ip` are where the client came to, and `sip` is the server's.
  { id: 'client', field: /(?:origin|host)_?ip$/i, role: 'observer', becomes: 'destination', when: hasClient },
  { id: 'client', field: /(?:^|[._-])s[_-]?ip$/i, role: 'source', becomes: 'destination', when: hasClient },
  // Whoever sent a line to a collector, which some call its source.
  { id: 'sender', field: /^source_ip$/, role: 'source', becomes: 'observer', when: isOfVector },
  { id: 'sender', field: /^SOURCEIP$/, role: 'source', becomes: 'observer', when: isOfSyslogNg },
]

const rulesOf = (given: readonly BesideRule[]): Readonly<Partial<Record<Role, readonly BesideRule[]>>> =>
  Object.fromEntries(given.map(({ role }) => [role, given.filter((rule) => rule.role === role)]))
const allRules = rulesOf(rules)
/** Of an event that the local side did not begin: most are. */
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
  // Their ports are named as they are.
  if (isOutbound) findings.exchangePorts()
}
