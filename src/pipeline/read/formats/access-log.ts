// Reads access logs of web servers and load balancers: common and combined format, with a virtual host or forwarded clients; HAProxy.
import { parseAddress } from '../../../domain/address.js'
import { isNameInText } from '../name-in-text.js'
import { readUrl } from '../value.js'
import { place, type Format, type Line } from './format.js'
import { readLater, type Reader } from '../reader.js'

const time = / ?\[\d{2}\/[A-Z][a-z]{2}\/\d{4}[: ]\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?: [+-]\d{4})?\]/
const request = /"(?:[A-Z][A-Z-]{2,16} )?([^"\s]{1,4096})(?: HTTP\/[\d.]{1,4})?"/
const whole = /"[A-Z][A-Z-]{2,16} ([^"\s]{1,4096}) HTTP\/[\d.]{1,4}"/

export const readAccessLog: Format = (reader, line) => {
  if (!line.body.includes('[')) return false
  const when = time.exec(line.body)
  if (!when || when.index > 1000) return false
  const before = line.body.slice(0, when.index)
  // `time=[…] src=…`: the time of a line of pairs.
  if (before.endsWith('=')) return false
  const after = line.body.slice(when.index + when[0].length)
  const quoted = (before === '' ? whole.exec(after) : null) ?? request.exec(after)
  if (!quoted && !/^\S+:\d{1,5}$/.test(before.trim())) return false
  readClients(reader, line, before)
  if (quoted && !before.split(/[\s,]+/, 32).some(isEnd)) readEnds(reader, line, after.slice(0, quoted.index))
  // HAProxy tells where a connection came in when no request came: `frontend/198.51.100.1:443: Timeout …`.
  if (!quoted) {
    place(reader, line, /^ \S{1,128}\/(\S{3,60}?:\d{1,5}):? /.exec(after)?.[1], 'destination')
    readLater(reader, after.slice(0, 600), line.field)
  }
  if (quoted) {
    readUrl(quoted[1] ?? '', line.field, reader.sightings)
    if (before !== '' && quoted.index > 8) readCaught(reader, line, after.slice(0, Math.min(quoted.index, 1000)))
    readTail(reader, line, after.slice(quoted.index + quoted[0].length))
  }
  return true
}

const isEnd = (word: string): boolean => /^["([]{0,2}(?:\d{1,3}\.){3}\d|:[\da-f]{0,4}:/i.test(word)

const namedHost = /^[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}(?::\d{1,5})?$/

/** HAProxy writes what it caught of the headers between the two: `backend/server … {www.example.com|} "GET / HTTP/1.1"`. */
const readCaught = (reader: Reader, line: Line, between: string): void => {
  for (const word of between.split(/[\s{}|]+/, 64))
    if (namedHost.test(word) && isNameInText(word.toLowerCase())) place(reader, line, word, 'url')
}

/** `client ident user`, behind forwarded clients and a virtual host: `www.example.com:443 192.0.2.1, 10.0.0.1 - alice`. */
const readClients = (reader: Reader, line: Line, before: string): void => {
  const words = before.split(/[\s,]+/, 32)
  // A server's own address stands before a list of clients: `$host $http_x_forwarded_for $remote_addr`.
  const isHostFirst =
    (/^\S+[^,\s] \S+, \S+ \S+/.test(before) && parseAddress(words[0] ?? '') !== undefined) ||
    (/^\[?[\d.:a-fA-F]+\]?:\d{1,5} /.test(before) && parseAddress(words[1] ?? '') !== undefined)
  words.forEach((word, index) => {
    if (word.length < 3 || word === '-') return
    const bare = word.replace(/^["[(]+|["\])]+$/g, '')
    if (index === 0 && isHostFirst) place(reader, line, bare, 'destination')
    else if (/^[\d.]+(?::\d+)?$|:.*:|^\[/.test(word)) place(reader, line, word.replace(/^["(]+|[")]+$/g, ''), 'source')
    // `192.0.2.1:4711 www.example.com:80 - -`
    else if (index === 1 && words.length > 3 && namedHost.test(bare)) place(reader, line, bare, 'url')
    else if (index === 0 || bare.includes('@'))
      place(reader, line, bare, bare.includes('@') ? 'mail' : before.match(/\d+\.\d+\.\d+\.\d+/) ? 'url' : 'source')
  })
}

/** A gateway begins with the time, and a store with whose it is: `[time] "user" client server status "request"`. */
const readEnds = (reader: Reader, line: Line, between: string): void => {
  const hosts = between.split(/\s+/, 8).filter((word) => parseAddress(word) !== undefined)
  place(reader, line, hosts[0], 'source')
  place(reader, line, hosts[1], 'destination')
}

const upstream = / ((?:\d{1,3}\.){3}\d{1,3}:\d{1,5}|\[[\da-fA-F:.]{3,45}\]:\d{1,5})(?=[ ,]|$)/

/** `status bytes "referrer" "agent" "forwarded for" "host"`: all but the agent. */
const readTail = (reader: Reader, line: Line, tail: string): void => {
  // An address that is not quoted was put there by hand, and nothing tells whose it is: `200 512 192.0.2.1 "-"`.
  const first = tail.indexOf('"')
  for (const word of tail.slice(0, first < 0 ? 200 : Math.min(first, 200)).split(' '))
    if (word.length > 6 && parseAddress(word) !== undefined) place(reader, line, word, 'other')
  // Behind the last quotation mark stands where the request was sent on to: `"agent" 89 0.001 [service] [] 192.0.2.1:8080 59`.
  place(reader, line, upstream.exec(tail.slice(tail.lastIndexOf('"') + 1).slice(0, 400))?.[1], 'destination')
  const quoted = tail.match(/"[^"]{0,2048}"/g) ?? []
  quoted.slice(0, 8).forEach((part, index) => {
    const value = part.slice(1, -1)
    if (value.length < 4) return
    if (/^[a-z]{3,6}:\/\//.test(value)) readUrl(value, line.field, reader.sightings)
    else if (index !== 1 && !/\s\S*\//.test(value) && /^[\da-f.:,\s]+$/i.test(value))
      place(reader, line, value, 'source')
    else if (index > 1 && /^[\w.-]{4,255}(?::\d+)?$/.test(value)) place(reader, line, value, 'url')
  })
}
