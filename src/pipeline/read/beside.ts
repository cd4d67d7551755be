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
  readonly without?: readonly Role[]
  /** Only where ports or the direction say that the local side began. */
  readonly isLocalFirst?: boolean
}

const clientIp = /(?:^|[._-])(?:c[_-]?ip|(?:client|source)_?ip)$/i
const rows: readonly BesideRow[] = [
  // The only address of an event, under a name that says no more than that it is one, is who did it: `addr=192.0.2.1 res=failed`.
  {
    id: 'beside:only',
    field:
      /^(?!.*(?:threat|indicator|ioc|intel|related))(?:.*\.)?(?:ip|addr|address|ip_?addr(?:ess)?|(?:work)?station)$/i,
    role: 'other',
    becomes: 'source',
    without: ['source', 'query', 'answer', 'translated', 'other'],
  },
  // Where something was asked for, a field that says no more than `ipaddr` holds what it resolved to.
  {
    id: 'beside:query',
    field: /(?:^|\.)ip_?addr$/i,
    role: 'other',
    becomes: 'answer',
    beside: { role: 'query', field: /(?:)/ },
  },
  // `remote` is who came, unless ports or direction say that the local side began.
  {
    id: 'beside:outbound',
    field: /remote|^[fr](?:addr|ip)$/i,
    role: 'source',
    becomes: 'destination',
    isLocalFirst: true,
  },
  {
    id: 'beside:outbound',
    field: /local|^l(?:addr|ip)$/i,
    role: 'destination',
    becomes: 'source',
    isLocalFirst: true,
  },
  // Beside `client_ip`, `origin_ip` and `host_ip` are where the client came to; `sip` is the source's alone, and the server's beside `cip`.
  {
    id: 'beside:client',
    field: /(?:origin|host)_?ip$/i,
    role: 'observer',
    becomes: 'destination',
    beside: { role: 'source', field: clientIp },
    without: ['destination'],
  },
  {
    id: 'beside:client',
    field: /(?:^|[._-])s[_-]?ip$/i,
    role: 'source',
    becomes: 'destination',
    beside: { role: 'source', field: clientIp },
    without: ['destination'],
  },
]

export const settleBeside = (findings: Findings, isLocalFirst: boolean): void => {
  for (const row of rows) {
    if (row.isLocalFirst === true && !isLocalFirst) continue
    const list = findings.list()
    for (let at = 0; at < list.length; at++) {
      const finding = list[at]
      if (finding?.role === row.role && holds(row, finding, list)) findings.outrank(at, row.becomes, row.id)
    }
  }
}

const holds = ({ field, beside, without }: BesideRow, finding: Finding, list: readonly Finding[]): boolean =>
  finding.evidence === 'field' &&
  field.test(finding.field) &&
  (beside === undefined ||
    list.some((other) => other !== finding && other.role === beside.role && beside.field.test(other.field))) &&
  without?.some((role) => list.some((other) => other !== finding && other.type === 'ip' && other.role === role)) !==
    true
