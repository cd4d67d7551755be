// Reads rows whose columns nobody names: which cells stand side by side tells the endpoints, a cell that is a verb the action.
import { parseAddress } from '../../domain/address.js'
import type { Role } from '../../domain/sighting.js'
import { splitCsv } from '../../domain/split-csv.js'
import { pairsOf } from './pairs.js'
import { readLater, type Reader } from './reader.js'
import { readHost, readUrl } from './value.js'

const maxCells = 256
const fewestSigns = 6

/** Only what can be nothing else: a cell may be a name of somebody's own. */
const verdict =
  /^(?:allow(?:ed)?|accept(?:ed)?|permit(?:ted)?|pass(?:ed)?|block(?:ed)?|den(?:y|ied)|drop(?:ped)?|reject(?:ed)?|(?:allow|permitt|block|deni|dropp|reject)ed by [\w .-]{1,40})$/i
/** protocol, in or out, allowed or denied: flow records of cloud networks. */
const flowAction = /,(?:[TU]|\d{1,3}),[IO],([AD])(?:,|$)/
/** A cell of several words tells what happened: `password authentication failed for user "alice"`. */
const sentence = /^[A-Za-z][a-z]{1,30}(?: [a-z]{2,30}){2}/
const endpoint = /^\[?(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f:]{2,45}\]):\d{1,5}$/i

export const readRow = (reader: Reader, whole: string, body: string, field: string): boolean => {
  const row = rowOf(whole, body)
  if (row === undefined) return false
  const { text, separator } = row
  const cells = splitCsv(text, separator, maxCells).cells.map((cell) => cell.trim())
  // Pairs in a cell or two are what that cell says; pairs all over, or cells that name themselves, make it a line of pairs.
  if (cells.length <= fewestSigns || cells.filter((cell) => /^[A-Za-z_][\w -]{0,59}[:=]/.test(cell)).length > 2)
    return false
  if (text.includes('=') && pairsOf(text).length > Math.max(2, cells.length / 6)) return false
  // Words before the first sign say what happened: `Info fw1 Block: FWD|TCP|…`, `[fw4_allow] 2026-11-15 …`.
  if (separator === '|' || /^[[A-Za-z]/.test(cells[0] ?? '')) reader.action.seeText(cells[0] ?? '')
  const flown = separator === ',' ? flowAction.exec(text)?.[1] : undefined
  if (flown !== undefined) reader.action.see('action', 'cell', flown, 'row:flow')
  const addresses: number[] = []
  cells.forEach((cell, at) => {
    if (cell.length < 3) return
    if (parseAddress(cell) !== undefined || (cell.length < 64 && endpoint.test(cell))) addresses.push(at)
    else readCell(reader, cell, field)
  })
  const roles = rolesInRow(cells, addresses)
  addresses.forEach((at, index) => {
    const role = roles[index] ?? 'other'
    readHost(reader.findings, cells[at] ?? '', field, role, 'row')
    if (isPort(cells[at + 1])) reader.findings.addPort(role, Number.parseInt(cells[at + 1] ?? '', 10))
  })
  return true
}

const readCell = (reader: Reader, value: string, field: string): void => {
  if (/^[a-z]{3,6}:\/\//i.test(value)) readUrl(reader.findings, value, field, 'row:url')
  else if (/^[\w-]{1,63}(?:\.[\w-]{1,63}){1,20}\.$/.test(value))
    readHost(reader.findings, value, field, 'query', 'row:query')
  else if (verdict.test(value)) reader.action.see('result', 'cell', /^\w+/.exec(value)?.[0] ?? '', 'row:verdict')
  else {
    if (sentence.test(value)) reader.action.seeText(value)
    if (value.includes('.') && !/^Mozilla\/|\/\d+\.\d/.test(value)) readLater(reader, value, field)
  }
}

/** A row begins with its time or a number, quoted or not; behind a header its cells are quoted, very many, or bare addresses. */
const rowOf = (whole: string, body: string): { readonly text: string; readonly separator: string } | undefined => {
  const quoted = body.includes('","') ? /^[^"]{0,80}("[^"]{0,256}","[^"]{0,256}",".*)$/.exec(body)?.[1] : undefined
  const text = /^["'\d]/.test(whole) ? whole : quoted
  for (const separator of [',', '|']) {
    if (text !== undefined && hasMany(text, separator, fewestSigns)) return { text, separator }
    if (hasMany(body, separator, separator === '|' ? 11 : 24)) return { text: body, separator }
  }
  const bare = [',', '|', ';', '`', '^', '~', ':'].find(
    (sign) => hasMany(body, sign, fewestSigns) && holdsAddressCell(body, sign),
  )
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

/** What may stand between two endpoints: ports, `80/tcp`, a protocol, a hardware address, nothing however it is written. */
const between =
  /^(?:\d{0,5}|n\/a|-|\*|\(?null\)?|none|any|unknown|\d{1,5}\/[a-z]{2,5}\d?|tcp|udp|icmp|(?:[\da-f]{2}[:-]){5}[\da-f]{2})$/i
const isPort = (cell: string | undefined): boolean => /^\d{1,5}(?:\/[a-z]{2,5}\d?)?$/i.test(cell ?? '')

/** One role for each of the row's addresses. */
const rolesInRow = (cells: readonly string[], addresses: readonly number[]): readonly Role[] => {
  if (addresses.length === 1) return ['source']
  const put = (start: number, ...roles: Role[]): readonly Role[] => [...new Array<Role>(start).fill('other'), ...roles]
  /** `client, its name, server, its name` stand side by side too. */
  const isBeside = (from = -1, to = -1): boolean =>
    (to > from && to - from <= 3 && cells.slice(from + 1, to).every((cell) => between.test(cell))) ||
    (to - from === 2 && from === addresses[0] && /^[A-Za-z][\w.-]{1,252}$/.test(cells[from + 1] ?? ''))
  const places = addresses.map((at, index) => ({ at, to: addresses[index + 1] ?? -1 }))
  // Each endpoint and what it was translated to, with a port behind each, or two addresses and then two ports.
  const doubled = places.findIndex(({ at, to }, index) => {
    const [third = -1, fourth = -1] = addresses.slice(index + 2)
    if (fourth < 0 || !isBeside(at, to) || !isBeside(third, fourth) || to - at !== fourth - third) return false
    return to - at === 2 ? third > to + 2 : to - at === 1 && third === to + 3 && isPort(cells[fourth + 2])
  })
  if (doubled >= 0) return put(doubled, 'source', 'translated', 'destination', 'translated')
  // Before the two endpoints may stand whoever tells of them: two with a port each come first.
  const flow = places.findIndex(({ at, to }) => isPort(cells[at + 1]) && isPort(cells[to + 1]) && isBeside(at, to))
  const start = flow < 0 ? places.findIndex(({ at, to }) => isBeside(at, to)) : flow
  if (start < 0) return []
  // A resolver's log tells the client inside and as it is seen from outside.
  const isResolver = /^\d+ \([A-Z]+\d*\)$/.test(cells[(places[start]?.to ?? 0) + 2] ?? '')
  return put(start, 'source', isResolver ? 'translated' : 'destination')
}
