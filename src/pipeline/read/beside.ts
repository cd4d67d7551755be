// Settles, when all of an event is read, what the few fields mean whose meaning depends on what stands beside them.
import type { Role } from '../../domain/sighting.js'
import type { Finding, Findings } from './findings.js'

type BesideRow = {
  readonly id: string
  /** The field in question, the role it has by itself and the one it has here. */
  readonly field: RegExp
  readonly role: Role
  readonly becomes: Role
  /** Some other finding with this role and field must be there. */
  readonly beside?: { readonly role: Role; readonly field: RegExp }
  /** No address may be there in these roles. */
  readonly without: readonly Role[]
  /** It must be the only address that is no destination, observer or the like. */
  readonly isOnly?: boolean
  /** Only where ports or the direction say that the local side began. */
  readonly isLocalFirst?: boolean
}

const anything = /(?:)/
const rows: readonly BesideRow[] = [
  // `private_ip` beside `public_ip`: the same endpoint, as it is inside and as it is seen from outside.
  {
    id: 'beside:inside',
    field: /(?:private|internal|inside)_?(?:client_?)?ip(?:_?addr(?:ess)?)?$/i,
    role: 'other',
    becomes: 'source',
    beside: { role: 'other', field: /(?:public|external|outside)_?(?:client_?)?ip(?:_?addr(?:ess)?)?$/i },
    without: ['source', 'destination'],
  },
  {
    id: 'beside:outside',
    field: /(?:public|external|outside)_?(?:client_?)?ip(?:_?addr(?:ess)?)?$/i,
    role: 'other',
    becomes: 'translated',
    beside: { role: 'source', field: /(?:private|internal|inside)_?(?:client_?)?ip(?:_?addr(?:ess)?)?$/i },
    without: ['destination'],
  },
  // The only address of an event, under a name that says no more than that it is one, is who did it: `addr=192.0.2.1 res=failed`.
  {
    id: 'beside:only',
    field:
      /^(?!.*(?:threat|indicator|ioc|intel|related))(?:.*\.)?(?:ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i,
    role: 'other',
    becomes: 'source',
    without: ['source', 'query', 'answer'],
    isOnly: true,
  },
  // Where something was asked for, a field that says no more than `ipaddr` holds what it resolved to.
  {
    id: 'beside:query',
    field: /(?:^|\.)ip_?addr$/i,
    role: 'other',
    becomes: 'answer',
    beside: { role: 'query', field: anything },
    without: [],
  },
  // Beside `query_address`, `response_address` is who answered, and not what.
  {
    id: 'beside:resolver',
    field: /response[-_]?(?:ip|addr(?:ess)?)$/i,
    role: 'answer',
    becomes: 'destination',
    beside: { role: 'source', field: /query[-_]?(?:ip|addr(?:ess)?)$/i },
    without: ['destination'],
  },
  // `remote` is who came, unless ports or direction say that the local side began.
  {
    id: 'beside:outbound',
    field: /remote|^[fr](?:addr|ip)$/i,
    role: 'source',
    becomes: 'destination',
    without: [],
    isLocalFirst: true,
  },
  {
    id: 'beside:outbound',
    field: /local|^l(?:addr|ip)$/i,
    role: 'destination',
    becomes: 'source',
    without: [],
    isLocalFirst: true,
  },
  // Where someone came to a proxy, the origin is the server behind it; beside `client_ip`, `host_ip` is where the client came to.
  {
    id: 'beside:origin',
    field: /origin_?ip$/i,
    role: 'observer',
    becomes: 'destination',
    beside: { role: 'source', field: anything },
    without: ['destination'],
  },
  {
    id: 'beside:host',
    field: /host_?ip$/i,
    role: 'observer',
    becomes: 'destination',
    beside: { role: 'source', field: /client_?ip$/i },
    without: ['destination'],
  },
  // `sip` is the source's alone, and the server's beside `cip`.
  {
    id: 'beside:server',
    field: /(?:^|[._-])s[_-]?ip$/i,
    role: 'source',
    becomes: 'destination',
    beside: { role: 'source', field: /(?:^|[._-])c[_-]?ip$/i },
    without: ['destination'],
  },
]

/** Bit by role, so that nearly every event passes the rows by at a glance. */
const bits: Readonly<Record<Role, number>> = {
  source: 1,
  destination: 2,
  query: 4,
  url: 8,
  mail: 16,
  answer: 32,
  observer: 64,
  translated: 128,
  other: 256,
}
const masks = rows.map(({ role, beside, without }) => ({
  needs: bits[role] | (beside ? bits[beside.role] : 0),
  without: without.reduce((mask, one) => mask | bits[one], 0),
}))
/** Which rows may matter to an event with these roles, row by row a bit: nearly every event is passed by at a glance. */
const mayMatter = Uint16Array.from({ length: 512 }, (_, roles) =>
  masks.reduce(
    (found, { needs, without }, row) =>
      (roles & needs) === needs && (roles & without) === 0 ? found | (1 << row) : found,
    0,
  ),
)
const told = bits.destination | bits.observer | bits.url | bits.mail

const ofLocalFirst = rows.reduce((found, row, at) => (row.isLocalFirst === true ? found | (1 << at) : found), 0)

export const settleBeside = (findings: Findings, isLocalFirst: boolean): void => {
  const allowed = isLocalFirst ? ~0 : ~ofLocalFirst
  let may = (mayMatter[rolesOf(findings.list())] ?? 0) & allowed
  for (let index = 0; may >> index !== 0; index++) {
    const row = rows[index]
    if (row === undefined || (may & (1 << index)) === 0) continue
    const list = findings.list()
    let isSettled = false
    for (const [at, finding] of list.entries()) {
      if (!holds(row, finding, list)) continue
      findings.outrank(at, row.becomes, row.id)
      isSettled = true
    }
    // What one row settled may matter to the next.
    if (isSettled) may = (mayMatter[rolesOf(findings.list())] ?? 0) & allowed
  }
}

const holds = ({ role, field, beside, isOnly }: BesideRow, finding: Finding, list: readonly Finding[]): boolean =>
  finding.role === role &&
  finding.evidence === 'field' &&
  field.test(finding.field) &&
  (!beside ||
    list.some((other) => other !== finding && other.role === beside.role && beside.field.test(other.field))) &&
  (isOnly !== true || (finding.type === 'ip' && !list.some((other) => other !== finding && isAnother(other))))

/** Names of endpoints count too, but not for an address alone: `src=host1.example.com ip=192.0.2.1`. */
const rolesOf = (list: readonly Finding[]): number => {
  let roles = 0
  for (const { role, type } of list) if (type === 'ip' || role !== 'source') roles |= bits[role]
  return roles
}

const isAnother = ({ type, role }: Finding): boolean => type === 'ip' && (bits[role] & told) === 0
