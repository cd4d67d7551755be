// Tells from where addresses stand in a row of columns that nobody names which are the ends, and what they were translated to.
import type { Role } from '../../../domain/sighting.js'
import { isSecondFirst, isServicePort } from '../ports.js'

/** The cells of a row, which of them hold addresses, and the ports that stand behind an address in its own cell. */
export type Row = {
  readonly cells: readonly string[]
  readonly addresses: readonly number[]
  readonly ports: ReadonlyMap<number, number>
}

const hostName = /^[A-Za-z][\w.-]{1,252}$/
/** What may stand between two ends: ports, `80/tcp`, a protocol, a hardware address, nothing however it is written. */
const portOrMac =
  /^(?:\d{0,5}|n\/a|-|\*|\(?null\)?|none|any|unknown|\d{1,5}\/[a-z]{2,5}\d?|tcp|udp|icmp|(?:[\da-f]{2}[:-]){5}[\da-f]{2})$/i
const portCell = /^\d{1,5}(?:\/[a-z]{2,5}\d?)?$/i

const isPort = (row: Row, at: number): boolean => portCell.test(row.cells[at]?.trim() ?? '')

/** `client, its name, server, its name` stand side by side too. */
const isBeside = ({ cells, addresses }: Row, from: number, to: number): boolean =>
  (to - from <= 3 && cells.slice(from + 1, to).every((cell) => portOrMac.test(cell.trim()))) ||
  (to - from === 2 && from === addresses[0] && hostName.test(cells[from + 1] ?? ''))

/** `192.0.2.1,40001,198.51.100.1,443`: each with its port. */
const isFlow = (row: Row, from: number, to: number): boolean =>
  to - from >= 2 && isPort(row, from + 1) && isPort(row, to + 1) && isBeside(row, from, to)

/**
 * Each end and what it was translated to: `192.0.2.1,1725,203.0.113.1,2383,untrust,198.51.100.1,80,203.0.113.7,80`,
 * or `192.0.2.1,203.0.113.1,1725,2383,198.51.100.1,203.0.113.7,80,80`.
 */
const isTranslated = (row: Row, start: number): boolean => {
  const [first = -1, second = -1, third = -1, fourth = -1] = row.addresses.slice(start, start + 4)
  if (fourth < 0 || !isBeside(row, first, second) || !isBeside(row, third, fourth)) return false
  if (second === first + 2 && fourth === third + 2) return third > second + 2
  return (
    second === first + 1 &&
    third === second + 3 &&
    fourth === third + 1 &&
    [second + 1, second + 2, fourth + 1, fourth + 2].every((at) => isPort(row, at))
  )
}
const translated: readonly Role[] = ['source', 'translated', 'destination', 'translated']

const portAt = ({ cells }: Row, at: number): number => Number.parseInt(cells[at] ?? '', 10) || 0

/** Some cell is a URL or the name of a host. */
const isRequest = (cells: readonly string[]): boolean =>
  cells.some((cell) => cell.includes('://') || /^(?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,24}$/i.test(cell.trim()))

/** One role for each of the row's addresses. */
export const rolesInRow = (row: Row): readonly Role[] => {
  const { cells, addresses, ports } = row
  const roles: Role[] = addresses.map(() => 'other')
  const put = (at: number, given: readonly Role[]): readonly Role[] => {
    given.forEach((role, index) => {
      if (at + index < roles.length) roles[at + index] = role
    })
    return roles
  }
  if (addresses.length === 1)
    return put(0, [isServicePort(ports.get(addresses[0] ?? -1) ?? 0) ? 'destination' : 'source'])
  const next = (index: number): number => addresses[index + 1] ?? Number.POSITIVE_INFINITY
  for (let start = 0; start + 3 < addresses.length; start++) if (isTranslated(row, start)) return put(start, translated)
  // Before the two ends may stand whoever tells of them.
  const flow = addresses.findIndex((at, index) => isFlow(row, at, next(index)))
  const start = flow < 0 ? addresses.findIndex((at, index) => isBeside(row, at, next(index))) : flow
  if (start < 0) return roles
  const [first = -1, second = -1, third = -1] = addresses.slice(start)
  // The client inside and as it is seen from outside, then where it went; a resolver's log has no third.
  if (second === first + 1 && third === second + 1) return put(start, ['source', 'translated', 'destination'])
  if (second === first + 1 && /^\d+ \([A-Z]+\d*\)$/.test(cells[second + 2] ?? ''))
    return put(start, ['source', 'translated'])
  // Of a request the server may be told first; of a packet the one that sent it always is.
  if (flow >= 0 && isRequest(cells) && isSecondFirst(portAt(row, first + 1), portAt(row, second + 1)))
    return put(start, ['destination', 'source'])
  return put(
    start,
    isSecondFirst(ports.get(first) ?? 0, ports.get(second) ?? 0)
      ? ['destination', 'source']
      : ['source', 'destination'],
  )
}
