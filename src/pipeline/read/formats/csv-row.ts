// Reads comma-separated rows whose columns nobody names: what stands side by side tells the ends, a cell that is a verb the action.
import { parseAddress } from '../../../domain/address.js'
import { csv } from '../csv.js'
import { pairsOf } from '../pairs.js'
import { isSecondFirst, isServicePort } from '../ports.js'
import { readLater } from '../reader.js'
import { readUrl } from '../value.js'
import { place, type Format } from './format.js'

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
  /^(?:allow(?:ed)?|accept(?:ed)?|permit(?:ted)?|pass(?:ed)?|block(?:ed)?|den(?:y|ied)|drop(?:ped)?|reject(?:ed)?)$/i
const portBehind = /^\[?(?:\d{1,3}(?:\.\d{1,3}){3}|[\da-f:]{2,45}\]):(\d{1,5})$/i
const longestEnd = 64
const hostName = /^[A-Za-z][\w.-]{1,252}$/
const portOrMac = /^(?:\d{0,5}|(?:[\da-f]{2}[:-]){5}[\da-f]{2})$/i

export const readCsvRow: Format = (reader, line) => {
  // A row begins with its time or a number, quoted or not.
  const text = /^["'\d]/.test(line.whole)
    ? line.whole
    : line.body.includes('","')
      ? quotedRow.exec(line.body)?.[1]
      : hasMany(line.body, '|', manyBars) || hasMany(line.body, ',', manyCommas)
        ? line.body
        : undefined
  if (text === undefined) return false
  const separator = separatorOf(text)
  if (separator === undefined) return false
  const cells = csv(text, maxCells, separator)
  // Pairs in a cell or two are what that cell says; pairs all over make it a line of pairs.
  if (pairsOf(text).length > 2 && cells.filter((cell) => cell.includes('=')).length > cells.length / 6) return false
  // Cells that name themselves are pairs: `Action: Blocked, SrcIP: 192.0.2.1`.
  if (cells.length < fewestCells || cells.filter((cell) => /^\s*[A-Za-z_][\w -]{0,59}[:=]/.test(cell)).length > 2)
    return false
  // Words before the first sign say what happened: `Info fw1 Block: FWD|TCP|…`.
  if (separator === '|') reader.action.seeText(cells[0] ?? '')
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
    else if (verdict.test(text)) reader.action.see(3, 'cell', text)
    else if (text.includes('.') && !/^Mozilla\/|\/\d+\.\d/.test(text)) readLater(reader, text, line.field)
  })
  // `client, its name, server, its name` stand side by side too.
  const between = (from: number, to: number): boolean =>
    (to - from <= 3 && cells.slice(from + 1, to).every((cell) => portOrMac.test(cell.trim()))) ||
    (to - from === 2 && from === addresses[0] && hostName.test(cells[from + 1] ?? ''))
  // Before the two ends may stand whoever tells of them.
  const start = Math.max(
    0,
    addresses.findIndex((at, index) => between(at, addresses[index + 1] ?? Number.POSITIVE_INFINITY)),
  )
  const [first = -1, second = -1, third = -1] = addresses.slice(start)
  const isPair = second > 0 && between(first, second)
  // The client inside and as it is seen from outside, then where it went; a resolver's log has no third.
  const isSeenTwice =
    isPair && second === first + 1 && (third === second + 1 || /^\d+ \([A-Z]+\d*\)$/.test(cells[second + 2] ?? ''))
  const fourth = addresses[start + 3] ?? -1
  // Each end and what it was translated to, with the ports between: `192.0.2.1,1725,203.0.113.1,2383,untrust,198.51.100.1,80,…`.
  const isTranslated =
    isPair && second === first + 2 && third > second + 2 && fourth === third + 2 && between(third, fourth)
  if (isTranslated) {
    const roles = ['source', 'translated', 'destination', 'translated'] as const
    addresses.forEach((at, count) => place(reader, line, cells[at]?.trim(), roles[count - start] ?? 'other'))
    return true
  }
  const isTurned = isPair && !isSeenTwice && isSecondFirst(ports.get(first) ?? 0, ports.get(second) ?? 0)
  addresses.forEach((at, count) => {
    const index = count - start
    if (isTurned && index < 2 && index >= 0) {
      place(reader, line, cells[at]?.trim(), index === 0 ? 'destination' : 'source')
      return
    }
    if (addresses.length === 1 && isServicePort(ports.get(at) ?? 0)) {
      place(reader, line, cells[at]?.trim(), 'destination')
      return
    }
    const role =
      index === 0
        ? isPair || addresses.length === 1
          ? 'source'
          : 'other'
        : index === 1 && isPair
          ? isSeenTwice
            ? 'translated'
            : 'destination'
          : index === 2 && isSeenTwice && third === second + 1
            ? 'destination'
            : 'other'
    place(reader, line, cells[at]?.trim(), role)
  })
  return true
}

const hasMany = (text: string, sign: string, many: number): boolean => {
  let at = text.indexOf(sign)
  for (let count = 1; at >= 0 && count < many; count++) at = text.indexOf(sign, at + 1)
  return at >= 0
}

const separatorOf = (text: string): string | undefined =>
  [',', '|'].find((separator) => text.split(separator, fewestCells).length === fewestCells)
