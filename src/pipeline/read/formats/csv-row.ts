// Reads comma-separated rows whose columns nobody names: what stands side by side tells the ends, a cell that is a verb the action.
import { parseAddress } from '../../../domain/address.js'
import { csv } from '../csv.js'
import { pairsOf } from '../pairs.js'
import { readLater, type Reader } from '../reader.js'
import { readUrl } from '../value.js'
import { place, type Format, type Line } from './format.js'
import { rolesInRow } from './row-ends.js'

/** Behind a syslog header only where the cells are quoted; a level or a number may stand before them. */
const quotedRow = /^[^"]{0,80}("[^"]{0,256}","[^"]{0,256}",".*)$/
/** protocol, in or out, allowed or denied: flow records of cloud networks. */
const flow = /,(?:[TU]|\d{1,3}),[IO],([AD])(?:,|$)/
const maxCells = 256
const fewestCells = 7
/** So many bars are no accident, whatever the line begins with. */
const manyBars = 11
const manyCommas = 24
/** Only what can be nothing else: a cell may be a name of somebody's own. */
const verdict =
  /^(?:allow(?:ed)?|accept(?:ed)?|permit(?:ted)?|pass(?:ed)?|block(?:ed)?|den(?:y|ied)|drop(?:ped)?|reject(?:ed)?|(?:allow|permitt|block|deni|dropp|reject)ed by [\w .-]{1,40})$/i
const portBehind = /^\[?(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f:]{2,45}\]):(\d{1,5})$/i
const longestEnd = 64

export const readCsvRow: Format = (reader, line) => {
  // A row begins with its time or a number, quoted or not.
  const text = /^["'\d]/.test(line.whole)
    ? line.whole
    : line.body.includes('","')
      ? quotedRow.exec(line.body)?.[1]
      : hasMany(line.body, '|', manyBars) || hasMany(line.body, ',', manyCommas)
        ? line.body
        : undefined
  const separator = text === undefined ? undefined : separatorOf(text, common)
  if (text !== undefined && separator !== undefined) return readCells(reader, line, text, separator)
  // Whatever it begins with, and whatever separates it: cells that are addresses and nothing else make it a row.
  const other = all.find((sign) => hasMany(line.body, sign, fewestCells - 1) && holdsCell(line.body, sign))
  return other !== undefined && readCells(reader, line, line.body, other)
}

const readCells = (reader: Reader, line: Line, text: string, separator: string): boolean => {
  const cells = csv(text, maxCells, separator)
  // Pairs in a cell or two are what that cell says; pairs all over make it a line of pairs.
  if (
    pairsOf(text).length > 2 &&
    (cells.filter((cell) => cell.includes('=')).length > cells.length / 6 ||
      cells.some((cell) => blankPairs.test(cell)))
  )
    return false
  // Cells that name themselves are pairs: `Action: Blocked, SrcIP: 192.0.2.1`.
  if (cells.length < fewestCells || cells.filter((cell) => /^\s*[A-Za-z_][\w -]{0,59}[:=]/.test(cell)).length > 2)
    return false
  // Words before the first sign say what happened: `Info fw1 Block: FWD|TCP|…`, `[fw4_allow] 2026-11-15 …`.
  if (separator === '|' || /^[[A-Za-z]/.test(cells[0] ?? '')) reader.action.seeText(cells[0] ?? '')
  const flown = separator === ',' ? flow.exec(text) : null
  if (flown) reader.action.see(1, 'cell', flown[1] ?? '')
  const addresses: number[] = []
  const ports = new Map<number, number>()
  cells.forEach((cell, at) => {
    const text = cell.trim()
    if (text.length < 3) return
    const port = text.length < longestEnd ? portBehind.exec(text)?.[1] : undefined
    if (port !== undefined) ports.set(at, Number(port))
    if (port !== undefined || parseAddress(text) !== undefined) addresses.push(at)
    else if (/^[a-z]{3,6}:\/\//i.test(text)) readUrl(text, line.field, reader.sightings)
    else if (/^[\w-]{1,63}(?:\.[\w-]{1,63}){1,20}\.$/.test(text)) place(reader, line, text, 'query')
    else if (verdict.test(text)) reader.action.see(3, 'cell', /^\w+/.exec(text)?.[0])
    else if (sentence.test(text)) {
      reader.action.seeText(text)
      if (text.includes('.')) readLater(reader, text, line.field)
    } else if (text.includes('.') && !/^Mozilla\/|\/\d+\.\d/.test(text)) readLater(reader, text, line.field)
  })
  const roles = rolesInRow({ cells, addresses, ports })
  addresses.forEach((at, index) => place(reader, line, cells[at]?.trim(), roles[index] ?? 'other'))
  return true
}

/** A cell of several words tells what happened: `password authentication failed for user "alice"`. */
const sentence = /^[A-Za-z][a-z]{1,30}(?: [a-z]{2,30}){2}/

/** `suser=alice shost=192.0.2.1`: pairs with a blank between them, whatever stands before the first. */
const blankPairs = / [\w.-]{1,40}=[^\s=]{0,200} [\w.-]{1,40}=/

const hasMany = (text: string, sign: string, many: number): boolean => {
  let at = text.indexOf(sign)
  for (let count = 1; at >= 0 && count < many; count++) at = text.indexOf(sign, at + 1)
  return at >= 0
}

const common: readonly string[] = [',', '|']
const all: readonly string[] = [',', '|', ';', '`', '^', '~', ':']
const separatorOf = (text: string, signs: readonly string[]): string | undefined =>
  signs.find((sign) => hasMany(text, sign, fewestCells - 1))

/** Some address has the sign on both of its sides. Colons stand in times and before ports too: a row of them has no blanks. */
const holdsCell = (text: string, sign: string): boolean => {
  if (sign === ':' && text.includes(' ')) return false
  const cell = bareCell.get(sign)
  return cell !== undefined && cell.test(text)
}
const bareCell: ReadonlyMap<string, RegExp> = new Map(
  all.map((sign): [string, RegExp] => {
    const edge = sign === '|' || sign === '^' ? `\\${sign}` : sign
    return [
      sign,
      new RegExp(`${edge} ?"?(?:\\d{1,3}(?:\\.\\d{1,3}){3}|[\\da-fA-F]{1,4}:[\\da-fA-F:]{2,39})"? ?${edge}`),
    ]
  }),
)
