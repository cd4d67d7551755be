// Reads rows whose columns nobody names: which cells stand side by side tells the endpoints, a cell that is a verb the action.
import { parseAddress } from '../../domain/address.js'
import type { Role } from '../../domain/sighting.js'
import { table, words } from './characters.js'
import { pairsOf } from './pairs.js'
import { readLater, type Reader } from './reader.js'
import { readHost, readUrl } from './value.js'

const maxCells = 256
const fewestCells = 7
/** So many are no accident, whatever the line begins with. */
const many: Readonly<Record<string, number>> = { '|': 11, ',': 24 }
const separators: readonly string[] = [',', '|', ';', '`', '^', '~', ':']

/** At most `max` cells; `""` inside quotes is a quote. */
export const cellsOf = (text: string, max: number, separator = ','): string[] => {
  const cells: string[] = []
  let at = 0
  while (at <= text.length && cells.length < max) {
    // A blank may stand between the comma and the quote.
    if (text.charCodeAt(at) === 0x20 && text.charCodeAt(at + 1) === 0x22) at++
    let from = at
    let end = -1
    if (text.charCodeAt(at) === 0x22) {
      end = text.indexOf('"', at + 1)
      while (end > 0 && text.charCodeAt(end + 1) === 0x22) end = text.indexOf('"', end + 2)
      if (end < 0) end = text.length
      from = end
      cells.push(text.slice(at + 1, end).replaceAll('""', '"'))
    }
    const next = text.indexOf(separator, from)
    if (end < 0) cells.push(text.slice(at, next < 0 ? text.length : next))
    at = next < 0 ? text.length + 1 : next + separator.length
  }
  return cells
}

/** Only what can be nothing else: a cell may be a name of somebody's own. */
const verdict =
  /^(?:allow(?:ed)?|accept(?:ed)?|permit(?:ted)?|pass(?:ed)?|block(?:ed)?|den(?:y|ied)|drop(?:ped)?|reject(?:ed)?|(?:allow|permitt|block|deni|dropp|reject)ed by [\w .-]{1,40})$/i
/** protocol, in or out, allowed or denied: flow records of cloud networks. */
const flowAction = /,(?:[TU]|\d{1,3}),[IO],([AD])(?:,|$)/
/** A cell of several words tells what happened: `password authentication failed for user "alice"`. */
const sentence = /^[A-Za-z][a-z]{1,30}(?: [a-z]{2,30}){2}/
/** `suser=alice shost=192.0.2.1`: pairs with a blank between them, whatever stands before the first. */
const blankPairs = / [\w.-]{1,40}=[^\s=]{0,200} [\w.-]{1,40}=/
const portBehind = /^\[?(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f:]{2,45}\]):(\d{1,5})$/i
const longestEndpoint = 64

