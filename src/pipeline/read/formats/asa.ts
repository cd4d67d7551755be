// Reads the messages of Cisco ASA, FTD, PIX and FWSM: their words tell who is at which end.
import { parseAddress } from '../../../domain/address.js'
import { parseHostname } from '../../../domain/hostname.js'
import type { Role } from '../../../domain/sighting.js'
import { actionOfText } from '../action-text.js'
import { prepare } from '../text.js'
import { readHost, readMail, readUrl } from '../value.js'
import type { Reader } from '../reader.js'
import type { Format, Line } from './format.js'

const marker = /%(?:ASA|FTD|PIX|FWSM)-(?:[a-z_]{1,16}-)?\d-(\d{6}):? ?/
const maxWords = 400

export const readAsa: Format = (reader, line) => {
  if (!line.whole.includes('%')) return false
  const mark = marker.exec(line.whole.length > 400 ? line.whole.slice(0, 400) : line.whole)
  if (!mark || (mark[1] ?? '').startsWith('4300')) return false
  readSender(reader, line, line.whole.slice(0, mark.index))
  const message = prepare(line.whole.slice(mark.index + mark[0].length))
  reader.action.see(1, 'action', actionOf(mark[1] ?? '', message))
  readWords(reader, line, message)
  return true
}

const actionOf = (id: string, message: string): string => {
  if (
    /^(?:Built|User authentication succeeded|.{0,80} Accessed URL|AAA (?:user|retrieved|transaction).{0,40}(?:Successful|retrieved|policy|ACCEPT))/i.test(
      message,
    )
  )
    return 'allowed'
  if (/\b(?:login failed|Terminating the VPN connection|terminating connection|authentication failed)\b/i.test(message))
    return 'blocked'
  if (id === '313005' || id === '106001') return 'blocked'
  return actionOfText(message)
}

/** Who sent the line: an address or a full name before the marker. */
const readSender = (reader: Reader, line: Line, head: string): void => {
  for (const word of head.split(/[\s<>]+/, 24)) {
    const bare = word.replace(/^\[|[\]:]$/g, '')
    const address = parseAddress(bare)
    if (address !== undefined) reader.sightings.add('ip', address, line.field, 'observer', 'field')
  }
}

const clues: Readonly<Record<string, Role | 'foreign' | 'local' | 'first'>> = {
  from: 'source',
  src: 'source',
  source: 'source',
  ip: 'source',
  peer: 'source',
  client: 'source',
  host: 'source',
  remote: 'source',
  by: 'source',
  for: 'first',
  to: 'destination',
  dst: 'destination',
  dest: 'destination',
  destination: 'destination',
  server: 'destination',
  url: 'destination',
  '->': 'destination',
  faddr: 'foreign',
  laddr: 'local',
  gaddr: 'translated',
}

const readWords = (reader: Reader, line: Line, message: string): void => {
  const isOutbound = /^Built outbound /i.test(message)
  const isInbound = /^Built inbound /i.test(message)
  const isChannel = /^Pre-allocate /i.test(message)
  let clue: Role | 'foreign' | 'local' | 'first' | undefined
  let hosts = 0
  for (const word of message.split(/[\s,;]+/, maxWords)) {
    const known = clues[word.toLowerCase().replace(/[:=]$/, '')]
    if (known !== undefined && Object.hasOwn(clues, word.toLowerCase().replace(/[:=]$/, ''))) {
      clue = known
      continue
    }
    if (word.length < 3) continue
    const url = word.indexOf('://')
    if (url > 0) {
      readUrl(word.slice(Math.max(0, word.lastIndexOf(':', url - 1) + 1)), line.field, reader.sightings)
      addHost(reader, line, word.slice(0, Math.max(0, word.lastIndexOf(':', url - 1))), 'destination', true)
      continue
    }
    const isMapped = word.startsWith('(')
    const role: Role =
      isMapped && hosts > 0
        ? 'translated'
        : clue === undefined
          ? ((['source', 'destination'] as const)[hosts] ?? 'other')
          : clue === 'foreign'
            ? isInbound
              ? 'source'
              : 'destination'
            : clue === 'local'
              ? isInbound
                ? 'destination'
                : 'source'
              : clue === 'first'
                ? isOutbound || isChannel
                  ? 'destination'
                  : 'source'
                : clue === 'destination' && (isOutbound || isChannel)
                  ? 'source'
                  : clue
    if (!addHost(reader, line, isMapped ? word.slice(1) : word, role, clue !== undefined)) continue
    if (!isMapped) {
      hosts++
      clue = undefined
    }
  }
}

/** A name, an interface and a user together. */
const longest = 600

/** A colon or a dot, and behind it a digit at the end, or before a last colon. */
const endsAsAddress = (text: string): boolean => {
  const last = text.length - (text.endsWith(':') ? 2 : 1)
  const mark = text.search(/[:.]/)
  return mark >= 0 && mark < last && /\d/.test(text.charAt(last))
}

const withoutEnd = (text: string, characters: string): string => {
  let end = text.length
  while (end > 0 && characters.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

/** `inside:192.0.2.1/443(LOCAL\user)`, `inside/192.0.2.1(443)`, `<192.0.2.1>`, `Local:2001:db8::1:500`, `user@192.0.2.1`. */
const addHost = (reader: Reader, line: Line, word: string, role: Role, isExpected: boolean): boolean => {
  let text = withoutEnd(word.replace(/^[<["'(]+/, ''), ')>]"\'.')
  if (text.length > longest) return false
  const end = /^(Local|Remote):(.+):\d{1,5}$/.exec(text)
  if (end) {
    return readHost(end[2] ?? '', line.field, end[1] === 'Local' ? 'source' : 'destination', reader.sightings)
  }
  const open = text.indexOf('(')
  if (open > 0) text = withoutEnd(text.slice(0, open), ')>]')
  const at = text.lastIndexOf('@')
  if (at >= 0) {
    const address = parseAddress(text.slice(at + 1))
    if (address === undefined) readMail(text, line.field, reader.sightings)
    else reader.sightings.add('ip', address, line.field, role, 'field')
    return address !== undefined
  }
  const slash = text.indexOf('/')
  const hasPort = slash > 0 && /^\d{1,6}$/.test(text.slice(slash + 1))
  // A port or a service stands behind the address, an interface before it.
  if (slash > 0) text = hasPort || endsAsAddress(text.slice(0, slash)) ? text.slice(0, slash) : text.slice(slash + 1)
  text = text.replace(/:$/, '')
  for (let tries = 0; tries < 4; tries++) {
    const address = parseAddress(text)
    if (address !== undefined) {
      reader.sightings.add('ip', address, line.field, role, 'field')
      return true
    }
    const colon = text.indexOf(':')
    if (colon < 0) break
    const rest = text.slice(colon + 1)
    // A port, or the path of a URL, stands behind; an interface before.
    if (parseAddress(text.slice(0, colon)) !== undefined) text = text.slice(0, colon)
    else text = rest
  }
  const name = (isExpected || hasPort) && text.includes('.') ? parseHostname(text) : undefined
  if (name === undefined || !/[a-z]{2}$/.test(name)) return false
  reader.sightings.add('domain', name, line.field, role, hasPort ? 'field' : 'text')
  return true
}
