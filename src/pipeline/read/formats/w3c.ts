// Reads W3C extended logs by their usual columns: IIS, proxies of the Blue Coat kind, Windows Firewall.
import { parseAddress } from '../../../domain/address.js'
import { isNameInText } from '../name-in-text.js'
import { readUrl } from '../value.js'
import { readLater } from '../reader.js'
import { place, type Format } from './format.js'

const stamp = String.raw`^\d{4}-\d{2}-\d{2}[ \t]\d{2}:\d{2}:\d{2}[ \t]`
/** date time [site] [server] [s-ip] method stem query port user c-ip */
const iis = new RegExp(
  String.raw`${stamp}((?:[\w.:-]{1,64} ){0,3}?)([A-Z]{3,10}) (\S{1,2048}) (\S{1,4096}) (\d{1,5}) (\S{1,255}) ([\da-fA-F.:%]{3,60}) `,
)
/** date time location bytes c-ip method host */
const edge = new RegExp(String.raw`${stamp}[\w-]{2,16}\t\d{1,15}\t([\da-fA-F.:]{3,45})\t[A-Z]{3,10}\t(\S{1,255})\t`)
/** date time action protocol src-ip dst-ip */
const firewall = new RegExp(
  String.raw`${stamp}(ALLOW|DROP|OPEN|CLOSE|OPEN-INBOUND|INFO-EVENTS-LOST)[ \t](\S{1,8})[ \t](\S{2,45})[ \t](\S{2,45})[ \t]`,
)
/** date time c-ip c-port s-ip s-port, what went wrong before a site was found */
const ends = new RegExp(
  String.raw`${stamp}([\da-fA-F.:%]{3,60})[ \t]\d{1,5}[ \t]([\da-fA-F.:%]{3,60})[ \t]\d{1,5}[ \t]`,
)
/** date time c-ip user s-ip s-port command: FTP */
const ftp = new RegExp(
  String.raw`${stamp}([\da-fA-F.:%]{3,60}) (\S{1,255}) ([\da-fA-F.:%]{3,60}) \d{1,5} [A-Z][A-Za-z+]{2,40} `,
)
/** date time time-taken c-ip …, and somewhere scheme host port path */
const proxy = new RegExp(String.raw`${stamp}\d{1,9} ([\da-fA-F.:]{3,45}) `)
const proxied = / (?:https?|tcp|ssl|ftp|rtsp) ([\w.:[\]-]{3,255}) (\d{1,5}) /

/** The host that was asked for, among version, agent, cookie and status. */
const bareHost = /^[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}$/

const isDated = (text: string): boolean => text.charCodeAt(4) === 0x2d && text.charCodeAt(7) === 0x2d

export const readW3c: Format = (reader, line) => {
  const text = isDated(line.whole) ? line.whole : line.body
  if (!isDated(text)) return false
  const packet = firewall.exec(text)
  if (packet) {
    reader.action.see(1, 'action', packet[1] ?? '')
    place(reader, line, packet[3], 'source')
    place(reader, line, packet[4], 'destination')
    return true
  }
  const web = iis.exec(text)
  if (web) {
    for (const word of (web[1] ?? '').split(' '))
      if (parseAddress(word) !== undefined) place(reader, line, word, 'destination')
    place(reader, line, web[7], 'source')
    place(reader, line, web[6], 'mail')
    for (const word of text.slice(web[0].length).split(' ', 8)) {
      if (word.startsWith('http')) readUrl(word, line.field, reader.sightings)
      else if (bareHost.test(word) && isNameInText(word.toLowerCase())) place(reader, line, word, 'url')
    }
    // Behind a proxy, the client as it was forwarded is the column that people add.
    const last = text.slice(text.lastIndexOf(' ') + 1)
    if (parseAddress(last) !== undefined) place(reader, line, last, 'source')
    return true
  }
  const cached = edge.exec(text)
  if (cached) {
    place(reader, line, cached[1], 'source')
    place(reader, line, cached[2], 'url')
    for (const word of text.slice(cached[0].length).split('\t', 32)) {
      if (word.startsWith('http')) readUrl(word, line.field, reader.sightings)
      else if (bareHost.test(word) && isNameInText(word)) place(reader, line, word, 'url')
      else if (/^[\da-fA-F.:]{7,45}(?:, ?[\da-fA-F.:]{7,45})*$/.test(word)) place(reader, line, word, 'source')
    }
    return true
  }
  const error = ends.exec(text)
  if (error) {
    place(reader, line, error[1], 'source')
    place(reader, line, error[2], 'destination')
    reader.action.seeText(text.slice(error[0].length))
    return true
  }
  const file = ftp.exec(text)
  if (file) {
    place(reader, line, file[1], 'source')
    place(reader, line, file[2], 'mail')
    place(reader, line, file[3], 'destination')
    return true
  }
  const client = proxy.exec(text)
  const host = client ? proxied.exec(text) : null
  if (!client || !host) return false
  place(reader, line, client[1], 'source')
  place(reader, line, host[1], 'url')
  reader.action.see(1, 'action', /\bDENIED\b/.test(text) ? 'denied' : 'allowed')
  for (const quoted of text.match(/\bhttps?:\/\/[^\s"]{3,512}/g) ?? []) readUrl(quoted, line.field, reader.sightings)
  readLater(reader, text.slice(-60), line.field)
  return true
}