export const readRow = (reader: Reader, whole: string, body: string, field: string): boolean => {
  const row = rowOf(whole, body)
  if (row === undefined) return false
  const { text, separator } = row
  const cells = cellsOf(text, maxCells, separator)
  // Pairs in a cell or two are what that cell says; pairs all over, or cells that name themselves, make it a line of pairs.
  if (cells.length < fewestCells || cells.filter((cell) => /^\s*[A-Za-z_][\w -]{0,59}[:=]/.test(cell)).length > 2)
    return false
  const paired = cells.filter((cell) => cell.includes('=')).length
  if (pairsOf(text).length > 2 && (paired > cells.length / 6 || cells.some((cell) => blankPairs.test(cell))))
    return false
  // Words before the first sign say what happened: `Info fw1 Block: FWD|TCP|…`, `[fw4_allow] 2026-11-15 …`.
  if (separator === '|' || /^[[A-Za-z]/.test(cells[0] ?? '')) reader.action.seeText(cells[0] ?? '')
  const flown = separator === ',' ? flowAction.exec(text)?.[1] : undefined
  if (flown !== undefined) reader.action.see('action', 'cell', flown, 'row:flow')
  const ports = new Map<number, number>()
  const addresses: number[] = []
  cells.forEach((cell, at) => {
    const value = cell.trim()
    if (value.length < 3) return
    const port = value.length < longestEndpoint ? portBehind.exec(value)?.[1] : undefined
    if (port !== undefined) ports.set(at, Number(port))
    if (port !== undefined || parseAddress(value) !== undefined) addresses.push(at)
    else readCell(reader, value, field)
  })
  const roles = rolesInRow({ cells, addresses, ports })
  addresses.forEach((at, index) => {
    const role = roles[index] ?? 'other'
    readHost(reader.findings, cells[at]?.trim() ?? '', field, role, 'row')
    if (isPort(cells, at + 1)) reader.findings.addPort(role, Number.parseInt(cells[at + 1] ?? '', 10))
  })
  return true
}

const readCell = (reader: Reader, value: string, field: string): void => {
  if (/^[a-z]{3,6}:\/\//i.test(value)) readUrl(reader.findings, value, field, 'row:url')
  else if (/^[\w-]{1,63}(?:\.[\w-]{1,63}){1,20}\.$/.test(value))
    readHost(reader.findings, value, field, 'query', 'row:query')
  else if (verdict.test(value)) reader.action.see('result', 'cell', /^\w+/.exec(value)?.[0], 'row:verdict')
  else {
    if (sentence.test(value)) reader.action.seeText(value)
    if (value.includes('.') && !/^Mozilla\/|\/\d+\.\d/.test(value)) readLater(reader, value, field)
  }
}

/** A row begins with its time or a number, quoted or not; behind a header its cells are quoted, very many, or bare addresses. */
const rowOf = (whole: string, body: string): { readonly text: string; readonly separator: string } | undefined => {
  const quoted = body.includes('","') ? /^[^"]{0,80}("[^"]{0,256}","[^"]{0,256}",".*)$/.exec(body)?.[1] : undefined
  const text = /^["'\d]/.test(whole) ? whole : (quoted ?? body)
  for (const separator of [',', '|'])
    if (hasMany(text, separator, text === body && text !== whole ? (many[separator] ?? 0) : fewestCells - 1))
      return { text, separator }
  const bare = separators.find((sign) => hasMany(body, sign, fewestCells - 1) && holdsAddressCell(body, sign))
  return bare === undefined ? undefined : { text: body, separator: bare }
}

const hasMany = (text: string, sign: string, count: number): boolean => {
  let at = text.indexOf(sign)
  for (let seen = 1; at >= 0 && seen < count; seen++) at = text.indexOf(sign, at + 1)
  return at >= 0
}

/** Colons stand in times and before ports too: a row of them has no blanks. */
const holdsAddressCell = (text: string, sign: string): boolean =>
  !(sign === ':' && text.includes(' ')) &&
  text
    .split(sign, maxCells)
    .slice(1, -1)
    .some((cell) => parseAddress(cell.trim().replace(/^"|"$/g, '')))

type Row = {
  readonly cells: readonly string[]
  readonly addresses: readonly number[]
  /** The ports that stand behind an address in its own cell. */
  readonly ports: ReadonlyMap<number, number>
}

/** What may stand between two endpoints: ports, `80/tcp`, a protocol, a hardware address, nothing however it is written. */
const portOrMac =
  /^(?:\d{0,5}|n\/a|-|\*|\(?null\)?|none|any|unknown|\d{1,5}\/[a-z]{2,5}\d?|tcp|udp|icmp|(?:[\da-f]{2}[:-]){5}[\da-f]{2})$/i
const isPort = (cells: readonly string[], at: number): boolean =>
  /^\d{1,5}(?:\/[a-z]{2,5}\d?)?$/i.test(cells[at]?.trim() ?? '')

/** `client, its name, server, its name` stand side by side too. */
const isBeside = ({ cells, addresses }: Row, from: number, to: number): boolean =>
  (to - from <= 3 && cells.slice(from + 1, to).every((cell) => portOrMac.test(cell.trim()))) ||
  (to - from === 2 && from === addresses[0] && /^[A-Za-z][\w.-]{1,252}$/.test(cells[from + 1] ?? ''))

/** Each endpoint and what it was translated to, with a port behind each, or two addresses and then two ports. */
const isTranslated = (row: Row, start: number): boolean => {
  const [first = -1, second = -1, third = -1, fourth = -1] = row.addresses.slice(start, start + 4)
  if (fourth < 0 || !isBeside(row, first, second) || !isBeside(row, third, fourth)) return false
  if (second === first + 2 && fourth === third + 2) return third > second + 2
  const isTight = second === first + 1 && third === second + 3 && fourth === third + 1
  return isTight && [second + 1, second + 2, fourth + 1, fourth + 2].every((at) => isPort(row.cells, at))
}

/** Above those that only a service has, the ports at which services listen all the same. */
const servicePorts = table([
  true,
  `1080 1194 1433 1434 1521 1701 1723 1812 1813 1883 1900 2049 2082 2083 2086 2087 2222 2375 2376 2379 2483 2525 3128 3268 3269 3306 3389 3478 4444
     4500 5000 5060 5061 5222 5353 5432 5601 5671 5672 5900 5985 5986 6379 6443 6514 6667 7001 8000 8008 8080 8081 8088 8443 8500 8834 8883 8888 9000
     9090 9092 9200 9300 9418 9443 10250 11211 27017`,
])
const isServicePort = (port: number): boolean => (port > 0 && port < 1024) || servicePorts.has(String(port))
/** The first is where the second came to: `198.51.100.1:143 192.0.2.1:65468`. */
const isSecondFirst = (first: number, second: number): boolean =>
  isServicePort(first) && second > 1023 && !isServicePort(second)

/** One role for each of the row's addresses. */
const rolesInRow = (row: Row): readonly Role[] => {
  const { cells, addresses, ports } = row
  const put = (start: number, given: string): readonly Role[] =>
    addresses.map((_, at) => (at < start ? 'other' : ((words(given)[at - start] as Role | undefined) ?? 'other')))
  const portAt = (at: number): number => ports.get(at) ?? (Number.parseInt(cells[at + 1] ?? '', 10) || 0)
  if (addresses.length === 1)
    return put(0, isServicePort(ports.get(addresses[0] ?? -1) ?? 0) ? 'destination' : 'source')
  const next = (index: number): number => addresses[index + 1] ?? Number.POSITIVE_INFINITY
  const doubled = addresses.findIndex((_, start) => isTranslated(row, start))
  if (doubled >= 0) return put(doubled, 'source translated destination translated')
  // Before the two endpoints may stand whoever tells of them: two with a port each come first.
  const flow = addresses.findIndex((at, index) => {
    const to = next(index)
    return to - at >= 2 && isPort(cells, at + 1) && isPort(cells, to + 1) && isBeside(row, at, to)
  })
  const start = flow < 0 ? addresses.findIndex((at, index) => isBeside(row, at, next(index))) : flow
  if (start < 0) return put(0, 'other')
  const [first = -1, second = -1, third = -1] = addresses.slice(start)
  // The client inside and as it is seen from outside, then where it went; a resolver's log has no third.
  if (second === first + 1 && third === second + 1) return put(start, 'source translated destination')
  if (second === first + 1 && /^\d+ \([A-Z]+\d*\)$/.test(cells[second + 2] ?? ''))
    return put(start, 'source translated')
  // Of a request the server may be told first; of a packet the one that sent it always is.
  const isRequest = cells.some(
    (cell) => cell.includes('://') || /^(?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,24}$/i.test(cell.trim()),
  )
  const isTurned =
    (flow < 0 || isRequest) &&
    isSecondFirst(
      flow < 0 ? (ports.get(first) ?? 0) : portAt(first),
      flow < 0 ? (ports.get(second) ?? 0) : portAt(second),
    )
  return put(start, isTurned ? 'destination source' : 'source destination')
}
