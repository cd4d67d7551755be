// Reads one line of text: takes off its syslog header and hands the rest to the first format that knows it.
import { parseAddress } from '../../domain/address.js'
import { parseHostname } from '../../domain/hostname.js'
import { actionRank } from './action-fields.js'
import { readCef } from './cef.js'
import { formats } from './formats/index.js'
import { readMapped } from './mapped.js'
import type { Places } from './places.js'
import { colonPairsOf, pairsOf, remainder } from './pairs.js'
import { readLater, readPair, type Reader } from './reader.js'
import { readSyslog } from './syslog.js'
import { readTree } from './tree.js'
import { readXml } from './xml.js'

const maxLevel = 3
/** `192.0.2.1-1`: which of the stacked units it was. */
const unitBehind = /-\d{1,3}$/
const joinedVerb = /^[A-Z][a-z]{1,20}[A-Z][a-z]{1,20}(?= )/
/** `[junos@2636.1.1.1.2.40 …]`: who gave the element its name is nobody in the event. */
const elementId = /\[[\w.-]{1,64}@[\d.]{1,64}(?=[ \]])/g

export const readLine = (reader: Reader, places: Places, text: string, field: string, level: number): void => {
  if (level > maxLevel) {
    reader.sightings.markTruncated()
    return
  }
  if (text.length < 4) return
  readMapped(text, field, reader.sightings)
  const { host, address: sender, program, id, structured, body } = readSyslog(text)
  if (id !== undefined) reader.action.seeText(id.replaceAll('_', ' '))
  if (host !== undefined) {
    const address = parseAddress(host) ?? parseAddress(host.replace(unitBehind, ''))
    const name = address === undefined && host.includes('.') ? parseHostname(host) : undefined
    if (address !== undefined) reader.sightings.add('ip', address, field, 'observer', 'field')
    else if (name !== undefined) reader.sightings.add('domain', name, field, 'observer', 'text')
  }
  // `wordpress(www.example.com)[4711]: …`
  if (program?.endsWith(')') === true && program.includes('.'))
    readLater(reader, program.slice(program.indexOf('(') + 1, -1), field)
  if (sender !== undefined) place(reader, sender, field)
  if (structured !== undefined) readPairs(reader, structured.replace(elementId, '['), field, level)
  if (body === '') return
  if (readJson(reader, places, body, level)) return
  if (readCef(reader, text, field, level) || readXml(reader, body, level)) return
  const line = { body, program: program ?? '', field, whole: text }
  for (const format of formats) if (format(reader, line)) return
  if (readPairs(reader, body, field, level)) return
  // `AuthReject host1 [15/Nov/2026:…`
  const verb = joinedVerb.exec(body)?.[0]
  if (verb !== undefined) reader.action.see(5, 'verb', verb)
  reader.action.seeText(text)
  readLater(reader, body, field, true)
}

const place = (reader: Reader, sender: string, field: string): void => {
  const address = parseAddress(sender)
  if (address !== undefined) reader.sightings.add('ip', address, field, 'observer', 'field')
}

const readJson = (reader: Reader, places: Places, body: string, level: number): boolean => {
  const start = body.indexOf('{')
  // Behind a tag or a cookie of a collector, but not in the midst of a sentence.
  if (
    start < 0 ||
    (start > 120 && (start > 600 || body.charCodeAt(start - 1) !== 0x09)) ||
    body.charCodeAt(body.trimEnd().length - 1) !== 0x7d
  )
    return false
  if (body.charCodeAt(start + 1) !== 0x22 && !/^\{\s*"/.test(body.slice(start, start + 32))) return false
  let value: unknown
  try {
    value = JSON.parse(body.slice(start))
  } catch {
    return false
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  readTree(reader, places, value as Record<string, unknown>, level + 1)
  if (start > 0) reader.action.seeText(body.slice(0, start))
  return true
}

/** `MAC SRC=02-00-5e-00-53-01 IP SRC=192.0.2.1`: the same end, by another address. */
const isHardware = (value: string): boolean =>
  value.length === 17 && (value.charCodeAt(2) === 0x2d || value.charCodeAt(2) === 0x3a) && hardware.test(value)
const hardware = /^[\da-f]{2}(?:[-:][\da-f]{2}){5}$/i

/** Whether the line is made of pairs; what stands between them is text. */
const readPairs = (reader: Reader, body: string, field: string, level: number): boolean => {
  let pairs = pairsOf(body)
  const [only] = pairs
  // A pair that is the whole text is one; elsewhere it takes two to tell them from a sentence.
  const isWhole = pairs.length === 1 && only?.start === 0 && only.end === body.length
  if (pairs.length < 2 && !isWhole) {
    const colon = colonPairsOf(body)
    if (colon.length < 2 || colon.length < pairs.length) {
      // `… signature 4711 action=reset`
      if (only !== undefined && actionRank(only.key) === 1) reader.action.see(1, only.key, only.value)
      return false
    }
    pairs = colon
  } else if (body.includes(':"')) {
    const colon = colonPairsOf(body)
    if (colon.length > pairs.length) pairs = colon
  }
  const seen = new Set<string>()
  for (const { key, value } of pairs) {
    // Said again (the packet inside an ICMP error), it is not about the ends of this event.
    if (seen.has(key) && reader.ruleOf(key).reads !== 'event') {
      if (value.includes('.') || value.includes(':')) readLater(reader, value, key)
      continue
    }
    if (!isHardware(value)) seen.add(key)
    // `user=alice tty=ssh host=192.0.2.1`: from where a session was opened.
    if (key === 'host' && seen.has('tty')) readPair(reader, 'rhost', value, level)
    else readPair(reader, key, value, level)
  }
  const rest = remainder(body, pairs)
  reader.action.seeText(rest)
  readLater(reader, rest, field, true)
  return true
}
