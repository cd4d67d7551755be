// Reads Squid's access log, native or with columns of one's own: the words around its result code tell what is what.
import { readUrl } from '../value.js'
import { parseAddress } from '../../../domain/address.js'
import { readLater } from '../reader.js'
import { place, type Format } from './format.js'

const result = /^(?:TCP|UDP|NONE|TAG|ICP)(?:_[A-Z]{1,16}){0,4}\/\d{3}$/
const method = /^[A-Z][A-Z-]{2,16}$/
const hierarchy = /^(?:[A-Z]{1,20}_){0,5}[A-Z]{2,20}\/(\S{1,255})$/

export const readSquid: Format = (reader, line) => {
  if (!line.whole.includes('/')) return false
  if (!/\b(?:TCP|UDP|NONE|TAG|ICP)[A-Z_]{0,80}\/\d{3}\b/.test(line.whole)) return false
  const words = line.whole.split(/\s+/, 64)
  const at = words.findIndex((word) => result.test(word))
  if (at < 1) return false
  const client = words.slice(0, at).findLast((word) => parseAddress(word) !== undefined) ?? words[at - 1]
  place(reader, line, client, 'source')
  let url = -1
  for (let next = at + 1; next + 1 < words.length && url < 0; next++) if (method.test(words[next] ?? '')) url = next + 1
  if (url > 0) readUrl(words[url] ?? '', line.field, reader.sightings)
  for (const word of words.slice(Math.max(at, url) + 1)) {
    const peer = hierarchy.exec(word)?.[1]
    if (peer === undefined) continue
    place(reader, line, peer, 'destination')
    break
  }
  reader.action.see(
    1,
    'action',
    (words[at] ?? '').includes('DENIED') ? 'denied' : (words[at] ?? '').startsWith('TCP') ? 'allowed' : '',
  )
  // Columns of one's own may hold the referrer and the host; the user agent is no place for names.
  if (url > 0) readLater(reader, quotedHosts(line.whole), line.field)
  return true
}

const quotedHosts = (text: string): string =>
  (text.match(/"[^"\s]{4,255}"/g) ?? []).filter((part) => !/\/\d/.test(part) || part.includes('://')).join(' ')
